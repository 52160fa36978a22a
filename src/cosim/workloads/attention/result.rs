//! Results of a run of attention.

use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::network::COUNTERS;
use crate::cosim::workloads::Passed;
use crate::design::Design;
use crate::emit::TILE_EVENTS;
use crate::model::cycle::common::Reached;
use crate::model::Root;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Activity of the stages of a tile in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Flits wait in the FIFO.
    pub fetched: bool,
    /// A K flit passes through the array.
    pub keys: bool,
    /// A V flit, or the flit of ones, passes through the array.
    pub values: bool,
    /// Weights of a block are being loaded.
    pub loads: bool,
    /// Results are being read.
    pub results: bool,
}

/// A logit beyond the range of the datapath: 2^31 before the scale. It saturates, and its head's
/// output is void.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Saturated {
    /// Stream.
    pub stream: u32,
    /// Query head.
    pub head: u32,
    /// The first token of the head with such a logit.
    pub token: u32,
}

impl std::fmt::Display for Saturated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Saturated { stream, head, token } = self;
        write!(f, "head {head}, stream {stream}: q.k of token {token} is beyond 2^31 and saturates; the output is void")
    }
}

/// m, l and o of a head at its root, before division and rounding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadSums {
    /// m; `None` if no token counts.
    pub max: Option<i32>,
    /// l, then o, in fixed point, times 2^m.
    pub numbers: Vec<i128>,
}

impl HeadSums {
    /// Sums of the model of a root.
    pub(super) fn of(root: &Root) -> HeadSums {
        let (l, o) = root.sums().split_last().expect("l is always there");
        HeadSums { max: root.max(), numbers: std::iter::once(l).chain(o).copied().collect() }
    }

    /// True if these, which a root shows, are those of the model. Without a token a root's m means
    /// nothing.
    fn are(&self, expected: &HeadSums) -> bool {
        (expected.max.is_none() || self.max == expected.max) && self.numbers == expected.numbers
    }
}

/// Results and counters of a run.
#[derive(Debug, Clone)]
pub struct AttentionResult {
    /// True if numbers were computed; if not, outputs are empty and not checked.
    pub numbers: bool,
    /// Output of each (stream, head), FP16; of a part of a job the halves of its [`State`](crate::model::State).
    pub outputs: BTreeMap<(u32, u32), Vec<u16>>,
    /// Outputs of the model of the datapath.
    pub expected: BTreeMap<(u32, u32), Vec<u16>>,
    /// Sums of each (stream, head) at its root; `None` if they were not observed.
    pub sums: Option<BTreeMap<(u32, u32), HeadSums>>,
    /// Sums of the model of the datapath.
    pub expected_sums: BTreeMap<(u32, u32), HeadSums>,
    /// Heads with logits beyond the range.
    pub saturated: Vec<Saturated>,
    /// (stream, head) whose outputs the core reported as void; empty for a device, which names one only.
    pub void: BTreeSet<(u32, u32)>,
    /// Clocks of the run; cycles are the network's unless stated otherwise.
    pub clocks: Clocks,
    /// Cycles from the first descriptor to the last output.
    pub cycles: u64,
    /// Cycles in which queries went in.
    pub query_cycles: u64,
    /// Cycle of the last KV flit that a tile accepted, from the first descriptor on.
    pub kv_cycles: u64,
    /// Counters of PaD, in cycles of its clock, by tile, in the order of
    /// [`pad_events`](crate::emit::pad_events).
    pub pad: Vec<Vec<u32>>,
    /// Counters of every tile.
    pub events: Vec<[u32; TILE_EVENTS.len()]>,
    /// Link counters of every tile.
    pub links: Vec<[u32; COUNTERS]>,
    /// PART packets that each column's root began to merge.
    pub packets: Vec<u64>,
    /// Flits read from each memory port.
    pub beats: Vec<u64>,
    /// Beats of queries, outputs and lists; 0 where they have no memory.
    pub io_beats: u64,
    /// New tokens of KV heads that were written to external memory.
    pub tokens_written: u64,
    /// Cycles from the last output until everything had settled: tokens written, homes at their places.
    pub settle_cycles: u64,
    /// (x, y) of tiles that exchanged their homes at the end of the run.
    pub swaps: Vec<[(u32, u32); 2]>,
    /// Events that the run passed, each with its cycle from the start on.
    pub passed: Passed,
    /// Every cycle of each tile, up to the requested number.
    pub timeline: Vec<Vec<Sample>>,
    /// Errors that tiles report, each by its name among the bits of ERROR and ERROR_INFO; they are violations, too.
    pub reported: Vec<(&'static str, u32)>,
    /// Broken rules of AXI4 at the ports of memory; they are violations, too.
    pub rules: Vec<String>,
    /// First cycle in which each fault of the memory took effect, in their order.
    pub struck: Vec<Option<u64>>,
    /// Cycle after the first descriptor in which the flit came whose bit was to be inverted.
    pub flipped: Option<u64>,
    /// Rare states that the fabric has reached; `None` if no model ran.
    pub reached: Option<Reached>,
    /// Broken promises of the design and of its memory.
    pub violations: Vec<String>,
}

impl AttentionResult {
    /// (stream, head) whose output, or sums before it, differ from the model's.
    pub fn wrong(&self) -> Vec<(u32, u32)> {
        let differs = |(of, output): &(&(u32, u32), &Vec<u16>)| self.expected.get(of) != Some(output);
        let outputs = self.outputs.iter().filter(differs).map(|(of, _)| *of);
        let wrong: BTreeSet<_> = outputs.chain(self.wrong_sums().unwrap_or_default()).collect();
        wrong.into_iter().collect()
    }

    /// (stream, head) whose m, l or o before division and rounding differ from the model's, or were
    /// not shown; `None` if none was observed.
    pub fn wrong_sums(&self) -> Option<Vec<(u32, u32)>> {
        let sums = self.sums.as_ref()?;
        let right =
            |of: &(u32, u32), expected: &HeadSums| sums.get(of).is_some_and(|sums| sums.are(expected));
        let wrong = self.expected_sums.iter().filter(|(of, expected)| !right(of, expected));
        Some(wrong.map(|(of, _)| *of).collect())
    }

    /// True if every output equals the model's in every bit, and so do the sums before it if they
    /// were observed.
    pub fn bit_exact(&self) -> bool {
        self.outputs == self.expected && self.wrong_sums().is_none_or(|wrong| wrong.is_empty())
    }

    /// The empty result of a run of this design with these clocks.
    pub(in crate::cosim) fn begun(design: &Design, clocks: Clocks, numbers: bool) -> AttentionResult {
        let tiles = design.mesh.tiles();
        AttentionResult {
            numbers,
            outputs: BTreeMap::new(),
            expected: BTreeMap::new(),
            sums: None,
            expected_sums: BTreeMap::new(),
            saturated: Vec::new(),
            void: BTreeSet::new(),
            clocks,
            cycles: 0,
            query_cycles: 0,
            kv_cycles: 0,
            pad: vec![vec![0; 32]; tiles],
            events: vec![[0; TILE_EVENTS.len()]; tiles],
            links: vec![[0; COUNTERS]; tiles],
            packets: vec![0; design.mesh.cols() as usize],
            beats: Vec::new(),
            io_beats: 0,
            tokens_written: 0,
            settle_cycles: 0,
            swaps: Vec::new(),
            passed: Passed::default(),
            timeline: vec![Vec::new(); tiles],
            reported: Vec::new(),
            rules: Vec::new(),
            struck: Vec::new(),
            flipped: None,
            reached: None,
            violations: Vec::new(),
        }
    }
}
