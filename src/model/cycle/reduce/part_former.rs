//! Sums of a context become a packet (`meshkv_part_former`): when its flits come, not what is in them.

use super::element_packer::ElementPacker;
use crate::model::cycle::common::{DelayLine, Fifo};
use crate::model::cycle::mare::PartFlit;

/// Stages that make FP32 of a sum, and the register behind them.
const STAGES: u32 = 6;
/// Numbers that fit beside those of the margin.
const BEHIND: u32 = 16;
/// Packets of which numbers are under way: a packet has 33 at least.
const PACKETS: u32 = 8;

/// A number as it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// It is l.
    pub first: bool,
    /// Whose it is; read with the first.
    pub of: PartFlit,
}

/// Numbers that wait, and the flit that they become.
#[derive(Debug, Clone)]
pub struct PartFormer {
    head_dim: u32,
    stages: DelayLine,
    /// Numbers behind the stages.
    waiting: u32,
    /// Numbers that have come and not left.
    count: u32,
    room: bool,
    packets: Fifo<PartFlit>,
    /// Number of the oldest one in its packet; with l, whether m is in.
    position: u32,
    max_in: bool,
    packer: ElementPacker<PartFlit>,
}

impl PartFormer {
    /// One for heads of so many elements in flits of so many bits.
    pub fn new(head_dim: u32, flit_width: u32) -> PartFormer {
        PartFormer {
            head_dim,
            stages: DelayLine::default(),
            waiting: 0,
            count: 0,
            room: false,
            packets: Fifo::new(PACKETS),
            position: 0,
            max_in: false,
            packer: ElementPacker::new(flit_width / 32),
        }
    }

    /// There is room for the number that is asked for now: a register.
    pub fn has_room(&self) -> bool {
        self.room
    }

    /// The flit that waits.
    pub fn out(&self) -> Option<&PartFlit> {
        self.packer.out()
    }

    /// Nothing is under way, and this is known.
    pub fn is_still(&self) -> bool {
        self.count == 0 && self.room && self.packer.is_empty()
    }

    /// Passes a cycle.
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
        self.count = self.count + u32::from(number.is_some()) - u32::from(pops);
        self.room = self.count <= BEHIND;
        if let Some(number) = number.filter(|number| number.first) {
            self.packets.push(number.of);
        }
    }

    /// The element that is packed, as its flit would be, and whether it ends the flit.
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
