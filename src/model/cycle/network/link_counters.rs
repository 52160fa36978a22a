//! Link counters: `meshkv_link_counters`, with the scan that shows one total a cycle.
//!
//! In cycle v the scan visits total v mod 25, which then holds the events of the cycles before v; a flit is
//! an event in the cycle after it was sent, a blocked output likewise. What the scan saw shows a cycle later.

use super::params::MOST_TILES;
use crate::design::Port;

/// Totals of an output: flits of PART, KV_FETCH and KV_DATA, cycles blocked, cycles idle.
pub const TOTALS_PER_PORT: usize = 5;

/// Totals of a router.
pub const TOTALS: usize = TOTALS_PER_PORT * Port::ALL.len();

const BLOCKED: usize = 3;
const IDLE: usize = 4;

/// One total of all routers.
type Row = [u32; MOST_TILES];

/// Totals of all routers.
#[derive(Debug)]
pub(super) struct LinkCounters {
    tiles: usize,
    /// As they stand; nothing is kept of idle cycles.
    live: Box<[Row; TOTALS]>,
    /// As the last two scans saw them, in turns.
    seen: [Box<[Row; TOTALS]>; 2],
}

impl LinkCounters {
    pub(super) fn new(tiles: usize) -> LinkCounters {
        let zero = || Box::new([[0; MOST_TILES]; TOTALS]);
        LinkCounters { tiles, live: zero(), seen: [zero(), zero()] }
    }

    #[inline(always)]
    pub(super) fn sent(&mut self, tile: u8, output: usize, class: usize) {
        self.add(tile, output * TOTALS_PER_PORT + class);
    }

    #[inline(always)]
    pub(super) fn blocked(&mut self, tile: u8, output: usize) {
        self.add(tile, output * TOTALS_PER_PORT + BLOCKED);
    }

    #[inline(always)]
    fn add(&mut self, tile: u8, total: usize) {
        let total = &mut self.live[total][usize::from(tile)];
        *total = total.wrapping_add(1);
    }

    /// The visit of cycle `visit`, done before the cycle before it is run: its events come too late.
    pub(super) fn scan(&mut self, visit: u64) {
        let (total, turn) = place(visit);
        let seen = &mut self.seen[turn][total][..self.tiles];
        if total % TOTALS_PER_PORT != IDLE {
            seen.copy_from_slice(&self.live[total][..self.tiles]);
            return;
        }
        seen.fill(visit as u32);
        for class in total - IDLE..total - IDLE + BLOCKED {
            let flits = &self.live[class][..self.tiles];
            seen.iter_mut().zip(flits).for_each(|(idle, &flits)| *idle = idle.wrapping_sub(flits));
        }
    }

    /// What was read from the scan in `cycles` cycles.
    pub(super) fn read(&self, tile: usize, total: usize, cycles: u64) -> u32 {
        // The last visit that has shown was two cycles ago.
        let Some(last) = cycles.checked_sub(2) else { return 0 };
        let back = (last + TOTALS as u64 - total as u64) % TOTALS as u64;
        match last.checked_sub(back) {
            Some(visit) => self.seen[place(visit).1][total][tile],
            None => 0,
        }
    }

    pub(super) fn clear(&mut self) {
        *self = LinkCounters::new(self.tiles);
    }
}

/// The total that a visit sees, and which of the two scans it belongs to.
fn place(visit: u64) -> (usize, usize) {
    ((visit % TOTALS as u64) as usize, (visit / TOTALS as u64 % 2) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One router that sends PART north in every third cycle.
    #[test]
    fn a_total_is_read_as_it_was_when_the_scan_came_by() {
        let mut counters = LinkCounters::new(1);
        for cycle in 0..200_u64 {
            counters.scan(cycle + 1);
            if cycle % 3 == 0 {
                counters.sent(0, 0, 0);
            }
            let run = cycle + 1;
            for (total, idle) in [(0, false), (4, true)] {
                let visit = (0..run.saturating_sub(1)).rev().find(|v| v % 25 == total).unwrap_or(0);
                // Sent in cycles 0 to visit - 2, counted in the cycles after them.
                let flits = (0..visit.saturating_sub(1)).filter(|c| c % 3 == 0).count() as u64;
                let expected = if idle { visit - flits } else { flits };
                assert_eq!(u64::from(counters.read(0, total as usize, run)), expected, "{run} {total}");
            }
        }
    }
}
