//! A case as it was measured: rows of its runs, scaled to a whole layer.

use super::case::{path, Case};
use super::plan::{Extent, Part, Plan, Run};
use crate::config::Sharing;
use crate::eval::Energies;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Rows by the ids of their points.
pub type Rows = BTreeMap<String, Map<String, Value>>;

/// Figures of one layer of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The case.
    pub case: Case,
    /// Router-to-router traversals of flits of all classes.
    pub traffic: f64,
    /// Cycles from the first word of queries to the last flit of outputs.
    pub cycles: f64,
    /// The same at the clock of the network, in microseconds.
    pub us: f64,
    /// Sharing of the link cycles across the middle: useful, stalled, other.
    pub bisection: [f64; 3],
    /// Energy of links, SRAM, arithmetic and external memory, in nJ.
    pub energy: [f64; 4],
    /// Share of the external memory's bandwidth.
    pub share: f64,
    /// Share of the fetches at homes that joined another within its window.
    pub merged: f64,
    /// KV flits that an array accepts per cycle in which its FIFO holds one.
    pub accepted: f64,
    /// The part with the tightest bound of the longest run, with those near it.
    pub bound_by: String,
    /// Cycles of that run over the larger of the bounds of its bytes and arrays.
    pub over_bound: f64,
    /// Error to expect of the cycles, as a share; 0 for a whole layer.
    pub error: f64,
    /// The same of the traffic: of fetches that meet at a home, a short sample has more than a layer.
    pub traffic_error: f64,
    /// What was run of the layer.
    pub sample: String,
    /// The command of the longest run.
    pub command: String,
    /// Ids of all its rows.
    pub ids: Vec<String>,
}

/// Largest error of the cycles of a quick sample, measured on the full set (docs/figures.md).
const QUICK_CYCLES: f64 = 0.17;
/// The same of the traffic where fetches meet.
const QUICK_MERGED: f64 = 0.55;

/// All cases that have their rows.
#[derive(Debug, Default)]
pub struct Found {
    cases: Vec<Measured>,
}

fn number(row: &Map<String, Value>, key: &str) -> f64 {
    row.get(key).and_then(Value::as_f64).unwrap_or(0.0)
}

