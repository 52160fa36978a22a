//! Claims on traffic and on the bisection: Tables IV and V, Figure 1.

use super::readings::{alone, Figure, Sides};
use crate::eval::paper::case::{Case, Model};
use crate::eval::paper::claim::{Claim, View};
use crate::eval::paper::measured::Found;
use crate::eval::paper::verdict::Better;

/// A window in which the tiles of a group meet.
const LONGER: &str =
    "the coalescing window is 96 cycles, as long as tiles of a group drift apart, instead of 12";
const TRAFFIC: &str = "Table IV";
const BISECTION: &str = "Table V";
const BREAKDOWN: &str = "Figure 1";

/// Traffic over `cent`: fabric, LLaMA-2-7B, Mistral-7B.
const OVER_CENT: [(&str, f64, f64); 3] =
    [("shared", 0.81, 0.79), ("takv", 0.66, 0.63), ("meshkv", 0.42, 0.40)];

/// Useful share of the bisection in percent: fabric, 8 K, 32 K.
const USEFUL: [(&str, f64, f64); 4] =
    [("cent", 29.0, 19.0), ("shared", 38.0, 29.0), ("takv", 52.0, 41.0), ("meshkv", 71.0, 61.0)];

/// Shares of stalls and of the rest at 32 K in percent.
const REST: [(&str, f64, f64); 3] = [("cent", 41.0, 40.0), ("shared", 30.0, 41.0), ("meshkv", 11.0, 28.0)];

fn why_traffic(fabric: &str, model: Model) -> String {
    match (fabric, model) {
        ("shared", _) => "Homes all over the mesh are nearer than a corner: for fixed requesters this saves about a fifth, whatever the placement.",
        ("takv", _) => "Placement alone does not shorten the mean distance to requesters that stay where they are, as the paper says itself; heads that follow the row of the home do.",
        (_, Model::Llama) => "With multi-head attention and one stream no two tiles want the same slice, so multicast has nothing to merge; the saving is that of the mapping.",
        (_, Model::Mistral) => "Four query heads share a slice. On four tiles multicast merges those that ask within the window: over a whole layer tiles drift apart by more than 12 cycles, and little more than a third of the fetches meet; within 96 cycles three of four do, the most there can be. Under row-aligned all four are on one tile and nothing is sent twice.",
    }
    .to_owned()
}

fn why_bisection(fabric: &str) -> String {
    match fabric {
        "cent" => "A hub has one injection port and one memory port, so it gives less than a flit a cycle to eight rows: links across the middle cannot be as busy as the paper says, and stalls are at the hub.",
        "shared" => "64 homes with a memory port for every two give more than the links across the middle carry under unicast: they are busier than the paper's.",
        _ => "With a layer in one column, its eight homes and their ports bound the run before the bisection does; over all columns the bisection carries more.",
    }
    .to_owned()
}

/// The claims.
pub(super) fn claims(found: &Found) -> Vec<Claim> {
    [over_cent(found), useful(found), rest(found), vec![gain(found)]].concat()
}

fn over_cent(found: &Found) -> Vec<Claim> {
    let mut claims = Vec::new();
    for model in [Model::Llama, Model::Mistral] {
        for (fabric, llama, mistral) in OVER_CENT {
            let (of, base) = (Case::of(fabric).model(model), Case::of("cent").model(model));
            let sides = Sides {
                of,
                base,
                figure: |m| m.traffic,
                error: |m| m.traffic_error,
                inverse: false,
                flits: true,
            };
            let mut views = sides.readings(found);
            if (fabric, model) == ("meshkv", Model::Mistral) && !views.is_empty() {
                let longer = Sides { of: Case { fabric: "meshkv/window=96", ..of }, ..sides };
                let view = longer.plain(found).map(|view| View { assumption: Some(LONGER), ..view });
                // Before readings that change the mapping.
                views.splice(1..1, view);
            }
            claims.push(Claim {
                id: format!("traffic-{fabric}-{}", if model == Model::Llama { "llama" } else { "mistral" }),
                place: TRAFFIC,
                what: format!("Traffic of {fabric} over cent, {}, T = 32 K, B = 1", model.name()),
                paper: if model == Model::Llama { llama } else { mistral },
                unit: "",
                better: Better::Lower,
                views,
                why: why_traffic(fabric, model),
            });
        }
    }
    claims
}

fn useful(found: &Found) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (at, tokens, name) in [(0, 8192, "8k"), (1, 32_768, "32k")] {
        for (fabric, short, long) in USEFUL {
            let case = Case::of(fabric).tokens(tokens);
            claims.push(Claim {
                id: format!("bisection-{fabric}-{name}"),
                place: BISECTION,
                what: format!("Useful share of the bisection, {fabric}, T = {} K", tokens / 1024),
                paper: if at == 0 { short } else { long },
                unit: "%",
                better: if fabric == "cent" { Better::Same } else { Better::Higher },
                views: alone(found, case, fabric == "meshkv", |m| 100.0 * m.bisection[0]),
                why: why_bisection(fabric),
            });
        }
    }
    claims
}

fn rest(found: &Found) -> Vec<Claim> {
    let mut claims = Vec::new();
    let parts: [(&str, Figure); 2] =
        [("stall", |m| 100.0 * m.bisection[1]), ("other", |m| 100.0 * m.bisection[2])];
    for (fabric, stall, other) in REST {
        for ((part, figure), paper) in parts.into_iter().zip([stall, other]) {
            claims.push(Claim {
                id: format!("breakdown-{fabric}-{part}"),
                place: BREAKDOWN,
                what: format!("Share of the bisection, {part}, {fabric}, T = 32 K"),
                paper,
                unit: "%",
                better: if fabric == "meshkv" { Better::Lower } else { Better::Same },
                views: alone(found, Case::of(fabric), fabric == "meshkv", figure),
                why: why_bisection(fabric),
            });
        }
    }
    claims
}

/// The text: what placement and multicast make of the bisection.
fn gain(found: &Found) -> Claim {
    let sides = Sides {
        of: Case::of("meshkv"),
        base: Case::of("shared"),
        figure: |m| m.bisection[0],
        error: |m| m.error,
        inverse: false,
        flits: true,
    };
    Claim {
        id: "bisection-gain".to_owned(),
        place: "Section IX-A",
        what: "Useful share of the bisection of meshkv over shared, T = 32 K".to_owned(),
        paper: 2.1,
        unit: "times",
        better: Better::Higher,
        views: sides.readings(found),
        why: "Our shared uses the bisection far better than the paper's, since all its 64 homes inject; a layer in one column, as meshkv places it, has eight.".to_owned(),
    }
}
