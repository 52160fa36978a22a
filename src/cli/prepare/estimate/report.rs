//! Output of `meshkv estimate` in words.

use crate::cli::output::table;
use crate::cli::prepare::estimate::suggest::{Found, Tried};
use crate::cli::prepare::estimate::timing;
use crate::design::{Design, Resources, HBM_MHZ};
use crate::synth::{self, Boundary, Clock, Costs, Estimate, Shell, Timing, Yosys};

/// Figures of the paper for its 8 x 8 fabric on the U280, in the order of [`Resources::NAMES`].
const PAPER: [Option<u64>; 6] = [Some(613_000), None, Some(820_000), Some(768), Some(512), Some(5_760)];

/// Labels of resources.
const WRITTEN: [&str; 6] = ["LUT", "of it memory", "FF", "BRAM36", "URAM", "DSP"];

/// The paper's figures, if the design is like the paper's.
pub(super) fn paper(design: &Design) -> [Option<u64>; 6] {
    let same = (design.mesh.cols(), design.mesh.rows(), design.flit.data_width) == (8, 8, 512);
    if same {
        PAPER
    } else {
        [None; 6]
    }
}

/// Rounds to hundredths: an estimate is no more precise.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// The clocks: name, period. That of HBM is fixed, and only converters have it.
pub(super) fn clocks(design: &Design) -> Vec<(&'static str, Clock, f64)> {
    let clock = &design.clock;
    let mut all = vec![("noc", Clock::Noc, clock.noc_mhz), ("pe", Clock::Pe, clock.pe_mhz)];
    all.extend(design.hbm_ratio().map(|_| ("hbm", Clock::Hbm, HBM_MHZ)));
    all.into_iter().map(|(name, clock, mhz)| (name, clock, 1000.0 / mhz)).collect()
}

/// The lower bound of the whole mesh.
pub(super) fn bound(design: &Design) -> Resources {
    synth::bound_of_tile(design).times(design.mesh.tiles() as u64)
}

pub(super) fn prose(
    design: &Design,
    estimate: &Estimate,
    timing: &Timing,
    yosys: &Yosys,
    found: &Found,
) -> anyhow::Result<String> {
    let mut out = format!(
        "{}: {}\n{} x {} tiles, {}-bit flits, on the {}; an estimate by Yosys {}, not placed or routed\n\n",
        design.name,
        verdict(design, estimate, timing),
        design.mesh.cols(),
        design.mesh.rows(),
        design.flit.data_width,
        design.fpga().name,
        yosys.version()
    );
    out += &table::columns(&totals(design, estimate));
    out += &format!("\nBy region, of what is there{}:\n", shell(estimate));
    out += &table::columns(&regions(estimate));
    out += &boundaries(estimate);
    out += "\nPart by part:\n";
    out += &parts(estimate);
    out += "\nNo tile of this structure can take less than:\n";
    let bounds = synth::lower_bounds(design).into_iter().filter(|b| b.tile > 0);
    out += &table::columns(
        &bounds
            .map(|b| {
                vec![
                    WRITTEN[b.resource].to_owned(),
                    b.tile.to_string(),
                    b.what.to_owned(),
                    format!("= {}", b.formula),
                ]
            })
            .collect::<Vec<_>>(),
    );
    out += &timing::prose(&clocks(design), estimate.demand, timing);
    out += &match found.largest {
        Some(m) => format!(
            "\nLargest mesh of such tiles that fits: {} x {}, {} tiles (scaled)\n",
            m.cols(),
            m.rows(),
            m.tiles()
        ),
        None => "\nNot even 2 x 2 such tiles fit\n".to_owned(),
    };
    if let Some((m, ports)) = found.most_ports {
        let (cols, rows) = (m.cols(), m.rows());
        out += &format!("Of those that fit, {cols} x {rows} has the most memory ports: {ports}\n");
    }
    if estimate.fits() {
        let (slr, resource, share) = estimate.fullest();
        let limit = percent(estimate.limits.share);
        out += &format!(
            "It fits: at most {} ({} of SLR{slr}) where {limit} may be taken\n",
            percent(share),
            WRITTEN[resource]
        );
    }
    Ok(out)
}

fn shell(estimate: &Estimate) -> &'static str {
    match estimate.limits.shell {
        Shell::None => "",
        Shell::Vitis => " beside the Vitis shell",
    }
}

/// Whether the design fits, and which clocks it misses, in words.
pub(super) fn verdict(design: &Design, estimate: &Estimate, timing: &Timing) -> String {
    let fits = if estimate.fits() { "fits" } else { "does not fit" };
    let missed = missed(design, timing);
    match missed.is_empty() {
        true => format!("{fits}, and meets its clocks before placement"),
        false => format!("{fits}, and misses {}", missed.join(" and ")),
    }
}

/// The clocks whose paths are too long, with the period that they reach.
pub(super) fn missed(design: &Design, timing: &Timing) -> Vec<String> {
    let late = clocks(design).into_iter().filter_map(|(name, clock, wanted)| {
        let worst = timing::of(timing, clock).worst_ns;
        (worst > wanted).then(|| format!("clock {name} ({worst:.1} of {wanted:.1} ns)"))
    });
    late.collect()
}

