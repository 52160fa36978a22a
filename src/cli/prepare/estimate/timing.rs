//! Paths of `meshkv estimate`, as JSON and in words.

use crate::cli::output::table;
use crate::emit::TILE;
use crate::synth::{Clock, ClockPaths, Demand, Net, Path, PathStep, Timing, REFERENCE, REFERENCE_VERSION};
use schemars::JsonSchema;
use serde::Serialize;

/// The paths of a clock.
pub(super) fn of(timing: &Timing, clock: Clock) -> &ClockPaths {
    match clock {
        Clock::Noc => &timing.noc,
        Clock::Pe => &timing.pe,
        Clock::Hbm => &timing.hbm,
    }
}

/// Paths of a design by static analysis; nets by their fan-out, without routing.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TimingOutput {
    /// Paths of the network's clock.
    noc: ClockPaths,
    /// Paths of the clock of the processing elements.
    pe: ClockPaths,
    /// Paths of the clock of HBM, which only converters have.
    hbm: ClockPaths,
    /// Modules of an old version by the same model.
    reference: Vec<ReferenceOutput>,
    /// Nets that drive the most pins, without clocks.
    nets: Vec<Net>,
}

/// A module of an old version.
#[derive(Debug, Serialize, JsonSchema)]
struct ReferenceOutput {
    /// Its name.
    module: &'static str,
    /// The version.
    version: &'static str,
    /// Its worst path in nanoseconds.
    ns: f64,
    /// The most levels of any path.
    levels: u32,
}

/// The paths as JSON has them, with delays in whole picoseconds.
pub(super) fn output(timing: &Timing) -> TimingOutput {
    let reference = REFERENCE.iter().map(|of| ReferenceOutput {
        module: of.module,
        version: REFERENCE_VERSION,
        ns: to_ps(of.ns),
        levels: of.levels,
    });
    TimingOutput {
        noc: clock(&timing.noc),
        pe: clock(&timing.pe),
        hbm: clock(&timing.hbm),
        reference: reference.collect(),
        nets: timing.nets.clone(),
    }
}

fn clock(paths: &ClockPaths) -> ClockPaths {
    let mut paths = paths.clone();
    paths.worst_ns = to_ps(paths.worst_ns);
    for path in &mut paths.paths {
        path.ns = to_ps(path.ns);
        for step in &mut path.steps {
            (step.net_ns, step.cell_ns) = (to_ps(step.net_ns), to_ps(step.cell_ns));
        }
    }
    paths
}

/// Rounds to picoseconds, in which the delays are given.
fn to_ps(ns: f64) -> f64 {
    (ns * 1000.0).round() / 1000.0
}

/// Periods of the clocks, the reference, then the worst paths of each clock with their steps.
pub(super) fn prose(clocks: &[(&'static str, Clock, f64)], demand: &Demand, timing: &Timing) -> String {
    let periods = clocks.iter().map(|(name, clock, wanted)| {
        let paths = of(timing, *clock);
        vec![
            (*name).to_owned(),
            format!("{:.2} ns", paths.worst_ns),
            format!("of {wanted:.2} ns"),
            if paths.worst_ns <= *wanted { "met" } else { "missed" }.to_owned(),
            format!("at most {} levels", paths.worst_levels),
        ]
    });
    let mut out = "\nClocks, by static analysis; nets by their fan-out:\n".to_owned();
    out += &table::columns(&periods.collect::<Vec<_>>());
    out += &format!("\nBy the same model, u280_8x8 of version {REFERENCE_VERSION}:\n");
    let part = |module: &str| demand.parts.iter().find(|(part, _)| part.module == module);
    let reference = REFERENCE.iter().map(|of| {
        // The home agent is no part by itself: the transport holds it.
        let now = part(of.module).or_else(|| part(TILE)).map_or_else(String::new, |(part, costs)| {
            format!("now {:.2} ns, {} levels, {}", costs.period_ns, costs.levels, part.name)
        });
        vec![of.module.to_owned(), format!("{:.2} ns", of.ns), format!("{} levels", of.levels), now]
    });
    out += &table::columns(&reference.collect::<Vec<_>>());
    out += "\nNets with the most pins, clocks apart:\n";
    let nets = timing.nets.iter().map(|of| vec![of.net.clone(), of.driver.clone(), of.fanout.to_string()]);
    out += &table::columns(&nets.collect::<Vec<_>>());
    for (name, clock, _) in clocks {
        out += &format!("\nWorst paths of clock {name}, with delay of net + cell:\n");
        for (number, path) in of(timing, *clock).paths.iter().enumerate() {
            out += &of_path(number + 1, path);
        }
    }
    out
}

fn of_path(number: usize, path: &Path) -> String {
    let head = format!("{number:>2}. {:.2} ns, {} levels", path.ns, path.levels);
    let steps: Vec<_> = path.steps.iter().map(of_step).collect();
    format!("{head}\n    from {}\n    to   {}\n{}", path.from, path.to, wrapped(&steps))
}

/// A step: the cell, its delays in picoseconds, and the net that it drives where that has a name.
fn of_step(step: &PathStep) -> String {
    let ps = |ns: f64| format!("{:.0}", ns * 1000.0);
    let name = step.net.rsplit('.').next().unwrap_or_default();
    let name = if name.is_empty() { String::new() } else { format!(" {name}") };
    format!("{}{name} {}+{}", step.cell, ps(step.net_ns), ps(step.cell_ns))
}

/// Steps in lines of at most 100 columns.
fn wrapped(steps: &[String]) -> String {
    const INDENT: &str = "        ";
    let (mut out, mut line) = (String::new(), String::new());
    for step in steps {
        if !line.is_empty() && INDENT.len() + line.len() + step.len() + 5 > 100 {
            out += &format!("{INDENT}{line} >\n");
            line.clear();
        }
        line += &if line.is_empty() { step.clone() } else { format!(" > {step}") };
    }
    out + &format!("{INDENT}{line}\n")
}
