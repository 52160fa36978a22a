//! Readings of traffic and of the bisection: Tables IV and V, Figure 1.

use super::readings::{alone, Figure, Reading, Sides};
use crate::eval::paper::case::{Case, Model, LONGEST};
use crate::eval::paper::claim::View;
use crate::eval::paper::measured::Found;

/// Fabrics of the paper.
const FABRICS: [&str; 4] = ["cent", "shared", "takv", "meshkv"];
/// A window in which the tiles of a group meet.
const LONGER: &str =
    "the coalescing window is 96 cycles, as long as tiles of a group drift apart, instead of 12";

pub(super) fn readings(found: &Found) -> Vec<Reading> {
    let gain = Sides::new(Case::of("meshkv"), Case::of("shared"), |m| m.bisection[0]).of_flits();
    let gain = ("bisection-gain".to_owned(), gain.readings(found));
    [over_cent(found), of_bisection(found), vec![gain]].concat()
}

/// Traffic over `cent`.
fn over_cent(found: &Found) -> Vec<Reading> {
    let of = |(model, name): (Model, &str), fabric: &'static str| {
        let (of, base) = (Case::of(fabric).model(model), Case::of("cent").model(model));
        let sides = Sides::traffic(of, base).of_flits();
        let mut views = sides.readings(found);
        if (fabric, model) == ("meshkv", Model::Mistral) && !views.is_empty() {
            let longer = Sides { of: Case { fabric: "meshkv/window=96", ..of }, ..sides };
            let view = longer.plain(found).map(|view| View { assumption: Some(LONGER), ..view });
            // Before readings that change the mapping.
            views.splice(1..1, view);
        }
        (format!("traffic-{fabric}-{name}"), views)
    };
    let models = [(Model::Llama, "llama"), (Model::Mistral, "mistral")];
    models.into_iter().flat_map(|model| FABRICS[1..].iter().map(move |fabric| of(model, fabric))).collect()
}

/// Useful cycles, stalls and the rest, as shares in percent.
fn of_bisection(found: &Found) -> Vec<Reading> {
    let read = |fabric: &'static str, tokens: u32, figure: Figure| {
        alone(found, Case::of(fabric).tokens(tokens), fabric == "meshkv", figure)
    };
    let useful = |(tokens, name): (u32, &str), fabric| {
        (format!("bisection-{fabric}-{name}"), read(fabric, tokens, |m| 100.0 * m.bisection[0]))
    };
    let contexts = [(8192, "8k"), (LONGEST, "32k")];
    let useful = contexts.into_iter().flat_map(|of| FABRICS.map(|fabric| useful(of, fabric)));
    let rest = ["cent", "shared", "meshkv"].into_iter().flat_map(|fabric| {
        let parts: [(&str, Figure); 2] =
            [("stall", |m| 100.0 * m.bisection[1]), ("other", |m| 100.0 * m.bisection[2])];
        parts.map(|(part, figure)| (format!("breakdown-{fabric}-{part}"), read(fabric, LONGEST, figure)))
    });
    useful.chain(rest).collect()
}
