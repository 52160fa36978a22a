//! The row of a run of decode steps, for print and files: traffic, bisection, time, energy, and
//! bounds.

use crate::cosim::checks::violation::Violation;
use crate::design::{counters_schema, counts_schema, Bounds, Class};
use crate::eval::energy::Energy;
use crate::eval::time::bounds::Phase;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use std::collections::BTreeMap;

/// Link traversals by class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Flits {
    /// Traversals of PART.
    pub part: f64,
    /// Traversals of KV_FETCH.
    pub kv_fetch: f64,
    /// Traversals of KV_DATA.
    pub kv_data: f64,
}

impl Flits {
    /// All classes.
    pub fn all(&self) -> f64 {
        self.part + self.kv_fetch + self.kv_data
    }
}

/// Schema of traversals by the name of each class.
fn by_class(_: &mut SchemaGenerator) -> Schema {
    let all = Class::ALL.map(|class| (class.name(), "Traversals of flits of this class."));
    counts_schema(&all)
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepRow {
    /// Cycles from the first word of its queries to the last flit of its outputs.
    pub cycles: u64,
    /// Sum of the squares of its homes' occupancies; null if homes never swap.
    pub occupancy_squares: Option<f64>,
    /// Sum of the squares of its rows' occupancies, which swaps should lower; null if homes never swap.
    pub row_squares: Option<f64>,
    /// Tiles, as (x, y), that exchanged their homes after it.
    pub swaps: Vec<[(u32, u32); 2]>,
}

/// Largest error of the default sample, whole rounds over the homes, on the whole layers of
/// docs/figures.md: queues of links grow over a layer. Where memory holds a layer up it is 0.1 %.
const ERROR_OF_ROUNDS: f64 = 0.11;
/// Largest error of whole layers that stand for all: their homes lie in other places.
const ERROR_OF_LAYERS: f64 = 0.02;

/// The part of a decode step that was run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Sample {
    /// Layers that were run.
    pub layers: u32,
    /// Layers of the model.
    pub of_layers: u32,
    /// Segments of a layer that were run, over all streams; shared ones count once.
    pub segments: u64,
    /// Segments of a layer that are attended to.
    pub of_segments: u64,
    /// Segments of the fullest memory port in what was run, over the mean of all ports that have a home.
    pub imbalance: f64,
    /// The same in the whole layer. Where memory holds a run up, the extrapolated cycles are too many by
    /// `imbalance` over this: 1 if the sample loads the ports as a layer does.
    pub of_imbalance: f64,
}

impl Sample {
    /// Error to expect of the cycles of a whole step.
    pub(in crate::eval) fn error(&self) -> f64 {
        let of_layers = if self.layers == self.of_layers { 0.0 } else { ERROR_OF_LAYERS };
        if self.segments == self.of_segments {
            of_layers
        } else {
            // The measured error of rounds has that of layers in it.
            ERROR_OF_ROUNDS + (self.unevenness() - 1.0).abs()
        }
    }

    /// Share of the fullest port in the sample over its share in the layer.
    pub fn unevenness(&self) -> f64 {
        self.imbalance / self.of_imbalance
    }

    pub(in crate::eval) fn layer_factor(&self) -> f64 {
        f64::from(self.of_layers) / f64::from(self.layers)
    }

    pub(in crate::eval) fn data_factor(&self) -> f64 {
        self.layer_factor() * self.of_segments as f64 / self.segments as f64
    }

    /// True if it is the whole step.
    pub fn is_whole(&self) -> bool {
        self.layers == self.of_layers && self.segments == self.of_segments
    }
}

/// The whole step. It is measured if all of it was run, with an error of 0. Otherwise it is extrapolated, as if the rest behaved
/// like the sample: data, fetches and the time they flow grow with segments and layers, PART and the rest of the time with layers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct WholeStep {
    /// Link traversals of all classes.
    pub traffic: f64,
    /// The same by class.
    pub flits_by_class: Flits,
    /// Cycles.
    pub cycles: f64,
    /// Error to expect of them, as a share: what the default sample had on whole layers, and the
    /// unevenness of this one. 0 for a whole step.
    pub error: f64,
    /// The same at the configured clock, in microseconds.
    pub latency_us: f64,
    /// Tokens of all streams per second, at the configured clock.
    pub tokens_per_second: f64,
    /// Energy in nJ.
    pub energy_nj: Energy,
}

