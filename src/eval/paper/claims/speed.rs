//! Claims on throughput and latency: Figures 4 and 5.

use super::readings::{alone, view_of, Sides};
use crate::config::Mapping;
use crate::eval::paper::case::Case;
use crate::eval::paper::claim::{Claim, View};
use crate::eval::paper::measured::Found;
use crate::eval::paper::plan::CONTEXTS;
use crate::eval::paper::verdict::Better;

/// Throughput over `cent` at 32 K: fabric, and for B = 1, 4, 8.
const THROUGHPUT: [(&str, [f64; 3]); 2] = [("shared", [1.19, 1.29, 1.46]), ("meshkv", [1.35, 1.61, 1.90])];

/// Latency in us at 4, 8, 16 and 32 K.
const LATENCY: [(&str, [f64; 4]); 3] =
    [("cent", [4.2, 9.3, 16.9, 21.6]), ("shared", [3.9, 7.3, 11.6, 16.5]), ("meshkv", [3.2, 6.1, 8.8, 12.2])];

const WHY_THROUGHPUT: &str = "A hub has one injection port and one memory port whatever the mesh; distributed homes have eight or more of each. The paper's ratios are far smaller than that of the ports, so its hub must have more of them than one.";
const WHY_LATENCY: &str = "A token reads 16 GiB at T = 32 K, which takes 37 ms of 460 GB/s: the paper's microseconds can only be those of a part of one layer. Ours are those of one whole layer, all heads.";
const WHY_RATIO: &str = "Both sides are one layer on the same memory, so the ratio can be compared where the microseconds cannot.";

/// The claims.
pub(super) fn claims(found: &Found) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (fabric, ratios) in THROUGHPUT {
        for (batch, paper) in [1, 4, 8].into_iter().zip(ratios) {
            let (of, base) = (Case::of(fabric).batch(batch), Case::of("cent").batch(batch));
            let sides =
                Sides { of, base, figure: |m| m.cycles, error: |m| m.error, inverse: true, flits: false };
            claims.push(Claim {
                id: format!("throughput-{fabric}-b{batch}"),
                place: "Figure 5",
                what: format!("Throughput of {fabric} over cent, T = 32 K, B = {batch}"),
                paper,
                unit: "times",
                better: Better::Higher,
                views: sides.readings(found),
                why: WHY_THROUGHPUT.to_owned(),
            });
        }
    }
    for (fabric, all) in LATENCY {
        for (tokens, paper) in CONTEXTS.into_iter().zip(all) {
            let case = Case::of(fabric).tokens(tokens);
            claims.push(Claim {
                id: format!("latency-{fabric}-{}k", tokens / 1024),
                place: "Figure 4",
                what: format!("Latency of {fabric}, T = {} K, B = 1", tokens / 1024),
                paper,
                unit: "us",
                better: if fabric == "meshkv" { Better::Lower } else { Better::Same },
                views: alone(found, case, fabric == "meshkv", |m| m.us),
                why: WHY_LATENCY.to_owned(),
            });
        }
    }
    // The figure's own ratios, which its text builds on.
    for (at, tokens) in CONTEXTS.into_iter().enumerate() {
        let (of, base) = (Case::of("meshkv").tokens(tokens), Case::of("cent").tokens(tokens));
        let sides = Sides { of, base, figure: |m| m.us, error: |m| m.error, inverse: false, flits: false };
        claims.push(Claim {
            id: format!("latency-ratio-{}k", tokens / 1024),
            place: "Figure 4",
            what: format!("Latency of meshkv over cent, T = {} K, B = 1", tokens / 1024),
            paper: LATENCY[2].1[at] / LATENCY[0].1[at],
            unit: "",
            better: Better::Lower,
            views: sides.readings(found),
            why: WHY_RATIO.to_owned(),
        });
    }
    claims.push(growth(found));
    claims
}

/// The text: latency of meshkv is about linear in T.
fn growth(found: &Found) -> Claim {
    let of = |case: Case, assumption: Option<&'static str>| -> Option<View> {
        let (long, short) = (found.get(case)?, found.get(case.tokens(4096))?);
        Some(View { assumption, ..view_of(long, long.us / short.us) })
    };
    let plain = Case::of("meshkv");
    let wide = Case { fabric: "meshkv_stride1", ..plain }.mapped(Mapping::RowAligned);
    let others = of(
        wide,
        Some("a layer lies in all columns (column_stride = 1), and heads follow the row of the slice's home"),
    );
    let views = of(plain, None).into_iter().flat_map(|plain| [Some(plain), others.clone()]).flatten();
    Claim {
        id: "latency-growth".to_owned(),
        place: "Section IX-A",
        what: "Latency of meshkv at T = 32 K over that at 4 K; 8 if it is linear in T".to_owned(),
        paper: LATENCY[2].1[3] / LATENCY[2].1[0],
        unit: "times",
        better: Better::Lower,
        views: views.collect(),
        why: "Eight times the cache is eight times the bytes. The paper calls 3.8 times linear, which no cache that is read whole can give.".to_owned(),
    }
}
