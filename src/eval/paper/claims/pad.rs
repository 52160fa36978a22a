//! Claims on the array, its FIFO and its segments: Sections VII and IX-D.

use super::hardware::number;
use super::readings::{alone, Sides};
use crate::config::Mapping;
use crate::design::Design;
use crate::eval::paper::case::{Case, Model};
use crate::eval::paper::claim::{Claim, View};
use crate::eval::paper::fabric::fabric;
use crate::eval::paper::measured::Found;
use crate::eval::paper::plan::SWAPS;
use crate::eval::paper::verdict::Better;

const PAD: &str = "Section VII";
const SENSITIVITY: &str = "Section IX-D";

/// A key changed: id, fabric, what, what is better than the paper's 1, and why.
type Changed = (&'static str, &'static str, &'static str, Better, &'static str);

const CHANGED: [Changed; 3] = [
    (
        "fifo-48",
        "meshkv/fifo=48",
        "Throughput with F = 48 flits over F = 96, B = 8; 1 if 48 covers the round trip",
        Better::Higher,
        "A FIFO of 48 holds a round trip and the window, but not also the chunk that a home streams to another tile first.",
    ),
    (
        "segment-32",
        "meshkv/segment=32",
        "Throughput with P = 32 over P = 64, B = 8; at most 1 if 64 is best",
        Better::Lower,
        "A segment of 32 tokens has half the flits and the same fetch, job and rescaling.",
    ),
    (
        "segment-128",
        "meshkv/segment=128",
        "Throughput with P = 128 over P = 64, B = 8; at most 1 if 64 is best",
        Better::Lower,
        "A segment of 128 tokens halves the fetches and jobs, but a home holds half as many slices, so tiles that drift apart wait sooner.",
    ),
];

/// The claims.
pub(super) fn claims(found: &Found) -> Vec<Claim> {
    let mut claims = vec![accepted(found), round_trip()];
    claims.extend(CHANGED.map(|(id, name, what, better, why)| {
        let (of, base) = (Case::of(name).batch(8), Case::of("meshkv").batch(8));
        let sides = Sides { of, base, figure: |m| m.cycles, error: |m| m.error, inverse: true, flits: false };
        Claim {
            id: id.to_owned(),
            place: if id == "fifo-48" { PAD } else { SENSITIVITY },
            what: what.to_owned(),
            paper: 1.0,
            unit: "",
            better,
            views: sides.plain(found).into_iter().collect(),
            why: why.to_owned(),
        }
    }));
    claims.push(swaps(found));
    claims
}

/// Use of the array while its FIFO has something.
fn accepted(found: &Found) -> Claim {
    Claim {
        id: "array-use".to_owned(),
        place: PAD,
        what: "Use of the MACs in cycles in which the FIFO is not empty, B = 1, at least".to_owned(),
        paper: 80.0,
        unit: "%",
        better: Better::Higher,
        views: alone(found, Case::of("meshkv"), true, |m| 100.0 * m.accepted),
        why: "An array accepts a flit in every cycle but those in which weights of the softmax are not ready yet, or results are read.".to_owned(),
    }
}

/// The mean round trip of a fetch.
fn round_trip() -> Claim {
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
    Claim {
        id: "round-trip".to_owned(),
        place: PAD,
        what: "Round trip of a fetch on 8 x 8 tiles".to_owned(),
        paper: 22.0,
        unit: "cycles",
        better: Better::Lower,
        views: plain.into_iter().chain(near).collect(),
        why: "Both ways over the mean distance at two cycles a hop are 22 cycles; the registers where links pass from one die to the next add the rest.".to_owned(),
    }
}

/// What swaps of homes are worth where all attended segments are in one row.
fn swaps(found: &Found) -> Claim {
    let [base, of] = SWAPS.map(|fabric| Case::of(fabric).skewed().mapped(Mapping::RowAligned));
    let sides = Sides { of, base, figure: |m| m.cycles, error: |m| m.error, inverse: true, flits: false };
    let views = sides.plain(found).map(|view| View { ours: 100.0 * (1.0 - view.ours), ..view });
    Claim {
        id: "swaps".to_owned(),
        place: SENSITIVITY,
        what: "Throughput that swaps of homes are worth on a skewed prefix: 11 to 15 % in the paper".to_owned(),
        paper: 15.0,
        unit: "%",
        better: Better::Higher,
        views: views.into_iter().collect(),
        why: "Every eighth segment is attended to, so all homes are in one row: eight swaps, one after each step, spread them over eight rows. The paper does not say how skewed its prefix is.".to_owned(),
    }
}
