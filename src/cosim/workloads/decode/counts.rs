//! Counts of a run of decode steps.

use super::error::DecodeError;
use crate::cosim::checks::violation::{Violation, ViolationKind};
use crate::cosim::dut::network::{COUNTERS, COUNTERS_PER_PORT};
use crate::cosim::faults::{Outputs, Seen};
use crate::cosim::memory::PortCounts;
use crate::cosim::workloads::shared::tile_errors::TileError;
use crate::design::{Class, Design, Mesh, NodeId, Port};
use crate::emit::TILE_EVENTS;
use crate::model::cycle::common::Reached;
use serde::Serialize;
use std::collections::BTreeMap;

/// Two tiles that exchanged their homes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Swap {
    /// Cycle.
    pub cycle: u64,
    /// (x, y) of the tiles.
    pub tiles: [(u32, u32); 2],
}

/// One decode step.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StepCounts {
    /// Cycle in which the first word of its queries was accepted.
    pub start: Option<u64>,
    /// Cycle in which the last flit of its outputs left a root.
    pub end: u64,
    /// Cycles of each layer in which a tile took the first KV flit and the last.
    pub kv: BTreeMap<u32, (u64, u64)>,
    /// Occupancy of each tile's home after the step, as sampled by the fabric.
    pub occupancy: Vec<u64>,
    /// Homes that were exchanged after it.
    pub swaps: Vec<Swap>,
}

impl StepCounts {
    /// Cycles from the first word of its queries to the last flit of its outputs.
    pub fn cycles(&self) -> u64 {
        self.end + 1 - self.start.unwrap_or(self.end)
    }

    /// Sum of the squares of its homes' occupancies.
    pub fn occupancy_squares(&self) -> f64 {
        self.occupancy.iter().map(|&o| (o as f64).powi(2)).sum()
    }

    /// Sum of the squares of its rows' occupancies, on a mesh of `cols` columns. Swaps should lower
    /// it.
    pub fn row_squares(&self, cols: u32) -> f64 {
        let rows = self.occupancy.chunks(cols as usize);
        rows.map(|row| row.iter().sum::<u64>()).map(|sum| (sum as f64).powi(2)).sum()
    }
}

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// Periods since reset, including those that only read counters.
    pub periods: u64,
    /// Cycles of all steps, from the first word of queries to the last flit of outputs.
    pub cycles: u64,
    /// Cycles between the first and the last KV flit of every layer; overlapping ones count once.
    pub kv_cycles: u64,
    /// The steps.
    pub steps: Vec<StepCounts>,
    /// Each tile's link counters.
    pub links: Vec<[u32; COUNTERS]>,
    /// Each tile's counters, in the order of [`TILE_EVENTS`].
    pub events: Vec<[u32; TILE_EVENTS.len()]>,
    /// The memory ports.
    pub ports: Vec<PortCounts>,
    /// Flits that each tile took.
    pub taken: Vec<u64>,
    /// Counters of each tile's array, in cycles of its clock, in the order of
    /// [`pad_events`](crate::emit::pad_events).
    pub pad: Vec<Vec<u32>>,
    /// Head-flits: each flit taken, counted for each head that wanted it.
    pub head_flits: u64,
    /// Flits that came before an earlier chunk of their slice was complete.
    pub overtaking: u64,
    /// Jobs given to tiles.
    pub jobs: u64,
    /// PART packets that reached their roots.
    pub packets: u64,
    /// PART packets by column.
    pub packets_by_column: Vec<u64>,
    /// New tokens of KV heads that came out for external memory.
    pub tokens_written: u64,
    /// Reports of a failed memory.
    pub faults: Vec<TileError>,
    /// First cycle in which each fault of the plan's memory took effect, in their order.
    pub struck: Vec<Option<u64>>,
    /// Cycle in which the flit came whose bit the plan inverts.
    pub flipped: Option<u64>,
    /// Rare states that the fabric has reached; `None` if no model ran.
    pub reached: Option<Reached>,
    /// Number of violations.
    pub violations: u64,
    /// The first violations with their messages.
    pub violation_list: Vec<Violation>,
}

impl Decoded {
    /// The same, unless a tile reports an error.
    ///
    /// # Errors
    /// [`DecodeError::Reported`].
    pub fn trusted(self) -> Result<Decoded, DecodeError> {
        let Some(first) = self.faults.first().copied() else { return Ok(self) };
        let others = match self.faults.len() - 1 {
            0 => String::new(),
            n => format!(", and {n} more such reports"),
        };
        Err(DecodeError::Reported { first, others, all: self.faults })
    }

    /// The report of a run with faults. What tiles take and send stands for outputs.
    pub fn seen(&self, design: &Design) -> Seen {
        let errors = self.faults.iter().map(|error| error.in_registers(design.mesh));
        let rules = self.violation_list.iter().filter(|one| one.kind == ViolationKind::Protocol);
        let rules: Vec<String> = rules.map(|one| one.message.clone()).collect();
        let others = self.violation_list.iter().any(|one| one.kind != ViolationKind::Protocol);
        let wrong = if others { self.violations as usize - rules.len() } else { 0 };
        let all = self.head_flits as usize;
        let outputs = if wrong == 0 { Outputs::Right(all) } else { Outputs::Wrong(wrong, all) };
        Seen { errors: errors.collect(), rules, outputs, ended: None, cleared: false }
    }

    /// One counter of each tile.
    ///
    /// # Panics
    /// If no counter has this name.
    pub fn event_by_tile(&self, name: &str) -> Vec<u64> {
        let at = TILE_EVENTS.iter().position(|&e| e == name).unwrap_or_else(|| panic!("no counter {name}"));
        self.events.iter().map(|tile| u64::from(tile[at])).collect()
    }

    /// The sum of one counter over all tiles.
    ///
    /// # Panics
    /// If no counter has this name.
    pub fn event(&self, name: &str) -> u64 {
        self.event_by_tile(name).iter().sum()
    }

    /// The counters of one directed link, by its sender: PART, KV_FETCH, KV_DATA, blocked, idle.
    pub fn link(&self, from: NodeId, port: Port) -> [u64; COUNTERS_PER_PORT] {
        let first = port.index() * COUNTERS_PER_PORT;
        std::array::from_fn(|i| u64::from(self.links[from.index()][first + i]))
    }

    /// Router-to-router link traversals of a class.
    pub fn traversals(&self, mesh: Mesh, class: Class) -> u64 {
        let links = mesh.nodes().flat_map(|node| Port::ALL.map(|port| (node, port)));
        let real = links.filter(|&(node, port)| mesh.neighbour(node, port).is_some());
        real.map(|(node, port)| self.link(node, port)[class as usize]).sum()
    }
}

/// Number of cycles in any of these spans, ends included.
pub(super) fn covered(mut spans: Vec<(u64, u64)>) -> u64 {
    spans.sort_unstable();
    let (mut cycles, mut end) = (0, 0);
    for (first, last) in spans {
        let first = first.max(end);
        cycles += (last + 1).saturating_sub(first);
        end = end.max(last + 1);
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_of_two_steps_count_once() {
        assert_eq!(covered(vec![]), 0);
        assert_eq!(covered(vec![(0, 0)]), 1);
        assert_eq!(covered(vec![(20, 29), (0, 9)]), 20);
        assert_eq!(covered(vec![(0, 9), (5, 14), (6, 8)]), 15);
    }
}
