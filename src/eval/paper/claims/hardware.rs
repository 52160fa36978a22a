//! Claims on resources, and on the interval of five runs: Table III and Section VIII.

use crate::eval::paper::case::Case;
use crate::eval::paper::claim::{Claim, View};
use crate::eval::paper::measured::Found;
use crate::eval::paper::plan::{Extent, SEEDS};
use crate::eval::paper::verdict::Better;
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

/// Name, the paper's number, and its share of the card in percent.
const TABLE: [(&str, &str, f64, f64); 5] = [
    ("lut", "LUTs", 613e3, 47.0),
    ("ff", "Flip-flops", 820e3, 31.0),
    ("bram", "Block RAMs", 768.0, 38.0),
    ("uram", "UltraRAMs", 512.0, 53.0),
    ("dsp", "DSP slices", 5760.0, 64.0),
];

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

/// The claims.
pub(super) fn claims(found: &Found, resources: Option<&Resources>, extent: Extent) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (at, (id, what, paper, percent)) in TABLE.into_iter().enumerate() {
        let why = match id {
            "uram" => "Both have eight UltraRAMs a tile for staging; ours has two more, for the sums of the contexts of its two rows.",
            "dsp" => "Ours has two rows of 32 lanes a tile; the paper does not say what its 90 slices a tile compute.",
            "lut" => "A router of 512 bits alone takes seven times the share that the paper gives it; ours is what Yosys counts, of a design that computes attention to the last bit.",
            _ => "Ours has a register stage in every link, and FIFOs of requested flits and stationary vectors in block RAM; the paper does not say what its fabric holds.",
        };
        let view = |ours: fn(&Resources, usize) -> f64| {
            resources
                .map(|r| number("meshkv, 8 x 8, 512 bits", ours(r, at), &r.command))
                .into_iter()
                .collect()
        };
        let claim = |id: String, what: String, paper: f64, unit: &'static str, views: Vec<View>| Claim {
            id,
            place: "Table III",
            what,
            paper,
            unit,
            better: Better::Lower,
            views,
            why: why.to_owned(),
        };
        claims.push(claim(
            format!("resources-{id}"),
            format!("{what} of 8 x 8 tiles"),
            paper,
            "",
            view(|r, at| r.used[at]),
        ));
        let share = view(|r, at| 100.0 * r.used[at] / r.available[at]);
        claims.push(claim(
            format!("resources-{id}-share"),
            format!("{what}, share of a U280"),
            percent,
            "%",
            share,
        ));
    }
    claims.push(Claim {
        id: "resources-router".to_owned(),
        place: "Section VIII",
        what: "Routers, filters and tag tables, share of a U280's LUTs".to_owned(),
        paper: 5.0,
        unit: "%",
        better: Better::Lower,
        views: resources.map(|r| number("meshkv, 8 x 8, 512 bits", 100.0 * r.router_share, &r.command)).into_iter().collect(),
        why: "5 % of a U280 are 1 020 LUTs a router, below one for each bit of the multiplexers that XY routing leaves of a 512-bit crossbar (about 2 050).".to_owned(),
    });
    claims.push(spread(found, extent));
    claims
}

/// The interval of five runs.
fn spread(found: &Found, extent: Extent) -> Claim {
    let runs: Vec<_> =
        SEEDS.iter().filter_map(|&seed| found.get(Case::of("meshkv").batch(8).unruly(seed))).collect();
    let spread = (runs.len() == SEEDS.len())
        .then(|| Spread::of(&runs.iter().map(|run| run.cycles).collect::<Vec<_>>()));
    let name = format!("meshkv, B = 8, seeds 1 to 5 of an unruly memory, {}", extent.name());
    let view =
        |spread: Spread| number(&name, 100.0 * spread.half.unwrap_or(0.0) / spread.mean, &runs[0].command);
    Claim {
        id: "interval".to_owned(),
        place: "Section VIII",
        what: "95 % interval of throughput over five runs, at most".to_owned(),
        paper: 3.0,
        unit: "%",
        better: Better::Lower,
        views: spread.map(view).into_iter().collect(),
        why: "Drawn are the order and the gaps of a memory's answers. In all other rows memory is at its best and nothing is drawn: any seed gives the same cycles, so they have no interval.".to_owned(),
    }
}
