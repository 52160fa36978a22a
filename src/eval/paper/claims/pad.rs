//! Readings of the array, its FIFO and its segments: Sections VII and IX-D.

use super::hardware::number;
use super::readings::{alone, Reading, Sides};
use crate::config::Mapping;
use crate::design::Design;
use crate::eval::paper::case::{Case, Model};
use crate::eval::paper::claim::View;
use crate::eval::paper::fabric::fabric;
use crate::eval::paper::measured::Found;
use crate::eval::paper::plan::SWAPS;

/// A key changed.
const CHANGED: [(&str, &str); 3] = [
    ("fifo-48", "meshkv/fifo=48"),
    ("segment-32", "meshkv/segment=32"),
    ("segment-128", "meshkv/segment=128"),
];

pub(super) fn readings(found: &Found) -> Vec<Reading> {
    let changed = |(name, fabric): (&str, &'static str)| {
        let sides = Sides::speed(Case::of(fabric).batch(8), Case::of("meshkv").batch(8));
        (name.to_owned(), sides.plain(found).into_iter().collect())
    };
    // Use of the array while its FIFO has something.
    let used = alone(found, Case::of("meshkv"), true, |m| 100.0 * m.accepted);
    let own = [("array-use", used), ("round-trip", round_trip()), ("swaps", swaps(found))];
    own.map(|(name, views)| (name.to_owned(), views)).into_iter().chain(CHANGED.map(changed)).collect()
}

/// The mean round trip of a fetch.
fn round_trip() -> Vec<View> {
    let mut config = fabric("meshkv", Model::Llama);
    let trip =
        |config: &_| Design::from_config("meshkv", config).map(|design| f64::from(design.round_trip()));
    let command = "meshkv check configs/meshkv.toml";
    let plain = trip(&config).ok().map(|cycles| number("mean distance, without load", cycles, command));
    config.floorplan.slr_registers = false;
    let near = trip(&config).ok().map(|cycles| View {
        assumption: Some("no registers stand between the dies of the U280 (floorplan.slr_registers = false)"),
        ..number("mean distance, without load, no registers between SLRs", cycles, command)
    });
    plain.into_iter().chain(near).collect()
}

/// What swaps of homes are worth where all attended segments are in one row.
fn swaps(found: &Found) -> Vec<View> {
    let [base, of] = SWAPS.map(|fabric| Case::of(fabric).skewed().mapped(Mapping::RowAligned));
    let views = Sides::speed(of, base).plain(found);
    views.map(|view| View { ours: 100.0 * (1.0 - view.ours), ..view }).into_iter().collect()
}
