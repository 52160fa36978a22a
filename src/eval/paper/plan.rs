//! What must run: the cases, and the samples of each that fit a budget of cycles.

use super::case::{file_name, Case, Model, LONGEST, OWN_COLUMNS};
use super::fabric::fabric;
use crate::config::{Config, DecodeWork, Mapping, Sharing, WorkKind};
use crate::cosim::workloads::decode::WorkloadError;
use crate::design::{Design, Illegal};
use crate::eval::grid::{columns_of, text_label, Column, Expanded, Point, Work};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

use Mapping::{HeadTile, RowAligned, StreamStriped};

/// How much of each case runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Samples: some rounds over the homes of a layer.
    Quick,
    /// Whole layers, but for those that would take more than [`Extent::most_cycles`].
    Full,
}

impl Extent {
    /// Forecast cycles of a run at most, if it is to be more than one round over the homes.
    pub fn most_cycles(self) -> u64 {
        match self {
            Extent::Quick => 36_000,
            Extent::Full => 1_200_000,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Extent::Quick => "quick",
            Extent::Full => "full",
        }
    }
}

/// Part of a case that a run measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The longest sample of a layer: cycles, and all that does not come from another run.
    Long,
    /// A shorter one: what a segment adds follows from both, and with it start, fill and drain.
    Short,
    /// Layers whose homes are in all columns: traffic of a placement that keeps a layer in one.
    Wide,
}

/// A run of a case.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) case: Case,
    pub(super) part: Part,
    /// Id of its point.
    pub(super) id: String,
    /// Segments of a layer that the case attends to.
    pub(super) of_segments: u32,
}

/// All runs, and their points.
#[derive(Debug)]
pub struct Plan {
    /// How much of each case runs.
    pub extent: Extent,
    pub(super) runs: Vec<Run>,
    /// The points, each once, those of the longest runs first.
    pub all: Expanded,
    /// Forecast cycles of each point.
    pub expected: Vec<u64>,
}

/// Fabrics of the paper's tables, and this repository's with a layer over all columns.
pub(super) const COMPARED: [&str; 5] = ["cent", "shared", "takv", "meshkv", "meshkv_stride1"];
/// Coalescing windows beside the default, 12.
pub(super) const WINDOWS: [&str; 4] =
    ["meshkv/window=0", "meshkv/window=6", "meshkv/window=24", "meshkv/window=96"];
/// Other keys of the ablation.
pub(super) const VARIED: [&str; 6] = [
    "meshkv/segment=32",
    "meshkv/segment=128",
    "meshkv/fifo=48",
    "meshkv/fifo=192",
    "meshkv/vn0=1",
    "meshkv/vn1=4",
];
/// Fabrics of the ablation.
pub(super) const ABLATED: [&str; 5] = ["no_bloom", "no_takv", "no_pad", "no_mare", "cent"];
/// Fabrics with and without swaps of homes after every step.
pub(super) const SWAPS: [&str; 2] = ["meshkv_stride1/epoch=1", "meshkv_stride1/epoch=0"];
/// Segments that a skewed case attends to.
const SKEWED_SEGMENTS: u32 = 8;
/// Layers that run one after the other, to show what a whole step is.
pub(super) const LAYERS: [u32; 4] = [1, 2, 4, 8];
/// The context of these.
pub(super) const STEP_TOKENS: u32 = 4096;
/// A mesh of the same number of tiles, and its `cent`.
pub(super) const LONG_MESH: [&str; 2] = ["meshkv/mesh=16x4", "cent/mesh=16x4"];
/// Contexts of the latency figure.
pub(super) const CONTEXTS: [u32; 4] = [4096, 8192, 16_384, LONGEST];
/// Fabrics for the card.
pub(super) const CARDS: [&str; 3] = ["u280_4x8", "u280_shell", "u280_8x8"];

/// Seeds of what is drawn.
pub(super) const SEEDS: [u32; 5] = [1, 2, 3, 4, 5];

/// Mappings of so many streams that differ.
pub(super) fn mappings(batch: u32) -> &'static [Mapping] {
    match batch {
        1 => &[HeadTile, RowAligned],
        _ => &[HeadTile, RowAligned, StreamStriped],
    }
}

