//! Resources of fabrics in Yosys, compared with the device, the paper and the lower bound. Also the
//! largest mesh of such tiles that fits, at the paper's width and at the width for the card.

use super::area;
use super::figure::{Figure, Goal};
use super::program::REFERENCE;
use anyhow::Result;
use meshkv::design::{Design, Resources};
use meshkv::synth::{bound_of_tile, design_timing, shrink, Demand, Effort, Estimate, Limits, Timing};
use std::path::Path;

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
