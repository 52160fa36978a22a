//! A run of decode steps as it is printed and kept: traffic, bisection, time, energy, and what bounds it.

use super::bounds::{Bounds, Phase};
use super::energy::Energy;
use crate::cosim::checks::violation::Violation;
use serde::Serialize;
use std::collections::BTreeMap;

/// Link traversals by class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Flits {
    /// PART.
    pub part: f64,
    /// KV_FETCH.
    pub kv_fetch: f64,
    /// KV_DATA.
    pub kv_data: f64,
}

impl Flits {
    /// All classes.
    pub fn all(&self) -> f64 {
        self.part + self.kv_fetch + self.kv_data
    }
}

/// Share of the time KV traffic flows in which the busiest of a kind is busy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Utilisation {
    /// The busiest port of external memory, of the bandwidth it has.
    pub external_memory: f64,
    /// The home that streams most flits, of one a cycle.
    pub home_injection: f64,
    /// The busier direction of the links across the middle columns, of one flit a cycle and link.
    pub bisection: f64,
    /// The tile that takes most flits, at its pace.
    pub tile: f64,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepRow {
    /// From the first word of its queries to the last flit of its outputs.
    pub cycles: u64,
    /// Sum of the squares of its homes' occupancies; none where homes never swap.
    pub occupancy_squares: Option<f64>,
    /// Sum of the squares of its rows' occupancies, which swaps are to lower; none where homes never swap.
    pub row_squares: Option<f64>,
    /// Tiles, as (x, y), that exchanged their homes after it.
    pub swaps: Vec<[(u32, u32); 2]>,
}

/// How much of a decode step was run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sample {
    /// Layers that were run.
    pub layers: u32,
    /// Layers of the model.
    pub of_layers: u32,
    /// Segments of a layer that were run, over all streams; what they share counts once.
    pub segments: u64,
    /// Segments of a layer that are attended to.
    pub of_segments: u64,
}

impl Sample {
    pub(super) fn layer_factor(&self) -> f64 {
        f64::from(self.of_layers) / f64::from(self.layers)
    }

    pub(super) fn data_factor(&self) -> f64 {
        self.layer_factor() * self.of_segments as f64 / self.segments as f64
    }

    /// Whether it is all there is.
    pub fn is_whole(&self) -> bool {
        self.layers == self.of_layers && self.segments == self.of_segments
    }
}

/// What a whole step would take if what was not run is like what was: data, fetches and the time they flow grow
/// with segments and layers, PART and the rest of the time with layers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WholeStep {
    /// Link traversals of all classes.
    pub traffic: f64,
    /// The same by class.
    pub flits_by_class: Flits,
    /// Cycles.
    pub cycles: f64,
    /// The same at the configured clock, in microseconds.
    pub latency_us: f64,
    /// Tokens of all streams a cycle.
    pub tokens_per_cycle: f64,
    /// In nJ.
    pub energy_nj: Energy,
}

/// The platform that the fabric stands on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Platform {
    /// Bandwidth of external memory, in GB/s.
    pub bandwidth_gbs: f64,
    /// Latency of external memory, in ns.
    pub latency_ns: f64,
    /// Ports that share it.
    pub ports: u32,
    /// Clock of the network, in MHz.
    pub noc_mhz: f64,
}

/// All metrics of a run. Counts are those of all its steps together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DecodeRow {
    /// Router-to-router link traversals of flits of all classes.
    pub traffic: u64,
    /// The same by class.
    pub flits_by_class: BTreeMap<&'static str, u64>,
    /// Share of the link cycles across the middle columns, while KV traffic flows, that carry KV_DATA.
    pub useful: f64,
    /// Share in which a flit was ready and had no credit.
    pub stall: f64,
    /// The rest.
    pub other: f64,
    /// From the first word of queries to the last flit of outputs, of all steps.
    pub cycles: u64,
    /// Of them those between the first flit that a tile takes and the last, of every layer.
    pub kv_cycles: u64,
    /// Gigabytes of KV a second read from external memory, over all of `cycles`.
    pub kv_gbs: f64,
    /// The same as a share of `memory.bandwidth_gbs`.
    pub share: f64,
    /// What the run could not be faster than.
    pub bounds: Bounds,
    /// The same of `kv_cycles`.
    pub kv_phase: Phase,
    /// `cycles` of a step at the configured clock, in microseconds.
    pub latency_us: f64,
    /// Steps of all streams a cycle: tokens a cycle, of what was run of each.
    pub tokens_per_cycle: f64,
    /// The tightest bound, by its name.
    pub bound_by: &'static str,
    /// How much each is used.
    pub utilisation: Utilisation,
    /// In nJ.
    pub energy_nj: Energy,
    /// How much of a step was run.
    pub sample: Sample,
    /// What a whole step would take: an extrapolation, and no measurement.
    pub extrapolated: WholeStep,
    /// Each step.
    pub steps: Vec<StepRow>,
    /// Homes that were exchanged, over all steps.
    pub swaps: usize,
    /// The platform.
    pub platform: Platform,
    /// Tokens attended to of each stream.
    pub attended_tokens: u32,
    /// Flits that tiles took.
    pub delivered: u64,
    /// The same, once a head that wanted them.
    pub head_flits: u64,
    /// Flits that came before a chunk of their slice that goes before theirs.
    pub overtaking: u64,
    /// Bytes read from external memory.
    pub memory_bytes: u64,
    /// PART packets that reached their roots.
    pub packets: u64,
    /// Sums of the tiles' counters.
    pub counters: BTreeMap<&'static str, u64>,
    /// Violations, all of them.
    pub violations: u64,
    /// The first of them.
    pub violation_list: Vec<Violation>,
}
