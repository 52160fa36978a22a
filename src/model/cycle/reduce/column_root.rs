//! Reduce root of a column (`meshkv_column_root`): timing of merges and outputs.
//!
//! Timing does not depend on values, so none are computed. [`Root`](crate::model::Root) computes them,
//! merging in the order given by [`ReduceRoot::merge`].

use super::element_packer::ElementPacker;
use super::reduce_inlet::ReduceInlet;
use crate::design::Design;
use crate::model::cycle::common::{DelayLine, Fifo};
use crate::model::cycle::mare::RootFlit;

/// Cycles from a number to the sum that it is added to, to its leading bits, and to its element of the
/// output.
const SUM: u32 = 5;
const LEAD: u32 = 10;
const ROUND: u32 = 15;
/// Cycles of the division.
const DIVIDE: u32 = 35;
/// Largest number of elements in flight to the output.
const OUT_DEPTH: u32 = 32;

/// Flit of an output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutFlit {
    /// Stream.
    pub stream: u32,
    /// Layer.
    pub layer: u32,
    /// Query head, by its place in the column.
    pub head: u32,
    /// Position in the output.
    pub index: u32,
    /// Last flit of the head.
    pub last: bool,
}

/// Start of a merge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Merge {
    /// Stream.
    pub stream: u32,
    /// Query head, by its place in the column.
    pub head: u32,
    /// Row of the sending tile.
    pub y: u32,
}

/// A number of the last partial of a head, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summed {
    /// It is l.
    pub first: bool,
}

/// Phase of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Contexts still to be cleared after reset.
    Clear(u32),
    Wait,
    Look,
    Compare,
    Prepare,
    First,
    Divide,
    Stream,
}

/// State of all heads, and of the packet in progress.
#[derive(Debug, Clone)]
pub struct ReduceRoot {
    inlet: ReduceInlet,
    head_dim: u32,
    heads: u32,
    partials: u32,
    /// Partials merged, by stream and head.
    merged: Box<[u32]>,
    phase: Phase,
    /// The packet is the last of its head.
    ends: bool,
    divided: DelayLine,
    /// Numbers of a head's last partial under way to their sums, and those of them that are l.
    sums: [DelayLine; 2],
    elements: DelayLine,
    /// Elements waiting, and elements begun that have not left.
    waiting: u32,
    count: u32,
    room: bool,
    /// Heads of elements in flight, and the position of the oldest element.
    outputs: Fifo<OutFlit>,
    position: u32,
    packer: ElementPacker<OutFlit>,
    index: u32,
}

impl ReduceRoot {
    /// Creates the root of a column in its reset state.
    pub fn new(design: &Design) -> ReduceRoot {
        let (config, heads) = (&design.config, design.heads.most());
        let contexts = config.model.max_streams * heads;
        let (sources, depth) = (design.router.vn0_vcs + 1, design.router.vc_depth);
        let (head_dim, width) = (config.pe.head_dim, design.flit.data_width);
        ReduceRoot {
            inlet: ReduceInlet::new(sources, depth, head_dim, width),
            head_dim,
            heads,
            partials: design.mesh.rows(),
            merged: vec![0; contexts as usize].into(),
            phase: Phase::Clear(contexts),
            ends: false,
            divided: DelayLine::default(),
            sums: [DelayLine::default(); 2],
            elements: DelayLine::default(),
            waiting: 0,
            count: 0,
            room: false,
            // A head has at least `OUT_DEPTH` elements, so few heads are in flight.
            outputs: Fifo::new(4),
            position: 0,
            packer: ElementPacker::new(width / 16),
            index: 0,
        }
    }

    /// Freed slots, a bit a source: a register.
    pub fn credit(&self) -> u32 {
        self.inlet.credit()
    }

    /// Flit of an output: a register.
    pub fn out(&self) -> Option<OutFlit> {
        self.packer.out().map(|flit| OutFlit { index: self.index, ..*flit })
    }