/// Resources of the device that the design uses: names, then a line a resource.
pub(super) fn totals(design: &Design, estimate: &Estimate) -> Vec<Vec<String>> {
    let (used, fpga) = (estimate.total().values(), estimate.fpga.has.values());
    let (bound, paper) = (bound(design).values(), paper(design));
    let with_paper = paper.iter().any(Option::is_some);
    let mut heading = vec!["", "used", "device", "share", "lower bound", "times it"];
    if with_paper {
        heading.push("paper");
    }
    let mut rows = vec![heading.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for i in 0..used.len() {
        let times =
            if bound[i] == 0 { "-".to_owned() } else { format!("{:.1}", used[i] as f64 / bound[i] as f64) };
        let mut row = vec![
            WRITTEN[i].to_owned(),
            used[i].to_string(),
            fpga[i].to_string(),
            percent(used[i] as f64 / fpga[i] as f64),
            bound[i].to_string(),
            times,
        ];
        if with_paper {
            row.push(paper[i].map_or("-".to_owned(), |p| p.to_string()));
        }
        rows.push(row);
    }
    rows
}

/// Resources of each SLR that it uses: names, then a line an SLR.
pub(super) fn regions(estimate: &Estimate) -> Vec<Vec<String>> {
    let heading = ["", "rows"].into_iter().chain(WRITTEN).map(str::to_owned).collect();
    let slrs = (0..estimate.fpga.slrs.len()).map(|slr| {
        let rows = estimate.plan.rows_of(slr as u32);
        let (used, has) = (estimate.used(slr).values(), estimate.has(slr).values());
        let limit = estimate.limit(slr).values();
        let cell = |i: usize| {
            let mark = if used[i] > limit[i] { " !" } else { "" };
            format!("{} {}{mark}", used[i], percent(used[i] as f64 / has[i].max(1) as f64))
        };
        [format!("SLR{slr}"), rows.len().to_string()].into_iter().chain((0..used.len()).map(cell)).collect()
    });
    std::iter::once(heading).chain(slrs).collect()
}

/// Wires between regions, a line each boundary.
fn boundaries(estimate: &Estimate) -> String {
    let line = |b: &Boundary| {
        let mark = if b.is_over() { " !" } else { "" };
        let (upper, share) = (b.lower + 1, percent(b.share()));
        format!("Wires from SLR{} to SLR{upper} and back: {} of {}, {share}{mark}\n", b.lower, b.used, b.has)
    };
    estimate.boundaries().iter().map(line).collect()
}

fn parts(estimate: &Estimate) -> String {
    let heading = ["part", "times", "LUT", "of it memory", "FF", "BRAM36", "URAM", "DSP", "ns"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    let row = |name: &str, count: u64, resources: &Resources, ns: String| {
        let numbers = resources.values().map(|v| v.to_string());
        let mut row = vec![name.to_owned(), count.to_string()];
        row.extend(numbers);
        row.push(ns);
        row
    };
    for (part, Costs { area, period_ns, .. }) in &estimate.demand.parts {
        let count = estimate.count(part.scale);
        rows.push(row(part.name, count, &area.resources(), format!("{period_ns:.2}")));
    }
    let tiles = estimate.mesh.tiles() as u64;
    rows.insert(4, row("= tile", tiles, &estimate.demand.tile(), String::new()));
    table::columns(&rows)
}

/// Explains why a design does not fit, and lists changes that would.
pub(super) fn why_not(design: &Design, estimate: &Estimate, found: &Found) -> String {
    let limit = percent(estimate.limits.share);
    let mut out = format!("{} does not fit{}:", design.name, shell(estimate));
    for over in estimate.over() {
        out += &format!(
            "\n  SLR{}: {} {} are {} of {}; at most {} ({limit}) can be placed and routed",
            over.slr,
            over.used,
            if over.resource == 1 { "LUTs as memory" } else { WRITTEN[over.resource] },
            percent(over.share()),
            over.has,
            over.limit
        );
    }
    for b in estimate.boundaries().iter().filter(|b| b.is_over()) {
        out += &format!(
            "\n  SLR{} to SLR{}: {} wires are {} of {}; at most {} ({limit}) can be placed and routed",
            b.lower,
            b.lower + 1,
            b.used,
            percent(b.share()),
            b.has,
            b.limit
        );
    }
    if let Some(m) = found.largest {
        out += &format!(
            "\n  help: mesh.cols = {}, mesh.rows = {} fits, {} tiles (scaled from these parts)",
            m.cols(),
            m.rows(),
            m.tiles()
        );
    }
    if let Some((m, ports)) = found.most_ports.filter(|(m, _)| Some(*m) != found.largest) {
        let (cols, rows) = (m.cols(), m.rows());
        out += &format!(
            "\n  help: mesh.cols = {cols}, mesh.rows = {rows} fits and has the most memory ports, {ports}"
        );
    }
    for tried in &found.tried {
        out += &format!("\n  help: {}", tried_text(tried));
    }
    if !found.untried.is_empty() {
        let texts: Vec<_> = found.untried.iter().map(|change| change.text()).collect();
        out += &format!("\n  help: --suggest synthesises what may fit: {}", texts.join("; "));
    }
    out
}

fn tried_text(tried: &Tried) -> String {
    let (slr, resource, share) = tried.fullest;
    let full = format!("{} of SLR{slr} at {}", WRITTEN[resource], percent(share));
    let change = tried.change.text();
    match (tried.fits, tried.largest) {
        (true, _) => format!("{change} fits, {full}"),
        (false, Some(m)) => {
            format!(
                "{change} is not enough, {full}; with mesh.cols = {}, mesh.rows = {} it fits",
                m.cols(),
                m.rows()
            )
        }
        (false, None) => format!("{change} is not enough, {full}"),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