/// A section of the evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Section {
    /// Traffic and energy by configuration, model, mapping and sharing.
    Traffic,
    /// Use of the links across the middle.
    Bisection,
    /// Throughput at 1, 4 and 8 streams.
    Throughput,
    /// Latency over the context.
    Latency,
    /// Mechanisms left out and keys changed.
    Ablation,
    /// Fabrics for the U280.
    Card,
    /// Layers one after the other, as in a whole step.
    Step,
    /// Errors of attention against f64, and those of FlashAttention-2.
    Accuracy,
    /// Resources, by synthesis.
    Resources,
}

impl Section {
    /// All of them.
    pub const ALL: [Section; 9] = [
        Section::Traffic,
        Section::Bisection,
        Section::Throughput,
        Section::Latency,
        Section::Ablation,
        Section::Card,
        Section::Step,
        Section::Accuracy,
        Section::Resources,
    ];

    /// Its cases; some are those of other sections, too.
    fn cases(self) -> Vec<Case> {
        let mut cases = Vec::new();
        let mut add = |case: Case, mappings: &[Mapping]| {
            cases.extend(mappings.iter().map(|&mapping| case.mapped(mapping)));
        };
        match self {
            Section::Traffic => {
                for model in [Model::Llama, Model::Mistral] {
                    COMPARED.iter().for_each(|fabric| add(Case::of(fabric).model(model), mappings(1)));
                    for fabric in ["cent", "meshkv"] {
                        add(Case::of(fabric).model(model).shared(), &[HeadTile]);
                    }
                    add(Case::of(OWN_COLUMNS).model(model), &[RowAligned]);
                }
            }
            Section::Bisection => {
                for tokens in [8192, LONGEST] {
                    COMPARED.iter().for_each(|fabric| add(Case::of(fabric).tokens(tokens), mappings(1)));
                }
            }
            Section::Throughput => {
                for batch in [1, 4, 8] {
                    COMPARED.iter().for_each(|fabric| add(Case::of(fabric).batch(batch), mappings(batch)));
                }
            }
            Section::Latency => {
                for tokens in CONTEXTS {
                    COMPARED.iter().for_each(|fabric| add(Case::of(fabric).tokens(tokens), mappings(1)));
                }
            }
            Section::Ablation => {
                for fabric in ["meshkv"].iter().chain(&ABLATED).chain(&LONG_MESH) {
                    add(Case::of(fabric).batch(8), mappings(8));
                }
                add(Case::of("meshkv").model(Model::Mistral), &[HeadTile]);
                for fabric in WINDOWS {
                    add(Case::of(fabric).batch(8), &[HeadTile]);
                    add(Case::of(fabric).model(Model::Mistral), &[HeadTile]);
                }
                VARIED.iter().for_each(|fabric| add(Case::of(fabric).batch(8), &[HeadTile]));
                for fabric in ["meshkv"].iter().chain(&ABLATED) {
                    SEEDS.iter().for_each(|&seed| add(Case::of(fabric).batch(8).unruly(seed), &[HeadTile]));
                }
                SWAPS.iter().for_each(|fabric| add(Case::of(fabric).skewed(), &[RowAligned]));
            }
            Section::Card => {
                for fabric in CARDS {
                    for tokens in [4096, 16_384] {
                        add(Case::of(fabric).tokens(tokens), &[RowAligned]);
                    }
                }
            }
            Section::Step => {
                LAYERS.iter().for_each(|&layers| add(step_of(layers), &[HeadTile]));
            }
            Section::Accuracy | Section::Resources => {}
        }
        cases
    }
}

/// A run of so many layers.
pub(super) fn step_of(layers: u32) -> Case {
    Case::of("meshkv").tokens(STEP_TOKENS).layers(layers)
}

/// Configurations of cases that are no file of the repository, by the names of their files.
pub fn fabrics() -> BTreeMap<String, Config> {
    let of = |case: &Case| (file_name(*case), fabric(case.fabric, case.model));
    let changed = |case: &&Case| case.fabric.contains('/') || case.model != Model::Llama;
    Section::ALL
        .iter()
        .flat_map(|section| section.cases())
        .collect::<Vec<_>>()
        .iter()
        .filter(changed)
        .map(of)
        .collect()
}

/// Reason why a case cannot run: a slip in this crate.
#[derive(Debug, thiserror::Error)]
#[error("{case}: {why}")]
pub struct PlanError {
    case: String,
    why: String,
}

