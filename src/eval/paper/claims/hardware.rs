//! Readings of resources, and of the interval of five runs: Table III and Section VIII.

use super::readings::Reading;
use crate::eval::paper::case::Case;
use crate::eval::paper::claim::View;
use crate::eval::paper::measured::Found;
use crate::eval::paper::plan::{Extent, SEEDS};
use crate::eval::Spread;

/// Resources of the paper's fabric, 8 x 8 tiles with flits of 512 bits, by `meshkv estimate`.
#[derive(Debug, Clone, PartialEq)]
pub struct Resources {
    /// LUTs, flip-flops, block RAMs of 36 Kb, UltraRAMs, DSP slices.
    pub used: [f64; 5],
    /// The same of a U280.
    pub available: [f64; 5],
    /// Share of the LUTs in routers, filters and tag tables.
    pub router_share: f64,
    /// The command.
    pub command: String,
}

/// Resources in their order.
const TABLE: [&str; 5] = ["lut", "ff", "bram", "uram", "dsp"];

pub(super) fn number(name: &str, ours: f64, command: &str) -> View {
    View {
        name: name.to_owned(),
        assumption: None,
        ours,
        bound_by: String::new(),
        over_bound: 0.0,
        error: 0.0,
        command: command.to_owned(),
    }
}

pub(super) fn readings(found: &Found, resources: Option<&Resources>, extent: Extent) -> Vec<Reading> {
    let view = |ours: &dyn Fn(&Resources) -> f64| {
        resources.map(|r| number("meshkv, 8 x 8, 512 bits", ours(r), &r.command)).into_iter().collect()
    };
    let mut readings = vec![
        ("resources-router".to_owned(), view(&|r| 100.0 * r.router_share)),
        ("interval".to_owned(), spread(found, extent)),
    ];
    for (at, name) in TABLE.into_iter().enumerate() {
        readings.push((format!("resources-{name}"), view(&|r| r.used[at])));
        readings.push((format!("resources-{name}-share"), view(&|r| 100.0 * r.used[at] / r.available[at])));
    }
    readings
}

/// The interval of five runs.
fn spread(found: &Found, extent: Extent) -> Vec<View> {
    let runs: Vec<_> =
        SEEDS.iter().filter_map(|&seed| found.get(Case::of("meshkv").batch(8).unruly(seed))).collect();
    let spread = (runs.len() == SEEDS.len())
        .then(|| Spread::of(&runs.iter().map(|run| run.cycles).collect::<Vec<_>>()));
    let name = format!("meshkv, B = 8, seeds 1 to 5 of an unruly memory, {}", extent.name());
    let view =
        |spread: Spread| number(&name, 100.0 * spread.half.unwrap_or(0.0) / spread.mean, &runs[0].command);
    spread.map(view).into_iter().collect()
}
