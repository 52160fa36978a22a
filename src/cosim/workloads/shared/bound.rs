//! The most cycles that a run may take, which follows from its work.
//!
//! A watchdog ends a run in which nothing moves. A livelock moves for ever: requests are repeated, flits go round, memory
//! is read again. So every run has a bound, too. It is the time in which each thing that the run has to move goes alone:
//! all flits over one link, a flit a cycle; all reads from one channel of memory; each slice with the whole of its longest
//! wait. [`MARGIN`] times their sum leaves room for what they cost each other: turns at a port, windows of credits, edges
//! of another clock. No run that ends has come near it; a livelock passes it.

use crate::cosim::dut::clocks::Clocks;
use crate::cosim::faults::TIMEOUT;
use crate::cosim::memory::{Behaviour, FaultKind};
use crate::design::{Array, Descriptor, Design};
use std::fmt;

/// Times the sum of all parts.
const MARGIN: u64 = 4;
/// Cycles for what a run of any size has: start, settling, scans.
const CONSTANT: u64 = 4_096;

/// The bound of a run, part by part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    parts: Vec<(&'static str, u64)>,
    cycles: u64,
}

/// What makes a run slower than its design.
#[derive(Debug, Clone, Copy)]
pub(in crate::cosim) struct Pace {
    /// Cycles that a tile takes for a flit.
    pub(in crate::cosim) flit_cycles: u32,
    /// Cycles of 256 in which nothing is taken.
    pub(in crate::cosim) stall: u8,
    /// The clocks.
    pub(in crate::cosim) clocks: Clocks,
}

impl Bound {
    /// The bound of a run with these parts, in cycles.
    pub(in crate::cosim) fn new(parts: &[(&'static str, u64)]) -> Bound {
        let parts: Vec<_> = parts.iter().copied().filter(|(_, cycles)| *cycles > 0).collect();
        let sum = parts.iter().fold(CONSTANT, |sum, (_, cycles)| sum.saturating_add(*cycles));
        Bound { parts, cycles: sum.saturating_mul(MARGIN) }
    }

    /// The bound of descriptors whose `flits` tiles take, counted for each tile.
    pub(in crate::cosim) fn of_descriptors(
        design: &Design,
        descriptors: &[Descriptor],
        flits: u64,
        behaviour: &Behaviour,
        pace: Pace,
    ) -> Bound {
        let (model, heads) = (&design.model, u64::from(design.model.heads));
        let streams: u64 = descriptors.iter().map(|d| u64::from(d.streams)).sum();
        let of_streams = |d: &Descriptor| u64::from(d.count) * u64::from(d.streams);
        let slices = descriptors.iter().map(of_streams).sum::<u64>() * heads;
        let dim = u64::from(design.pe.head_dim);
        let rows = u64::from(design.mesh.rows());
        let closes = streams * heads * rows * 2 * dim;
        let appended = descriptors.iter().filter(|d| d.append).count() as u64;
        let places = design.mesh.tiles() as u64 * if design.swaps() { 64 } else { 1 };
        let passes = passes(design, descriptors);
        Bound::new(&[
            ("queries go in, a group of four elements a cycle", streams * heads * dim.div_ceil(4)),
            (
                "flits pass one tile",
                slowed(flits * passes * u64::from(pace.flit_cycles), pace.stall, &pace.clocks),
            ),
            ("memory reads each flit for each tile from one channel", read(design, flits, behaviour)),
            ("slices wait, each alone", slices.saturating_mul(wait(design, behaviour))),
            ("partial results and outputs go one by one", slowed(closes, pace.stall, &pace.clocks)),
            (
                "new tokens are written one by one",
                appended * u64::from(model.kv_heads) * 8 * dim * latency(behaviour),
            ),
            ("homes settle", places * 64),
        ])
    }

    /// The bound of fetches: flits and commands of all tiles, and the last cycle in which anything is due to begin.
    pub(in crate::cosim) fn of_fetches(
        design: &Design,
        flits: u64,
        commands: u64,
        last: u64,
        stall: u8,
    ) -> Bound {
        let wait = way(design) + 2 * u64::from(design.mare.retry_cycles().1);
        let clocks = Clocks::IN_STEP;
        Bound::new(&[
            ("the last command is due", last),
            ("flits pass one tile", slowed(flits, stall, &clocks)),
            ("commands wait, each alone", commands.saturating_mul(wait)),
        ])
    }

    /// The same with another part.
    #[must_use]
    pub(in crate::cosim) fn and(self, what: &'static str, cycles: u64) -> Bound {
        let mut parts = self.parts;
        parts.push((what, cycles));
        Bound::new(&parts)
    }

    /// Cycles after which a run is not going to end.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> =
            self.parts.iter().map(|(what, cycles)| format!("{cycles} in which {what}")).collect();
        write!(f, "{MARGIN} times the sum of {CONSTANT}, {}", parts.join(", "))
    }
}

/// Cycles of the network for so many of a tile that takes nothing in `stall` of 256.
fn slowed(cycles: u64, stall: u8, clocks: &Clocks) -> u64 {
    let ratio = (clocks.noc_mhz / clocks.pe_mhz).max(1.0) * 256.0 / (256.0 - f64::from(stall));
    (cycles as f64 * ratio).ceil() as u64
}

/// Passes of a flit through an array: its heads and streams take turns where they are more than rows.
fn passes(design: &Design, descriptors: &[Descriptor]) -> u64 {
    let most = descriptors.iter().map(|d| d.streams).max().unwrap_or(1);
    u64::from((design.model.heads * most).div_ceil(Array::of(design).stages().max(1)))
}

/// Cycles in which one channel reads so many flits.
fn read(design: &Design, flits: u64, behaviour: &Behaviour) -> u64 {
    let bytes = flits as f64 * f64::from(design.flit.data_width / 8);
    let share = (256.0 - f64::from(behaviour.beat_gap)) / 256.0;
    (bytes / behaviour.mean_bytes_per_cycle() / share).ceil() as u64
}

/// Longest time of an answer of memory in cycles.
fn latency(behaviour: &Behaviour) -> u64 {
    let rest = behaviour.refresh.map_or(0, |refresh| refresh.rest);
    u64::from(behaviour.latency + behaviour.jitter + rest) + 64
}

/// Cycles from one corner of the mesh to the other and back.
fn way(design: &Design) -> u64 {
    let hops = design.mesh.cols() + design.mesh.rows();
    2 * u64::from(hops) * (u64::from(design.router.stages) + 2)
}

/// Longest wait for a slice in cycles: memory, the tree, a repeated request, both ways, and times in which memory is given
/// up where it may not answer.
fn wait(design: &Design, behaviour: &Behaviour) -> u64 {
    let mare = &design.mare;
    let retry = 2 * u64::from(mare.retry_cycles().1);
    let tree = u64::from(mare.coalesce_window + mare.tree_cycles);
    let silent = |kind| {
        matches!(kind, FaultKind::Mute | FaultKind::Deaf | FaultKind::Late(_) | FaultKind::Still { .. })
    };
    let lost = if behaviour.faults.iter().any(|fault| silent(fault.kind)) { TIMEOUT + retry } else { 0 };
    latency(behaviour) + tree + way(design) + retry + lost
}
