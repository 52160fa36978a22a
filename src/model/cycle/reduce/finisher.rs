//! The end of a head: its sums are divided by l and returned, several numbers a cycle (`meshkv_reduce_finisher`).

use super::element_packer::ElementPacker;
use crate::model::cycle::common::{DelayLine, Fifo};

/// Cycles from a finished head's numbers to their leading bits, and to their elements of the output.
const LEAD: u32 = 6;
const ROUND: u32 = 11;
/// Cycles of the division.
const DIVIDE: u32 = 18;
/// Heads that wait to be finished.
const PLACES: u32 = 2;
/// Most draws in flight to the output, and those of the smallest head: 32 numbers, four a draw.
const OUT_DEPTH: u32 = 32;
const FEWEST_DRAWS: u32 = 8;

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
    /// It is a partial result: a flit with l and m, then those of o in FP32.
    pub partial: bool,
}

/// Numbers of a finished head: l, or some of o.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summed {
    /// It is l.
    pub first: bool,
}

/// Heads that are complete, on their way to the output.
#[derive(Debug, Clone)]
pub(super) struct Finisher {
    /// Draws of o of a head, and of l and m of a partial result: together, or one by one where a draw is one number.
    draws: u32,
    header: u32,
    /// Places taken, and heads whose l waits for the divider, and that are added up.
    taken: u32,
    ready: u32,
    whole: u32,
    /// Heads whose packets have ended, oldest first.
    heads: Fifo<OutFlit>,
    /// l enters; it is under way or its reciprocal waits; this waits.
    asks: bool,
    dividing: bool,
    divided: bool,
    division: DelayLine,
    /// Next draw of the oldest head, while it is drained.
    drains: Option<u32>,
    /// m of a partial result is before that.
    max_next: bool,
    shown: Option<Summed>,
    elements: DelayLine,
    /// Draws waiting, and draws begun that have not left.
    waiting: u32,
    count: u32,
    room: bool,
    /// Heads of draws in flight, and the position of the oldest draw.
    outputs: Fifo<OutFlit>,
    position: u32,
    /// The upper half of a draw of a partial result is next.
    upper: bool,
    packer: ElementPacker<OutFlit>,
    index: u32,
}

impl Finisher {
    /// Heads have `head_dim` elements, of which `lanes` leave a cycle in flits of `width` bits.
    pub(super) fn new(head_dim: u32, lanes: u32, width: u32) -> Finisher {
        Finisher {
            draws: head_dim / lanes,
            header: if lanes > 1 { 1 } else { 2 },
            taken: 0,
            ready: 0,
            whole: 0,
            heads: Fifo::new(PLACES),
            asks: false,
            dividing: false,
            divided: false,
            division: DelayLine::default(),
            drains: None,
            max_next: false,
            shown: None,
            elements: DelayLine::default(),
            waiting: 0,
            count: 0,
            room: false,
            // The oldest has begun to leave, and the newest to be drawn.
            outputs: Fifo::new(OUT_DEPTH / FEWEST_DRAWS + 2),
            position: 0,
            upper: false,
            packer: ElementPacker::new(width / 16 / lanes),
            index: 0,
        }
    }

    pub(super) fn out(&self) -> Option<OutFlit> {
        self.packer.out().map(|flit| OutFlit { index: self.index, ..*flit })
    }

    pub(super) fn shown(&self) -> Option<Summed> {
        self.shown
    }

    /// Both places are taken.
    pub(super) fn is_full(&self) -> bool {
        self.taken == PLACES
    }

    /// The head whose l is added up is, or is not, asked for its partial result. It is the newest.
    pub(super) fn ask_partial(&mut self, asked: bool) {
        if let Some(head) = self.heads.back_mut() {
            head.partial = asked;
        }
    }

    /// A head takes a place.
    pub(super) fn begin(&mut self, head: OutFlit) {
        self.taken += 1;
        self.heads.push(head);
    }

    pub(super) fn is_still(&self) -> bool {
        self.taken == 0 && self.count == 0 && self.room && self.packer.is_empty()
    }

    /// Advances one cycle: a head's l is added up, or all of a head is.
    pub(super) fn step(&mut self, l_summed: bool, whole: bool, out_ready: bool) {
        let partial = self.heads.front().is_some_and(|head| head.partial);
        let loads = self.divided && self.whole > 0 && self.drains.is_none() && (self.room || !partial);
        let drawn = self.drains.filter(|_| self.room && !self.asks);
        let draws = drawn.filter(|_| !self.max_next);
        let last = draws.is_some_and(|index| index + 1 == self.draws);
        let asks = !self.dividing && self.ready > 0;
        self.divided = (self.divided || self.division.comes()) && !loads;
        self.division.step(self.asks, LEAD + DIVIDE);
        self.dividing = (self.dividing || self.ready > 0) && !loads;
        self.ready = self.ready + u32::from(l_summed) - u32::from(self.asks);
        self.whole = self.whole + u32::from(whole) - u32::from(last);
        self.taken -= u32::from(last);
        self.asks = asks;
        self.shown = (loads || draws.is_some()).then_some(Summed { first: loads });
        self.drains = match draws {
            Some(_) if last => None,
            Some(index) => Some(index + 1),
            None if loads => Some(0),
            None => self.drains,
        };
        self.max_next = if loads { partial && self.header > 1 } else { self.max_next && drawn.is_none() };
        if loads {
            self.outputs.push(self.heads.front().copied().unwrap_or_default());
            self.heads.pop();
        }
        self.give(drawn.is_some() || loads && partial, out_ready);
    }

    /// Moves draws to the output.
    fn give(&mut self, begun: bool, out_ready: bool) {
        let leaves = self.packer.out().is_some() && out_ready;
        if let Some(flit) = self.packer.out().filter(|_| leaves) {
            self.index = if flit.last { 0 } else { self.index + 1 };
        }
        let packs = self.waiting > 0 && self.packer.takes(out_ready);
        let lower = self.outputs.front().is_some_and(|head| head.partial) && !self.upper;
        let leaves = packs && !lower;
        let element = packs.then(|| self.element(lower));
        self.packer.step(element, out_ready);
        if packs {
            self.upper = lower;
        }
        if leaves {
            self.waiting -= 1;
        }
        self.waiting += u32::from(self.elements.comes());
        self.elements.step(begun, ROUND);
        self.count = self.count + u32::from(begun) - u32::from(leaves);
        self.room = self.count != OUT_DEPTH;
    }

    /// Elements of the output, or half a draw of a partial result, with a flag that ends its flit.
    fn element(&mut self, lower: bool) -> (OutFlit, bool) {
        let of = self.outputs.front().copied().unwrap_or_default();
        if lower {
            return (of, false);
        }
        self.position += 1;
        if of.partial && self.position == self.header {
            return (of, true);
        }
        let last = self.position == self.draws + if of.partial { self.header } else { 0 };
        if last {
            self.position = 0;
            self.outputs.pop();
        }
        (OutFlit { last, ..of }, last)
    }
}
