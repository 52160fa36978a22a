//! Intervals of what is drawn: five seeds of a memory that answers out of order and with gaps.

use crate::eval::paper::case::Case;
use crate::eval::paper::measured::{Found, Measured};
use crate::eval::paper::plan::{ABLATED, SEEDS};
use crate::eval::Spread;

/// A fabric over the mean of `meshkv`, B = 8, a head on one tile.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::eval::paper) struct Interval {
    pub(in crate::eval::paper) fabric: &'static str,
    /// Inverse cycles.
    pub(in crate::eval::paper) throughput: Spread,
    /// Traversals.
    pub(in crate::eval::paper) traffic: Spread,
    /// The command of the first seed.
    pub(in crate::eval::paper) command: String,
}

/// The runs of a fabric, if all seeds are there.
fn runs<'f>(found: &'f Found, fabric: &'static str) -> Option<Vec<&'f Measured>> {
    SEEDS.iter().map(|&seed| found.get(Case::of(fabric).batch(8).unruly(seed))).collect()
}

/// The interval of each fabric of the ablation that has all its rows.
pub(in crate::eval::paper) fn intervals(found: &Found) -> Vec<Interval> {
    let Some(base) = runs(found, "meshkv") else { return Vec::new() };
    let mean =
        |figure: fn(&Measured) -> f64| Spread::of(&base.iter().map(|of| figure(of)).collect::<Vec<_>>()).mean;
    let (speed, traffic) = (mean(|of| 1.0 / of.cycles), mean(|of| of.traffic));
    let of = |fabric: &'static str| {
        let runs = runs(found, fabric)?;
        let spread = |figure: &dyn Fn(&Measured) -> f64| {
            Spread::of(&runs.iter().map(|of| figure(of)).collect::<Vec<_>>())
        };
        Some(Interval {
            fabric,
            throughput: spread(&|of| 1.0 / of.cycles / speed),
            traffic: spread(&|of| of.traffic / traffic),
            command: runs[0].command.clone(),
        })
    };
    ["meshkv"].into_iter().chain(ABLATED).filter_map(of).collect()
}
