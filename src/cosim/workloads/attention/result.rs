//! Results of a run of attention.

use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::network::COUNTERS;
use crate::design::Design;
use crate::emit::TILE_EVENTS;
use std::collections::BTreeMap;

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

/// Results and counters of a run.
#[derive(Debug, Clone)]
pub struct AttentionResult {
    /// True if numbers were computed; if not, outputs are empty and not checked.
    pub numbers: bool,
    /// Output of each (stream, head), FP16.
    pub outputs: BTreeMap<(u32, u32), Vec<u16>>,
    /// Outputs of the model of the datapath.
    pub expected: BTreeMap<(u32, u32), Vec<u16>>,
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
    /// Every cycle of each tile, up to the requested number.
    pub timeline: Vec<Vec<Sample>>,
    /// Broken rules of the memory.
    pub violations: Vec<String>,
}

impl AttentionResult {
    /// (stream, head) whose output differs from the model's.
    pub fn wrong(&self) -> Vec<(u32, u32)> {
        let differs = |(of, output): &(&(u32, u32), &Vec<u16>)| self.expected.get(of) != Some(output);
        self.outputs.iter().filter(differs).map(|(of, _)| *of).collect()
    }

    /// True if every output equals the model's in every bit.
    pub fn bit_exact(&self) -> bool {
        self.outputs == self.expected
    }

    /// The empty result of a run of this design with these clocks.
    pub(in crate::cosim) fn begun(design: &Design, clocks: Clocks, numbers: bool) -> AttentionResult {
        let tiles = design.mesh.tiles();
        AttentionResult {
            numbers,
            outputs: BTreeMap::new(),
            expected: BTreeMap::new(),
            clocks,
            cycles: 0,
            query_cycles: 0,
            kv_cycles: 0,
            pad: vec![vec![0; 32]; tiles],
            events: vec![[0; TILE_EVENTS.len()]; tiles],
            links: vec![[0; COUNTERS]; tiles],
            packets: vec![0; design.mesh.cols() as usize],
            beats: Vec::new(),
            timeline: vec![Vec::new(); tiles],
            violations: Vec::new(),
        }
    }
}
