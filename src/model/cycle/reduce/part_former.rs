//! Part former: turns the sums of a context into a packet (`meshkv_part_former`). Only the timing of its
//! flits is modelled, not their payload.

use super::element_packer::ElementPacker;
use crate::design::SUMS_READ;
use crate::model::cycle::common::{DelayLine, Fifo};
use crate::model::cycle::mare::PartFlit;

/// Stages that convert a sum to FP32, and the register behind them.
const STAGES: u32 = 6;
/// Pairs that fit in addition to those of the margin.
const BEHIND: u32 = 16;
/// Packets with pairs in flight; a packet has at least 17.
const PACKETS: u32 = 8;

/// Incoming pair of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// It is that of l, and m is added.
    pub first: bool,
    /// Header of its packet; read with the first pair.
    pub of: PartFlit,
}

/// Waiting pairs, and the flit at the output.
#[derive(Debug, Clone)]
pub struct PartFormer {
    /// Pairs of o of a head.
    pairs: u32,
    stages: DelayLine,
    /// Pairs behind the stages.
    waiting: u32,
    /// Pairs that have entered and not left, and one that left in the last cycle.
    count: u32,
    popped: bool,
    room: bool,
    packets: Fifo<PartFlit>,
    /// Position of the oldest pair in its packet.
    position: u32,
    packer: ElementPacker<PartFlit>,
}

impl PartFormer {
    /// Creates a part former for heads of `head_dim` elements and flits of `flit_width` bits.
    pub fn new(head_dim: u32, flit_width: u32) -> PartFormer {
        PartFormer {
            pairs: head_dim / SUMS_READ,
            stages: DelayLine::default(),
            waiting: 0,
            count: 0,
            popped: false,
            room: false,
            packets: Fifo::new(PACKETS),
            position: 0,
            packer: ElementPacker::new(flit_width / 32 / SUMS_READ),
        }
    }

    /// There is room for the pair requested now: a register.
    pub fn has_room(&self) -> bool {
        self.room
    }

    /// Flit at the output.
    pub fn out(&self) -> Option<&PartFlit> {
        self.packer.out()
    }

    /// Nothing is in flight, and the room register says so.
    pub fn is_still(&self) -> bool {
        self.count == 0 && self.room && self.packer.is_empty()
    }

    /// Advances one cycle.
    pub fn step(&mut self, pair: Option<Pair>, ready: bool) {
        let takes = self.waiting > 0 && self.packer.takes(ready);
        let element = takes.then(|| self.element());
        if takes {
            self.pop();
        }
        self.packer.step(element, ready);
        self.waiting += u32::from(self.stages.comes());
        self.stages.step(pair.is_some(), STAGES);
        self.count = self.count + u32::from(pair.is_some()) - u32::from(self.popped);
        self.popped = takes;
        self.room = self.count <= BEHIND;
        if let Some(pair) = pair.filter(|pair| pair.first) {
            self.packets.push(pair.of);
        }
    }

    /// Returns the pair to be packed, as its flit, and whether it ends the flit.
    fn element(&self) -> (PartFlit, bool) {
        let of = self.packets.front().copied().unwrap_or_default();
        let (first, last) = (self.position == 0, self.position == self.pairs);
        (PartFlit { first, last, ..of }, first || last)
    }

    fn pop(&mut self) {
        self.waiting -= 1;
        self.position += 1;
        if self.position > self.pairs {
            self.position = 0;
            self.packets.pop();
        }
    }
}
