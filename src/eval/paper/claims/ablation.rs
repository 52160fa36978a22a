//! Readings of what each mechanism is worth: Table VI and the text beside it, at 32 K and B = 8.

use super::hardware::number;
use super::readings::{view_of, Reading, Sides};
use crate::eval::paper::case::{Case, Model};
use crate::eval::paper::claim::View;
use crate::eval::paper::measured::Found;
use crate::eval::paper::result::intervals::{intervals, Interval};
use crate::eval::Spread;

/// What five runs gave of one kind.
type Figure = fn(&Interval) -> Spread;

const VARIANTS: [&str; 5] = ["no_bloom", "no_takv", "no_pad", "no_mare", "cent"];

pub(super) fn readings(found: &Found) -> Vec<Reading> {
    let meshkv = Case::of("meshkv").batch(8);
    let all = intervals(found);
    let of = |fabric: &str| all.iter().find(|interval| interval.fabric == fabric);
    let mut readings = Vec::new();
    for fabric in VARIANTS {
        let (case, interval) = (Case::of(fabric).batch(8), of(fabric));
        let (speed, flits) = (Sides::speed(case, meshkv), Sides::traffic(case, meshkv));
        let speed = views(interval, |of| of.throughput, speed.readings(found));
        readings.push((format!("ablation-{fabric}-throughput"), speed));
        readings.push((format!("ablation-{fabric}-traffic"), traffic_views(interval, flits.readings(found))));
    }
    for fabric in ["meshkv"].into_iter().chain(VARIANTS) {
        readings.extend(halves(fabric, of(fabric)));
    }
    let [of, base] = ["meshkv/mesh=16x4", "cent/mesh=16x4"].map(|fabric| Case::of(fabric).batch(8));
    readings.push(("mesh-16x4".to_owned(), Sides::speed(of, base).readings(found)));
    readings.push(("coalescing-12".to_owned(), coalescing(found)));
    readings
}

/// The memory of rows that draw nothing.
const AT_BEST: &str = "external memory answers in order and without gaps";

/// The mean of five seeds first, as the paper has the mean of five runs; then what single runs say. Where a mechanism
/// does nothing, single runs tell how tiles drift, and are left out.
fn views(interval: Option<&Interval>, figure: Figure, single: Vec<View>) -> Vec<View> {
    let Some(of) = interval else { return single };
    let spread = figure(of);
    let name = "head-tile on both sides, mean over seeds 1 to 5 of an unruly memory";
    let error = spread.half.unwrap_or(0.0) / spread.mean;
    let bound = |view: &View| (view.bound_by.clone(), view.over_bound);
    let (bound_by, over_bound) = single.first().map(bound).unwrap_or_default();
    let mean = View { error, bound_by, over_bound, ..number(name, spread.mean, &of.command) };
    let others = single.into_iter().filter(|_| of.fabric != "no_bloom");
    let assumed = |view: View| View { assumption: view.assumption.or(Some(AT_BEST)), ..view };
    [mean].into_iter().chain(others.map(assumed)).collect()
}

/// Traffic of layers in all columns, which single runs have and runs of seeds do not; a mechanism that does nothing is
/// compared in one column.
fn traffic_views(interval: Option<&Interval>, single: Vec<View>) -> Vec<View> {
    match interval.filter(|of| of.fabric == "no_bloom") {
        Some(_) => views(interval, |of| of.traffic, single),
        None => single,
    }
}

/// Half of the 95 % interval of five runs.
fn halves(fabric: &str, interval: Option<&Interval>) -> [Reading; 2] {
    let kinds: [(&str, Figure); 2] = [("throughput", |of| of.throughput), ("traffic", |of| of.traffic)];
    kinds.map(|(kind, spread)| {
        let name = "seeds 1 to 5 of an unruly memory, over the mean of meshkv";
        let view = |of: &Interval| number(name, spread(of).half.unwrap_or(0.0), &of.command);
        (format!("interval-{fabric}-{kind}"), interval.map(view).into_iter().collect())
    })
}

/// Fetches that join another within a window.
fn coalescing(found: &Found) -> Vec<View> {
    let view = |case: Case, assumption: Option<&'static str>| -> Option<View> {
        let name = format!("{}, {}, B = {}, head-tile", case.fabric, case.model.name(), case.batch);
        found.get(case).map(|of| View { name, assumption, ..view_of(of, 100.0 * of.merged) })
    };
    let gqa = Case::of("meshkv").model(Model::Mistral);
    let longer = "the window is 96 cycles, as long as tiles drift apart";
    let plain = view(gqa, None);
    let others = [
        view(Case::of("meshkv").batch(8), Some("eight streams share a prefix")),
        view(Case { fabric: "meshkv/window=96", ..gqa }, Some(longer)),
        view(
            Case { fabric: "meshkv/window=96", ..Case::of("meshkv").batch(8) },
            Some("eight streams share a prefix, and the window is 96 cycles"),
        ),
    ];
    plain.into_iter().flat_map(|plain| [Some(plain)].into_iter().chain(others.clone())).flatten().collect()
}
