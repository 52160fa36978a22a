//! Event counters of a pad (`meshkv_event_counters`), in the order of `pad_index`.

use crate::design::PAD_EVENTS;

/// Events except the passes of each row, and the most counters there can be.
const EVENTS: usize = PAD_EVENTS.len();
const MOST: usize = 32;

/// Events of a cycle.
#[derive(Debug, Clone, Copy, Default)]
pub struct Happens {
    /// A flit is done.
    pub accepts: bool,
    /// A K flit passes; a V flit; the flit of ones.
    pub k: bool,
    /// See `k`.
    pub v: bool,
    /// See `k`.
    pub ones: bool,
    /// A flit is present.
    pub flit: bool,
    /// A slice is due and no flit is present.
    pub starves: bool,
    /// A V flit waits for weights.
    pub awaits: bool,
    /// Results are read.
    pub reads: bool,
}

/// Totals since reset, and the scan that drives one of them each cycle.
#[derive(Debug, Clone)]
pub struct EventCounters {
    totals: [u32; MOST],
    len: usize,
    index: usize,
    visited: (usize, u32),
    shown: (usize, u32),
}

impl EventCounters {
    /// Creates cleared counters for an array of `rows` rows.
    pub fn new(rows: u32) -> EventCounters {
        EventCounters {
            totals: [0; MOST],
            len: EVENTS + rows as usize,
            index: 0,
            visited: (0, 0),
            shown: (0, 0),
        }
    }

    /// Counter at the port, and its total two edges ago: registers before and behind the adder.
    pub fn shown(&self) -> (usize, u32) {
        self.shown
    }

    /// All totals: flits accepted, passes of K, of V and of ones, cycles with a flit, starved, waiting for
    /// weights, reading results; then passes by row.
    pub fn totals(&self) -> &[u32] {
        &self.totals[..self.len]
    }

    /// Advances the scan.
    pub fn scan(&mut self) {
        self.shown = self.visited;
        self.visited = (self.index, self.totals[self.index]);
        self.index = if self.index + 1 == self.len { 0 } else { self.index + 1 };
    }

    /// Counts the events of a cycle; `passing` has a bit for each row that passes.
    pub fn count(&mut self, happens: &Happens, mut passing: u32) {
        let Happens { accepts, k, v, ones, flit, starves, awaits, reads } = *happens;
        let all = [accepts, k, v, ones, flit, starves, awaits, reads];
        for (total, happens) in self.totals.iter_mut().zip(all) {
            *total = total.wrapping_add(u32::from(happens));
        }
        while passing != 0 {
            let total = &mut self.totals[EVENTS + passing.trailing_zeros() as usize];
            *total = total.wrapping_add(1);
            passing &= passing - 1;
        }
    }
}
