//! Link counters (`meshkv_link_counters`), with the scan that reads one total a cycle.
//!
//! In cycle v the scan reads total v mod 25, with the events of the cycles before v. A sent flit or a blocked
//! output counts in the cycle after it. The value read drives the port two cycles later.

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

/// Totals before the first scan.
static NONE: Row = [0; MOST_TILES];

/// Totals of all routers.
#[derive(Debug)]
pub(super) struct LinkCounters {
    tiles: usize,
    /// Present totals; idle cycles are not stored.
    live: Box<[Row; TOTALS]>,
    /// Totals as the last two scans read them, alternating.
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

    /// Reads the total of cycle `visit`. Called before cycle `visit - 1` runs, whose events come too late.
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

    /// Returns the values that the scan has driven by cycle `cycles`, by tile.
    pub(super) fn read(&self, total: usize, cycles: u64) -> &[u32] {
        // The last value on the port was read three cycles ago.
        let visit = cycles.checked_sub(3).and_then(|last| {
            let back = (last + TOTALS as u64 - total as u64) % TOTALS as u64;
            last.checked_sub(back)
        });
        match visit {
            Some(visit) => &self.seen[place(visit).1][total][..self.tiles],
            None => &NONE[..self.tiles],
        }
    }

    pub(super) fn clear(&mut self) {
        *self = LinkCounters::new(self.tiles);
    }
}

/// Returns the total that a visit reads, and which of the two scans stores it.
fn place(visit: u64) -> (usize, usize) {
    ((visit % TOTALS as u64) as usize, (visit / TOTALS as u64 % 2) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A single router sends PART north in every third cycle.
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
                let visit = (0..run.saturating_sub(2)).rev().find(|v| v % 25 == total).unwrap_or(0);
                // Sent in cycles 0 to visit - 2, counted in the cycles after them.
                let flits = (0..visit.saturating_sub(1)).filter(|c| c % 3 == 0).count() as u64;
                let expected = if idle { visit - flits } else { flits };
                assert_eq!(u64::from(counters.read(total as usize, run)[0]), expected, "{run} {total}");
            }
        }
    }
}