fn text(row: &Map<String, Value>, key: &str) -> String {
    row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

impl Found {
    /// The cases of a plan whose rows are there, with energies that are not those of the rows.
    pub fn new(plan: &Plan, rows: &Rows, energies: &Energies) -> Found {
        let grown = energies.over(&Energies::default());
        let mut found = Found::default();
        for run in plan.runs.iter().filter(|run| run.part == Part::Long) {
            if found.get(run.case).is_some() {
                continue;
            }
            let part = |part: Part| {
                let of_case = plan.runs.iter().find(|other| other.case == run.case && other.part == part);
                of_case.and_then(|other| rows.get(&other.id).map(|row| (other, row)))
            };
            // Parts that the plan has must be there.
            let planned = plan.runs.iter().filter(|other| other.case == run.case);
            if planned.clone().all(|other| rows.contains_key(&other.id)) {
                let long = (run, &rows[&run.id]);
                let mut of = measured(long, part(Part::Short), part(Part::Wide));
                if plan.extent == Extent::Quick && of.error > 0.0 {
                    of.error = QUICK_CYCLES;
                    of.traffic_error = if of.merged > 0.0 { QUICK_MERGED } else { 0.0 };
                }
                of.energy.iter_mut().zip(grown).for_each(|(nj, by)| *nj *= by);
                found.cases.push(of);
            }
        }
        found
    }

    /// A case; nothing if some of its rows are missing.
    pub fn get(&self, case: Case) -> Option<&Measured> {
        self.cases.iter().find(|measured| measured.case == case)
    }

    /// The largest errors to expect of cycles and of traffic, of cases whose slices go to the heads of their KV head.
    pub fn worst_errors(&self) -> [f64; 2] {
        let cases = || self.cases.iter().filter(|of| of.case.sharing == Sharing::KvHead);
        [
            cases().map(|of| of.error).fold(0.0, f64::max),
            cases().map(|of| of.traffic_error).fold(0.0, f64::max),
        ]
    }

    /// All cases.
    pub fn all(&self) -> &[Measured] {
        &self.cases
    }
}

type Row<'a> = (&'a Run, &'a Map<String, Value>);

fn measured((run, long): Row<'_>, short: Option<Row<'_>>, wide: Option<Row<'_>>) -> Measured {
    let of = f64::from(run.of_segments);
    let ran = number(long, "sample_segments");
    let whole = ran >= of;
    let cycles = match short {
        _ if whole => number(long, "sample_cycles"),
        Some((_, short)) => {
            let more = number(long, "sample_cycles") - number(short, "sample_cycles");
            let of_segment = more / (ran - number(short, "sample_segments")).max(1.0);
            number(long, "sample_cycles") + of_segment * (of - ran)
        }
        None => {
            let kv = number(long, "sample_kv_cycles").min(number(long, "sample_cycles"));
            kv * of / ran + number(long, "sample_cycles") - kv
        }
    };
    let (_, spread) = wide.unwrap_or((run, long));
    let layers = number(spread, "sample_layers");
    let blocks = layers * number(spread, "sample_segments");
    let data = number(spread, "sample_kv_data_flits") + number(spread, "sample_kv_fetch_flits");
    let traffic = data / blocks * of + number(spread, "sample_part_flits") / layers;
    let link = number(spread, "sample_energy_link_nj") / number(spread, "sample_traffic").max(1.0) * traffic;
    let scaled = |key: &str| number(long, key) * of / ran;
    let (opened, merged) = (number(spread, "sample_fetches_opened"), number(spread, "sample_fetches_merged"));
    let clock = number(long, "sample_cycles") / number(long, "sample_us").max(1e-9);
    Measured {
        case: run.case,
        traffic,
        cycles,
        us: cycles / clock,
        bisection: ["useful", "stall", "other"].map(|part| number(long, &format!("bisection_{part}"))),
        energy: [
            link,
            scaled("sample_energy_sram_nj"),
            scaled("sample_energy_mac_nj"),
            scaled("sample_energy_memory_nj"),
        ],
        share: number(long, "share"),
        merged: merged / (opened + merged).max(1.0),
        accepted: number(long, "accepted_a_cycle"),
        bound_by: text(long, "bound_by"),
        over_bound: number(long, "over_bound"),
        error: if whole { 0.0 } else { number(long, "error") },
        traffic_error: if whole || merged == 0.0 { 0.0 } else { number(long, "error") },
        sample: if whole { format!("all {of} segments") } else { format!("{ran} of {of} segments") },
        command: command(run, long),
        ids: [Some((run, long)), short, wide].into_iter().flatten().map(|(run, _)| run.id.clone()).collect(),
    }
}

/// The command that repeats a run. A fabric that is no file of the repository has one in the folder of the page.
fn command(run: &Run, row: &Map<String, Value>) -> String {
    let case = run.case;
    let mut text = format!(
        "meshkv decode {} --mapping {} --tokens {} --segments {} --layers {} --engine model",
        path(case),
        case.mapping.name(),
        number(row, "tokens"),
        number(row, "sample_segments"),
        case.layers.unwrap_or(1),
    );
    if case.skewed {
        text += &format!(" --stride {} --steps {}", number(row, "stride"), number(row, "steps"));
    }
    if case.batch > 1 {
        text += &format!(" --batch {} --prefix {}", case.batch, number(row, "prefix"));
    }
    if let Some(seed) = case.unruly {
        text += &format!(" --unruly-memory --seed {seed}");
    }
    if case.sharing == Sharing::Segment {
        text += " --sharing segment";
    }
    text
}
