//! History of received ranges, kept as long as a home's filter may remember sending them.

use crate::model::cycle::common::bits;
use crate::model::cycle::mare::Command;

#[derive(Debug, Clone, Copy, Default)]
struct Known {
    tag: u64,
    generation: u32,
    first: u32,
    last: u32,
    age: u32,
}

/// Ticks after which a range is forgotten, less one.
const OLD: u32 = 2;

/// Ring of the latest ranges.
#[derive(Debug, Clone)]
pub(super) struct History {
    ring: Box<[Known]>,
    known: u64,
    next: usize,
}

impl History {
    pub(super) fn new(depth: u32) -> History {
        History { ring: vec![Known::default(); depth as usize].into_boxed_slice(), known: 0, next: 0 }
    }

    /// The ring lacks room for `slots` more ranges.
    pub(super) fn is_crowded(&self, slots: u32) -> bool {
        let at = self.next + slots as usize - 1;
        self.known >> (at % self.ring.len()) & 1 == 1
    }

    /// Returns the generations, one bit each, of ranges that a command overlaps.
    pub(super) fn overlapped(&self, command: &Command) -> u32 {
        bits(self.known).map(|at| &self.ring[at]).fold(0, |taken, old| {
            let overlaps = old.tag == command.tag && command.first <= old.last && old.first <= command.last;
            taken | u32::from(overlaps) << old.generation
        })
    }

    /// Ends a refresh period of the Bloom filters.
    pub(super) fn tick(&mut self) {
        for at in bits(self.known) {
            if self.ring[at].age == OLD {
                self.known &= !(1 << at);
            }
            self.ring[at].age += 1;
        }
    }

    /// Records a received range.
    pub(super) fn note(&mut self, tag: u64, generation: u32, (first, last): (u32, u32)) {
        self.ring[self.next] = Known { tag, generation, first, last, age: 0 };
        self.known |= 1 << self.next;
        self.next = if self.next + 1 == self.ring.len() { 0 } else { self.next + 1 };
    }
}
