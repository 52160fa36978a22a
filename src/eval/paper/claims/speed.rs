//! Readings of throughput and latency: Figures 4 and 5.

use super::readings::{alone, view_of, Reading, Sides};
use crate::config::Mapping;
use crate::eval::paper::case::Case;
use crate::eval::paper::claim::View;
use crate::eval::paper::measured::Found;
use crate::eval::paper::plan::CONTEXTS;

pub(super) fn readings(found: &Found) -> Vec<Reading> {
    let throughput = |fabric: &'static str, batch: u32| {
        let sides = Sides::speed(Case::of(fabric).batch(batch), Case::of("cent").batch(batch));
        (format!("throughput-{fabric}-b{batch}"), sides.readings(found))
    };
    let latency = |fabric: &'static str, tokens: u32| {
        let views = alone(found, Case::of(fabric).tokens(tokens), fabric == "meshkv", |m| m.us);
        (format!("latency-{fabric}-{}k", tokens / 1024), views)
    };
    let ratio = |tokens: u32| {
        let sides = Sides::new(Case::of("meshkv").tokens(tokens), Case::of("cent").tokens(tokens), |m| m.us);
        (format!("latency-ratio-{}k", tokens / 1024), sides.readings(found))
    };
    let mut readings = vec![("latency-growth".to_owned(), growth(found))];
    readings.extend(["shared", "meshkv"].iter().flat_map(|fabric| [1, 4, 8].map(|b| throughput(fabric, b))));
    readings
        .extend(["cent", "shared", "meshkv"].iter().flat_map(|fabric| CONTEXTS.map(|t| latency(fabric, t))));
    readings.extend(CONTEXTS.map(ratio));
    readings
}

/// The text: latency of meshkv is about linear in T.
fn growth(found: &Found) -> Vec<View> {
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
    let views = of(plain, None).into_iter().flat_map(|plain| [Some(plain), others.clone()]);
    views.flatten().collect()
}
