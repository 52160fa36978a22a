//! Counters of the links over time: differences over windows of equal length.
//!
//! The length need not be known: when there are too many windows, each two become one. So a run of
//! any length has some dozens of them, and reads the counters a few hundred times.

use crate::cosim::dut::network::COUNTERS;

/// Windows at which each two become one; even.
const MOST: usize = 96;

/// Counters over time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Windows {
    /// Cycle of the first reading.
    pub from: u64,
    /// Cycles of a window; the last may be shorter.
    pub cycles: u64,
    /// Cycle of the last reading.
    pub to: u64,
    /// Counters of each tile, window by window.
    pub counts: Vec<Vec<[u32; COUNTERS]>>,
    last: Vec<[u32; COUNTERS]>,
}

impl Windows {
    /// Begins at a cycle with the counters there; `cycles` is the length of the shortest windows.
    pub(super) fn new(from: u64, cycles: u64, counters: Vec<[u32; COUNTERS]>) -> Windows {
        Windows { from, cycles, to: from, counts: Vec::new(), last: counters }
    }

    /// True if a window ends at this cycle.
    pub(super) fn is_due(&self, cycle: u64) -> bool {
        cycle >= self.from + self.cycles * (self.counts.len() as u64 + 1)
    }

    /// Adds the window that ends at `cycle`.
    pub(super) fn add(&mut self, cycle: u64, counters: Vec<[u32; COUNTERS]>) {
        if cycle <= self.to {
            return;
        }
        self.counts.push(differences(&counters, &self.last));
        (self.to, self.last) = (cycle, counters);
        if self.counts.len() == MOST {
            self.counts = self.counts.chunks(2).map(|pair| sums(&pair[0], &pair[1])).collect();
            self.cycles *= 2;
        }
    }

    /// Cycles of the window `at`.
    pub fn length(&self, at: usize) -> u64 {
        let from = self.from + self.cycles * at as u64;
        (from + self.cycles).min(self.to).saturating_sub(from)
    }
}

/// Differences between two readings; counters wrap.
pub(super) fn differences(after: &[[u32; COUNTERS]], before: &[[u32; COUNTERS]]) -> Vec<[u32; COUNTERS]> {
    let tile = |(after, before): (&[u32; COUNTERS], &[u32; COUNTERS])| {
        std::array::from_fn(|i| after[i].wrapping_sub(before[i]))
    };
    after.iter().zip(before).map(tile).collect()
}

fn sums(one: &[[u32; COUNTERS]], other: &[[u32; COUNTERS]]) -> Vec<[u32; COUNTERS]> {
    let tile =
        |(a, b): (&[u32; COUNTERS], &[u32; COUNTERS])| std::array::from_fn(|i| a[i].wrapping_add(b[i]));
    one.iter().zip(other).map(tile).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_a_long_run_are_few_of_equal_length_and_lose_nothing() {
        let mut windows = Windows::new(500, 128, vec![[7; COUNTERS]]);
        let end = 1000;
        for step in 1..=end {
            let cycle = 500 + 128 * step;
            if windows.is_due(cycle) {
                windows.add(cycle, vec![[7 + 3 * step as u32; COUNTERS]]);
            }
        }
        let total: u32 = windows.counts.iter().map(|tiles| tiles[0][0]).sum();
        assert!((48..MOST).contains(&windows.counts.len()), "{}", windows.counts.len());
        assert_eq!(windows.cycles, 128 * 16);
        // The last window that has not ended is missing.
        assert_eq!(u64::from(total), 3 * (windows.to - 500) / 128);
        assert!((0..windows.counts.len()).all(|at| windows.length(at) == windows.cycles));
    }

    #[test]
    fn a_short_last_window_counts_with_its_length() {
        let mut windows = Windows::new(0, 128, vec![[0; COUNTERS]]);
        windows.add(128, vec![[10; COUNTERS]]);
        windows.add(150, vec![[12; COUNTERS]]);
        assert_eq!((windows.counts.len(), windows.length(0), windows.length(1)), (2, 128, 22));
        windows.add(150, vec![[12; COUNTERS]]);
        assert_eq!(windows.counts.len(), 2);
    }
}
