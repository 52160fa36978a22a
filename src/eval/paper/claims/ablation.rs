//! Claims on what each mechanism is worth: Table VI and the text beside it, at 32 K and B = 8.

use super::hardware::number;
use super::readings::{view_of, Sides};
use crate::eval::paper::case::{Case, Model};
use crate::eval::paper::claim::{Claim, View};
use crate::eval::paper::intervals::{intervals, Interval};
use crate::eval::paper::measured::Found;
use crate::eval::paper::verdict::Better;
use crate::eval::Spread;

/// Fabric, the paper's name, throughput and traffic over meshkv, and why.
type Variant = (&'static str, &'static str, f64, f64, &'static str);

const VARIANTS: [Variant; 5] = [
    (
        "no_bloom",
        "-bloom",
        0.82,
        1.38,
        "Requesters keep what they have asked for, so no fetch is sent twice and the filter removes nothing (chunks_trimmed is 0). It changes when homes answer, and so which fetches meet: single runs differ by several percent either way, five seeds do not.",
    ),
    (
        "no_takv",
        "-TaKV",
        0.88,
        1.22,
        "Round robin puts a layer in all columns: eight times the ports of the paper's placement, and no longer ways with fixed requesters.",
    ),
    (
        "no_pad",
        "-PaD",
        0.78,
        1.00,
        "Without overlap a chunk is asked for when the last has been used, so each waits for a round trip.",
    ),
    (
        "no_mare",
        "-MaRe",
        0.62,
        1.55,
        "Eight streams want each slice: unicast sends it eight times, from the same eight homes.",
    ),
    (
        "cent",
        "cent",
        0.53,
        2.38,
        "A hub has one injection port and sends each slice to each tile by itself.",
    ),
];

/// The claims.
pub(super) fn claims(found: &Found) -> Vec<Claim> {
    let mut claims = Vec::new();
    let meshkv = Case::of("meshkv").batch(8);
    let all = intervals(found);
    for (fabric, name, throughput, traffic, why) in VARIANTS {
        let of = Case::of(fabric).batch(8);
        let speed =
            Sides { of, base: meshkv, figure: |m| m.cycles, error: |m| m.error, inverse: true, flits: false };
        let flits = Sides {
            of,
            base: meshkv,
            figure: |m| m.traffic,
            error: |m| m.traffic_error,
            inverse: false,
            flits: false,
        };
        let interval = all.iter().find(|interval| interval.fabric == fabric);
        claims.push(Claim {
            id: format!("ablation-{fabric}-throughput"),
            place: "Table VI",
            what: format!("Throughput of {name} over meshkv, B = 8"),
            paper: throughput,
            unit: "",
            better: Better::Lower,
            views: views(interval, |of| of.throughput, speed.readings(found)),
            why: why.to_owned(),
        });
        claims.push(Claim {
            id: format!("ablation-{fabric}-traffic"),
            place: "Table VI",
            what: format!("Traffic of {name} over meshkv, B = 8"),
            paper: traffic,
            unit: "",
            better: if fabric == "no_pad" { Better::Same } else { Better::Higher },
            views: traffic_views(interval, flits.readings(found)),
            why: why.to_owned(),
        });
    }
    claims.extend(spreads(&all));
    claims.push(long_mesh(found));
    claims.extend(coalescing(found));
    claims
}

/// The memory of rows that draw nothing.
const AT_BEST: &str = "external memory answers in order and without gaps";

/// The mean of five seeds first, as the paper has the mean of five runs; then what single runs say. Where a mechanism
/// does nothing, single runs tell how tiles drift, and are left out.
fn views(interval: Option<&Interval>, figure: fn(&Interval) -> Spread, single: Vec<View>) -> Vec<View> {
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

/// Half of the 95 % interval of throughput and of traffic in the paper.
const SPREADS: [(&str, f64, f64); 6] = [
    ("meshkv", 0.018, 0.027),
    ("no_bloom", 0.023, 0.041),
    ("no_takv", 0.016, 0.029),
    ("no_pad", 0.025, 0.021),
    ("no_mare", 0.014, 0.044),
    ("cent", 0.012, 0.068),
];

const WHY_SPREAD: &str = "Drawn are the order and the gaps of a memory's answers, from five seeds; the paper does not say what differs between its five runs.";

/// Intervals of five runs.
fn spreads(all: &[Interval]) -> Vec<Claim> {
    let of = |(fabric, throughput, traffic): (&'static str, f64, f64)| {
        let interval = all.iter().find(|interval| interval.fabric == fabric);
        [("throughput", throughput), ("traffic", traffic)].map(|(kind, paper)| {
            let view = |of: &Interval| {
                let spread = if kind == "throughput" { of.throughput } else { of.traffic };
                let half = spread.half.unwrap_or(0.0);
                number("seeds 1 to 5 of an unruly memory, over the mean of meshkv", half, &of.command)
            };
            Claim {
                id: format!("interval-{fabric}-{kind}"),
                place: "Table VI",
                what: format!(
                    "Half of the 95 % interval of the {kind} of {fabric}, B = 8, over meshkv's mean"
                ),
                paper,
                unit: "",
                better: Better::Lower,
                views: interval.map(view).into_iter().collect(),
                why: WHY_SPREAD.to_owned(),
            }
        })
    };
    SPREADS.into_iter().flat_map(of).collect()
}

/// A mesh of 16 x 4.
fn long_mesh(found: &Found) -> Claim {
    let of = Case::of("meshkv/mesh=16x4").batch(8);
    let base = Case::of("cent/mesh=16x4").batch(8);
    let sides = Sides { of, base, figure: |m| m.cycles, error: |m| m.error, inverse: true, flits: false };
    Claim {
        id: "mesh-16x4".to_owned(),
        place: "Section IX-D",
        what: "Throughput of meshkv over cent on 16 x 4 tiles, B = 8".to_owned(),
        paper: 1.4,
        unit: "times",
        better: Better::Higher,
        views: sides.readings(found),
        why: "A layer in one column has four homes on 16 x 4 and eight on 8 x 8, so under row-aligned meshkv is half as fast there: the paper's direction. With a head on one tile it is twice as fast, since four rows put two streams of a head on one tile and a slice goes to four tiles instead of eight. Longer trees matter less than either.".to_owned(),
    }
}

/// Fetches that join another within a window.
fn coalescing(found: &Found) -> Vec<Claim> {
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
    let views = plain.into_iter().flat_map(|plain| [Some(plain)].into_iter().chain(others.clone())).flatten();
    vec![Claim {
        id: "coalescing-12".to_owned(),
        place: "Section IX-D",
        what: "Fetches that join another at the home within W_coal = 12 cycles".to_owned(),
        paper: 78.0,
        unit: "%",
        better: Better::Higher,
        views: views.collect(),
        why: "The share depends on how far tiles have drifted apart, which the paper does not say: four heads can merge three of four fetches at most, eight streams seven of eight.".to_owned(),
    }]
}
