//! Resources of fabrics in Yosys, compared with the device, the paper and the lower bound. Also the
//! largest mesh of such tiles that fits, at the paper's width and at the width for the card.

use super::area;
use super::figure::{Figure, Goal};
use super::program::REFERENCE;
use anyhow::Result;
use meshkv::design::{Design, Resources};
use meshkv::synth::{
    bound_of_tile, design_timing, shrink, Demand, Effort, Estimate, Limits, Shell, Timing, Yosys,
};
use std::path::Path;

/// Files for cards, the form that each is for, and whether it is also estimated without pages. All append.
const CARDS: [(&str, Shell, bool); 5] = [
    ("configs/u280_4x8.toml", Shell::None, true),
    ("configs/u280_4x8_b8.toml", Shell::None, true),
    ("configs/u280_shell.toml", Shell::Vitis, true),
    ("configs/u55c_4x8.toml", Shell::None, false),
    ("configs/u55c_4x8_fp8.toml", Shell::None, false),
];
/// Most LUTs that pages may add: 1 % of 730 858.
const PAGES_LUT: f64 = 7308.0;

pub fn measure() -> Result<Vec<Figure>> {
    let yosys = area::find()?;
    let mut figures = Vec::new();
    for path in [REFERENCE, "configs/u280_8x8.toml", "configs/u280_4x8.toml"] {
        let (design, _) = Design::load(Path::new(path))?;
        let demand = Demand::of(&design, &yosys, Effort::Synthesise, 2, &mut |_, _, _| ())?;
        let timing = design_timing(&design, &yosys, Effort::Synthesise, &mut |_| ())?;
        figures.extend(of_design(path, &design, &demand, &timing)?);
    }
    Ok(figures)
}

fn of_design(path: &str, design: &Design, demand: &Demand, timing: &Timing) -> Result<Vec<Figure>> {
    let (fpga, mesh, limits) = (design.fpga(), design.mesh, Limits::default());
    let estimate = Estimate::new(demand, mesh, fpga, limits);
    let bits = design.flit.data_width;
    let figure = |what: &str, value: String, goal: Goal| Figure {
        what: format!("{}x{}, {bits} bit: {what}", mesh.cols(), mesh.rows()),
        value,
        goal,
        command: format!("meshkv estimate {path}"),
    };
    let (used, has) = (estimate.total().values(), fpga.has.values());
    let bound = bound_of_tile(design).times(mesh.tiles() as u64).values();
    let mut figures: Vec<_> = (0..used.len())
        .map(|i| {
            let share = 100.0 * used[i] as f64 / has[i] as f64;
            let value = format!("{}, {share:.0} % of the device; lower bound {}", used[i], bound[i]);
            figure(Resources::NAMES[i], value, Goal::Stated)
        })
        .collect();
    let (slr, resource, share) = estimate.fullest();
    let full = format!("{} of SLR{slr} {:.0} %", Resources::NAMES[resource], 100.0 * share);
    figures.push(figure(
        "fits the device",
        full,
        Goal::Met(estimate.fits(), "<= 80 % of each SLR".to_owned()),
    ));
    let clock = &design.clock;
    for (name, paths, mhz) in [("noc", &timing.noc, clock.noc_mhz), ("pe", &timing.pe, clock.pe_mhz)] {
        let wanted = 1000.0 / mhz;
        figures.push(figure(
            &format!("worst path of clock {name}"),
            format!("{:.2} ns, at most {} levels", paths.worst_ns, paths.worst_levels),
            Goal::Met(paths.worst_ns <= wanted, format!("<= {wanted:.2} ns")),
        ));
    }
    let largest = shrink::shapes(demand, design.configuration(), limits).first().copied();
    let shape =
        largest.map_or("none".to_owned(), |m| format!("{} x {}, {} tiles", m.cols(), m.rows(), m.tiles()));
    figures.push(figure("largest mesh of such tiles that fits, scaled", shape, Goal::Stated));
    Ok(figures)
}

/// The files for cards with a cache in pages that grows, and what pages add to each.
pub fn of_cards() -> Result<Vec<Figure>> {
    let yosys = area::find()?;
    let mut figures = Vec::new();
    for (path, shell, both) in CARDS {
        let with = OnCard::of(path, true, shell, &yosys)?;
        let figure = |what: &str, value: String, goal: Goal| Figure {
            what: format!("`{path}`, `kv.append`, `kv.pages`: {what}"),
            value,
            goal,
            command: format!("meshkv estimate FILE, {path} with kv.pages = true"),
        };
        let form = if shell == Shell::Vitis { "beside the shell of Vitis" } else { "without a shell" };
        figures.push(figure(
            form,
            with.fullest.clone(),
            Goal::Met(with.fits, "<= 80 % of each SLR".to_owned()),
        ));
        let clocks = [(&with.timing.noc, with.clock.0), (&with.timing.pe, with.clock.1)]
            .map(|(paths, mhz)| (paths.worst_ns, 1000.0 / mhz));
        let [(noc, noc_most), (pe, pe_most)] = clocks;
        figures.push(figure(
            "worst paths of the clocks noc and pe",
            format!("{noc:.2} ns, {pe:.2} ns"),
            Goal::Met(noc <= noc_most && pe <= pe_most, format!("<= {noc_most:.2} ns, {pe_most:.2} ns")),
        ));
        let [lut, uram] = with.taken;
        let mut value = format!("{lut} LUT, {uram} URAM");
        let mut goal = Goal::Stated;
        if both {
            let without = OnCard::of(path, false, shell, &yosys)?.taken;
            let more = [lut - without[0], uram - without[1]];
            value += &format!(": {:+} and {:+} beside those without pages", more[0], more[1]);
            let met = more[0] as f64 <= PAGES_LUT && more[1] <= with.cols;
            goal = Goal::Met(met, format!("<= {PAGES_LUT:.0} LUT and a URAM a column more"));
        }
        figures.push(figure("taken", value, goal));
    }
    Ok(figures)
}

/// A file for a card, with pages or without.
struct OnCard {
    /// LUTs and UltraRAMs.
    taken: [i64; 2],
    fits: bool,
    /// The fullest region, its fullest resource, and the share that is taken.
    fullest: String,
    timing: Timing,
    clock: (f64, f64),
    cols: i64,
}

impl OnCard {
    fn of(path: &str, pages: bool, shell: Shell, yosys: &Yosys) -> Result<OnCard> {
        let mut config = Design::load(Path::new(path))?.0.configuration().clone();
        config.kv.pages = pages;
        let design = Design::from_config("card", &config)?;
        let demand = Demand::of(&design, yosys, Effort::Synthesise, 2, &mut |_, _, _| ())?;
        let limits = Limits { shell, ..Limits::default() };
        let estimate = Estimate::new(&demand, design.mesh, design.fpga(), limits);
        let (total, (slr, resource, share)) = (estimate.total(), estimate.fullest());
        Ok(OnCard {
            taken: [total.lut, total.uram].map(|count| count as i64),
            fits: estimate.fits(),
            fullest: format!("{} of SLR{slr} {:.1} %", Resources::NAMES[resource], 100.0 * share),
            timing: design_timing(&design, yosys, Effort::Synthesise, &mut |_| ())?,
            clock: (design.clock.noc_mhz, design.clock.pe_mhz),
            cols: design.mesh.cols() as i64,
        })
    }
}
