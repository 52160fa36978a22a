//! What a tile counts (`meshkv_event_counters`).

use crate::design::TILE_EVENTS;

/// What can be counted, in the order of `event_index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A first fetch.
    Fetch,
    /// A fetch of a head that joins a range on its way.
    Join,
    /// A fetch that was repeated after a time-out.
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
    /// The Bloom filter knew it.
    Bloom,
    /// The Bloom filter knew it and no exact tag did.
    FalsePositive,
    /// An exact tag knew it.
    Hit,
    /// Some destinations had it already.
    Trim,
    /// All destinations had it already.
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

/// Events that a tile counts.
pub const EVENTS: usize = TILE_EVENTS.len();

/// Totals since reset, and the scan that shows one a cycle.
#[derive(Debug, Clone, Default)]
pub struct Events {
    totals: [u32; EVENTS],
    index: usize,
    shown: (usize, u32),
}

impl Events {
    /// Passes a period: what is shown in it, which is a total as it was at the edge before the last.
    ///
    /// Called before anything of the period is counted.
    pub fn scan(&mut self) -> (usize, u32) {
        let shown = self.shown;
        self.shown = (self.index, self.totals[self.index]);
        self.index = if self.index + 1 == EVENTS { 0 } else { self.index + 1 };
        shown
    }

    /// Something has happened.
    pub fn count(&mut self, event: Event) {
        let total = &mut self.totals[event as usize];
        *total = total.wrapping_add(1);
    }

    /// Counts it if it has happened.
    pub fn count_if(&mut self, happens: bool, event: Event) {
        if happens {
            self.count(event);
        }
    }
}
