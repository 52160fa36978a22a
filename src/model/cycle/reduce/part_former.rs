//! Part former: turns the sums of a context into a packet (`meshkv_part_former`). Only the timing of its
//! flits is modelled, not their payload.

use super::element_packer::ElementPacker;
use crate::model::cycle::common::{DelayLine, Fifo};
use crate::model::cycle::mare::PartFlit;

/// Stages that convert a sum to FP32, and the register behind them.
const STAGES: u32 = 6;
/// Numbers that fit in addition to those of the margin.
const BEHIND: u32 = 16;
/// Packets with numbers in flight; a packet has at least 33.
const PACKETS: u32 = 8;

/// Incoming number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// It is l.
    pub first: bool,
    /// Header of its packet; read with the first number.
    pub of: PartFlit,
}

/// Waiting numbers, and the flit at the output.
#[derive(Debug, Clone)]
pub struct PartFormer {
    head_dim: u32,
    stages: DelayLine,
    /// Numbers behind the stages.
    waiting: u32,
    /// Numbers that have entered and not left, and one that left in the last cycle.
    count: u32,
    popped: bool,
    room: bool,
    packets: Fifo<PartFlit>,
    /// Position of the oldest number in its packet; for l, whether m is packed.
    position: u32,
    max_in: bool,
    packer: ElementPacker<PartFlit>,
}

impl PartFormer {
    /// Creates a part former for heads of `head_dim` elements and flits of `flit_width` bits.
    pub fn new(head_dim: u32, flit_width: u32) -> PartFormer {
        PartFormer {
            head_dim,
            stages: DelayLine::default(),
            waiting: 0,
            count: 0,
            popped: false,
            room: false,
            packets: Fifo::new(PACKETS),
            position: 0,
            max_in: false,
            packer: ElementPacker::new(flit_width / 32),
        }
    }

    /// There is room for the number requested now: a register.
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
    pub fn step(&mut self, number: Option<Number>, ready: bool) {
        let takes = self.waiting > 0 && self.packer.takes(ready);
        let is_max = self.position == 0 && !self.max_in;
        let element = takes.then(|| self.element());
        let pops = takes && !is_max;
        if takes {
            self.max_in = is_max;
        }
        if pops {
            self.pop();
        }
        self.packer.step(element, ready);
        self.waiting += u32::from(self.stages.comes());
        self.stages.step(number.is_some(), STAGES);
        self.count = self.count + u32::from(number.is_some()) - u32::from(self.popped);
        self.popped = pops;
        self.room = self.count <= BEHIND;
        if let Some(number) = number.filter(|number| number.first) {
            self.packets.push(number.of);
        }
    }

    /// Returns the element to be packed, as its flit, and whether it ends the flit.
    fn element(&self) -> (PartFlit, bool) {
        let of = self.packets.front().copied().unwrap_or_default();
        let (first, last) = (self.position == 0, self.position == self.head_dim);
        (PartFlit { first, last, ..of }, if first { self.max_in } else { last })
    }

    fn pop(&mut self) {
        self.waiting -= 1;
        self.position += 1;
        if self.position > self.head_dim {
            self.position = 0;
            self.packets.pop();
        }
    }
}