    /// Merge that begins in this cycle.
    pub fn merge(&self) -> Option<Merge> {
        let of = self.inlet.of();
        (self.phase == Phase::First).then_some(Merge { stream: of.part.stream, head: of.part.head, y: of.y })
    }

    /// Sum that is complete in this cycle.
    pub fn summed(&self) -> Option<Summed> {
        let [numbers, firsts] = self.sums;
        numbers.comes().then(|| Summed { first: firsts.comes() })
    }

    /// Advances one cycle.
    pub fn step(&mut self, flit: Option<&RootFlit>, out_ready: bool) {
        if flit.is_none() && self.is_still() {
            return;
        }
        let number = self.inlet.number();
        let streams = self.phase == Phase::Stream && (self.room || !self.ends);
        let takes = number.filter(|_| self.phase == Phase::First || streams);
        let sums = takes.filter(|_| self.ends);
        self.sums[0].step(sums.is_some(), SUM);
        self.sums[1].step(sums == Some(0), SUM);
        self.give(takes, out_ready);
        self.turn(number, takes);
        self.inlet.step(flit, takes.is_some());
    }

    fn is_still(&self) -> bool {
        let empty = self.phase == Phase::Wait && self.count == 0 && self.room;
        empty && self.packer.is_empty() && self.inlet.is_still()
    }

    /// Moves elements to the output.
    fn give(&mut self, takes: Option<u32>, out_ready: bool) {
        let begun = takes.is_some_and(|index| index > 0) && self.ends;
        let leaves = self.packer.out().is_some() && out_ready;
        if let Some(flit) = self.packer.out().filter(|_| leaves) {
            self.index = if flit.last { 0 } else { self.index + 1 };
        }
        let packs = self.waiting > 0 && self.packer.takes(out_ready);
        let element = packs.then(|| self.element());
        self.packer.step(element, out_ready);
        if packs {
            self.waiting -= 1;
        }
        self.waiting += u32::from(self.elements.comes());
        self.elements.step(begun, ROUND);
        self.count = self.count + u32::from(begun) - u32::from(packs);
        self.room = self.count != OUT_DEPTH;
    }

    fn element(&mut self) -> (OutFlit, bool) {
        let of = self.outputs.front().copied().unwrap_or_default();
        self.position += 1;
        let last = self.position == self.head_dim;
        if last {
            self.position = 0;
            self.outputs.pop();
        }
        (OutFlit { last, ..of }, last)
    }

    /// Advances the phase of the packet.
    fn turn(&mut self, number: Option<u32>, takes: Option<u32>) {
        let divided = self.divided.comes();
        self.divided.step(self.phase == Phase::First && self.ends, LEAD + DIVIDE);
        self.phase = match self.phase {
            Phase::Clear(left) if left > 1 => Phase::Clear(left - 1),
            Phase::Clear(_) => Phase::Wait,
            Phase::Wait if number.is_some() => Phase::Look,
            Phase::Look => Phase::Compare,
            Phase::Compare => {
                self.count_partial();
                Phase::Prepare
            }
            Phase::Prepare => Phase::First,
            Phase::First if self.ends => Phase::Divide,
            Phase::First => Phase::Stream,
            Phase::Divide if divided => {
                let part = &self.inlet.of().part;
                let (stream, layer, head) = (part.stream, part.layer, part.head);
                self.outputs.push(OutFlit { stream, layer, head, ..OutFlit::default() });
                Phase::Stream
            }
            Phase::Stream if takes == Some(self.head_dim) => Phase::Wait,
            same => same,
        };
    }

    /// Counts a partial and notes whether the packet is its head's last. The count then restarts.
    fn count_partial(&mut self) {
        let part = &self.inlet.of().part;
        let merged = &mut self.merged[(part.stream * self.heads + part.head) as usize];
        self.ends = part.alone || *merged + 1 == self.partials;
        *merged = if self.ends { 0 } else { *merged + 1 };
    }
}