/// The plan of some sections in an extent.
///
/// # Errors
/// If a case cannot be built: a slip in this crate, which a test looks for.
pub fn plan(extent: Extent, sections: &[Section]) -> Result<Plan, PlanError> {
    let labels = vec![
        text_label("fabric", "configuration of the repository, with what differs from it"),
        text_label("model", "model whose layer is decoded"),
    ];
    let columns = columns_of(WorkKind::Decode, labels);
    let (mut runs, mut ids, mut points) = (Vec::new(), BTreeSet::new(), Vec::new());
    for case in sections.iter().flat_map(|section| section.cases()) {
        let wrong = |why: String| PlanError { case: format!("{case:?}"), why };
        for (run, point, expected) in runs_of(extent, case, &columns).map_err(wrong)? {
            if ids.insert(point.id.clone()) {
                points.push((expected, point));
            }
            runs.push(run);
        }
    }
    // Long ones first, so that no core waits for the last.
    points.sort_by_key(|(expected, _)| std::cmp::Reverse(*expected));
    let (expected, points) = points.into_iter().unzip();
    let all = Expanded { columns, points, illegal: None, left_out: 0, repeated: 0 };
    Ok(Plan { extent, runs, all, expected })
}

/// The runs of a case, with their points and forecast cycles.
fn runs_of(extent: Extent, case: Case, columns: &[Column]) -> Result<Vec<(Run, Point, u64)>, String> {
    let config = fabric(case.fabric, case.model);
    let design = Design::from_config(&file_name(case), &config);
    let design = design.map_err(|Illegal(findings)| findings[0].sentence(true))?;
    let refused = |error: WorkloadError| error.to_string();
    let of_segments = segments(&design, &case.work(1, 0)).map_err(refused)?;
    // Samples are the same for any context: each is run once.
    let sample = extent == Extent::Quick && case.model == Model::Llama && !case.is_all();
    let sampled = if sample && !CARDS.contains(&case.fabric) { case.tokens(LONGEST) } else { case };
    let cycles = |layers: u32, segments: u32| Point::forecast(&sampled.work(layers, segments), &design);
    // As many of `unit` segments as fit the budget, one at least.
    let fitting = |layers: u32, unit: u32| -> Result<u32, WorkloadError> {
        let units = (extent.most_cycles() / cycles(layers, unit)?.max(1)).clamp(1, u64::from(of_segments));
        Ok((units as u32).saturating_mul(unit).min(of_segments))
    };
    // With every slice for every head a segment is long, and its home does not matter much.
    let round = if case.sharing == Sharing::Segment { 1 } else { design.placement.round().min(of_segments) };
    let long = fitting(1, round).map_err(refused)?;
    let mut parts = vec![(Part::Long, 1, long)];
    let mut of_segments = of_segments;
    if case.is_all() {
        // The same segments of each layer, however many layers run.
        let most = LAYERS.into_iter().max().unwrap_or(1);
        let all = if case.skewed { SKEWED_SEGMENTS } else { fitting(most, round).map_err(refused)? };
        (parts, of_segments) = (vec![(Part::Long, case.layers.unwrap_or(1), all)], all);
    } else if long < of_segments && long >= 2 * round && case.unruly.is_none() {
        parts.push((Part::Short, 1, long / round / 2 * round));
    }
    if case.layers_in_columns() && !case.is_all() && case.sharing == Sharing::KvHead && case.unruly.is_none()
    {
        let layers = design.mesh.cols();
        parts.push((Part::Wide, layers, fitting(layers, 1).map_err(refused)?.min(32)));
    }
    let run = |(part, layers, segments): (Part, u32, u32)| {
        let work = sampled.work(layers, segments);
        let expected = cycles(layers, segments).map_err(refused)?;
        let names = vec![Value::from(case.fabric), Value::from(case.model.name())];
        let point = Point::new(columns, design.clone(), Work::Decode(work), names);
        Ok((Run { case, part, id: point.id.clone(), of_segments }, point, expected))
    };
    parts.into_iter().map(run).collect()
}

/// Segments of a layer that a workload attends to.
fn segments(design: &Design, work: &DecodeWork) -> Result<u32, WorkloadError> {
    Ok(Point::decode(work, design)?.1.most_segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_can_run_in_either_extent() {
        for extent in [Extent::Quick, Extent::Full] {
            let plan = plan(extent, &Section::ALL).unwrap_or_else(|e| panic!("{e}"));
            assert!(plan.all.points.len() > 100, "{}", plan.all.points.len());
            let cores = plan.expected.iter().sum::<u64>() as f64;
            println!("{}: {} points, {cores:.2e} cycles", extent.name(), plan.all.points.len());
        }
    }
}
