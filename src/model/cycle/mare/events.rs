//! Event counters of a tile (`meshkv_event_counters`).

use crate::design::TILE_EVENTS;
use crate::model::cycle::common::{Rare, Reached};

/// Counted events, in the order of `event_index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A first fetch.
    Fetch,
    /// A fetch of a head that joins a range in progress.
    Join,
    /// A fetch repeated after a time-out.
    Retry,
    /// A cycle in which a command waited.
    CommandWaits,
    /// A flit that a slot waited for.
    Flit,
    /// Any other flit.
    Duplicate,
    /// A fetch opened a request.
    Open,
    /// A fetch joined a request.
    Merge,
    /// A cycle in which a fetch waited for an entry.
    Blocked,
    /// A chunk was looked up.
    Lookup,
    /// The Bloom filter had the chunk.
    Bloom,
    /// The Bloom filter had the chunk, and no exact tag did.
    FalsePositive,
    /// An exact tag had the chunk.
    Hit,
    /// Some destinations had the chunk already.
    Trim,
    /// All destinations had the chunk already.
    Drop,
    /// No tag was free.
    TagsFull,
    /// A flit left the home.
    Stream,
    /// A cycle in which a flit of the home waited.
    Stall,
    /// A flit stayed in the tile.
    Keep,
    /// A fetch was parked.
    Park,
    /// A flit was read from external memory.
    Fill,
    /// A slice was read.
    Slice,
    /// A cycle in which a slice waited for a slot.
    FillWaits,
}

/// Number of events that a tile counts.
pub const EVENTS: usize = TILE_EVENTS.len();

/// Totals since reset, and the scan that drives one of them each cycle.
#[derive(Debug, Clone, Default)]
pub struct Events {
    totals: [u32; EVENTS],
    index: usize,
    visited: (usize, u32),
    shown: (usize, u32),
    reached: Reached,
}

impl Events {
    /// Advances one clock period and returns the port's value: a counter, and its total two edges
    /// before the last.
    ///
    /// Called before anything of the period is counted.
    pub fn scan(&mut self) -> (usize, u32) {
        let shown = self.shown;
        self.shown = self.visited;
        self.visited = (self.index, self.totals[self.index]);
        self.index = if self.index + 1 == EVENTS { 0 } else { self.index + 1 };
        shown
    }

    /// Rare states of the tile's blocks; the Verilog does not count them.
    pub fn reached(&self) -> &Reached {
        &self.reached
    }

    /// Counts a rare state.
    pub fn reach(&mut self, rare: Rare) {
        self.reached.count(rare);
    }

    /// Counts a rare state if a block is in it.
    pub fn reach_if(&mut self, is: bool, rare: Rare) {
        self.reached.count_if(is, rare);
    }

    /// Counts an event.
    pub fn count(&mut self, event: Event) {
        let total = &mut self.totals[event as usize];
        *total = total.wrapping_add(1);
    }

    /// Counts an event if it happens.
    pub fn count_if(&mut self, happens: bool, event: Event) {
        if happens {
            self.count(event);
        }
    }
}