/// The platform of the fabric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Platform {
    /// Bandwidth of external memory, in GB/s.
    pub bandwidth_gbs: f64,
    /// Latency of external memory, in ns.
    pub latency_ns: f64,
    /// Channels among which it is divided.
    pub channels: u32,
    /// Ports of the fabric.
    pub ports: u32,
    /// Clock of the network, in MHz.
    pub noc_mhz: f64,
}

/// All metrics of a run. Counts are those of all its steps together, of the part that was run; `whole` is the whole step.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DecodeRow {
    /// Name of the mapping.
    pub mapping: &'static str,
    /// Router-to-router link traversals of flits of all classes.
    pub traffic: u64,
    /// The same by class.
    #[schemars(schema_with = "by_class")]
    pub flits_by_class: BTreeMap<&'static str, u64>,
    /// Share of the link cycles across the middle columns, while KV traffic flows, that carry KV_DATA.
    pub useful: f64,
    /// Share of them in which a flit was ready and had no credit.
    pub stall: f64,
    /// Share of them that are neither.
    pub other: f64,
    /// Cycles of all steps, from the first word of queries to the last flit of outputs.
    pub cycles: u64,
    /// Cycles of these between the first and the last flit that a tile takes, of every layer.
    pub kv_cycles: u64,
    /// Gigabytes of KV per second read from external memory, over all of `cycles`.
    pub kv_gbs: f64,
    /// The same as a share of `memory.bandwidth_gbs`.
    pub share: f64,
    /// The same as a share of what refresh leaves of it.
    pub share_left: f64,
    /// Least cycles of the run, by part.
    pub bounds: Bounds,
    /// The same for `kv_cycles`.
    pub kv_phase: Phase,
    /// `cycles` of a step at the configured clock, in microseconds: of the part that was run.
    pub run_us: f64,
    /// Names of the part with the tightest bound and of those of at least nine tenths of it, the tightest first, with `+` between.
    pub bound_by: String,
    /// `cycles` over the larger of the bounds of bytes and arrays.
    pub over_bound: f64,
    /// Beats of the fullest memory port over the mean of all ports that have a home: 1 if all have as many.
    pub imbalance: f64,
    /// KV flits accepted per PE cycle in which a tile's FIFO holds one, over all tiles.
    pub accepted_a_cycle: f64,
    /// Energy in nJ.
    pub energy_nj: Energy,
    /// The part of a step that was run.
    pub sample: Sample,
    /// The whole step: measured if all of it was run, else extrapolated with an error.
    pub whole: WholeStep,
    /// Each step.
    pub steps: Vec<StepRow>,
    /// Homes that were exchanged, over all steps.
    pub swaps: usize,
    /// The platform.
    pub platform: Platform,
    /// Attended tokens of each stream.
    pub attended_tokens: u32,
    /// Flits that tiles took.
    pub delivered: u64,
    /// Head-flits: each of them counted for each head that wanted it.
    pub head_flits: u64,
    /// Flits that came before an earlier chunk of their slice was complete.
    pub overtaking: u64,
    /// Bytes read from external memory.
    pub memory_bytes: u64,
    /// PART packets that reached their roots.
    pub packets: u64,
    /// Sums of the tiles' counters.
    #[schemars(schema_with = "counters_schema")]
    pub counters: BTreeMap<&'static str, u64>,
    /// Number of violations.
    pub violations: u64,
    /// The first violations.
    pub violation_list: Vec<Violation>,
}

impl DecodeRow {
    /// All of the run.
    pub fn whole_phase(&self) -> Phase {
        let DecodeRow { cycles, kv_gbs, share, share_left, bounds, .. } = *self;
        Phase { cycles, kv_gbs, share, share_left, bounds }
    }
}
