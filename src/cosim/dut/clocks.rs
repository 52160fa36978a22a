//! The two clocks of a co-simulation: the network's, which counts time, and PaD's.

use crate::cosim::build::ffi::RawClocks;
use crate::cosim::hash::mix;

/// Frequencies, jitter and seed of the two clocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clocks {
    /// Frequency of the network's clock in MHz.
    pub noc_mhz: f64,
    /// Frequency of PaD's clock in MHz.
    pub pe_mhz: f64,
    /// Largest shift of each edge of PaD's clock, in percent of its period. With any jitter, bits
    /// that change as another clock samples them are read old or new at random.
    pub jitter: u8,
    /// Seed of the phase and of all edges.
    pub seed: u64,
}

impl Clocks {
    /// Largest jitter in percent: with a quarter, edges would meet.
    pub const MOST_JITTER: u8 = 24;
    /// One clock for all.
    pub const IN_STEP: Clocks = Clocks { noc_mhz: 250.0, pe_mhz: 250.0, jitter: 0, seed: 0 };

    /// True if every edge of one is an edge of the other.
    pub fn in_step(&self) -> bool {
        self.noc_mhz == self.pe_mhz && self.jitter == 0
    }

    /// The network's clock for both.
    pub fn into_step(self) -> Clocks {
        Clocks { pe_mhz: self.noc_mhz, jitter: 0, ..self }
    }

    /// Cycles of PaD in so many of the network.
    pub fn pe_cycles(&self, cycles: f64) -> f64 {
        cycles * self.pe_mhz / self.noc_mhz
    }

    /// Periods of the network in which both clocks have so many edges.
    pub(in crate::cosim) fn periods(&self, edges: u64) -> u64 {
        (edges as f64 * (self.noc_mhz / self.pe_mhz).max(1.0)).ceil() as u64 + 1
    }

    pub(in crate::cosim) fn raw(&self) -> RawClocks {
        // Half periods are whole numbers.
        let period = |mhz: f64| ((0.5e9 / mhz).round() as u64).max(1) * 2;
        let (noc_fs, pe_fs) = (period(self.noc_mhz), period(self.pe_mhz));
        let jitter_fs = pe_fs / 100 * u64::from(self.jitter.min(Clocks::MOST_JITTER));
        let phase_fs = if self.in_step() { noc_fs / 2 } else { jitter_fs + mix(self.seed) % pe_fs };
        RawClocks { noc_fs, pe_fs, phase_fs, jitter_fs, seed: self.seed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_even_and_no_edge_comes_before_the_start() {
        for (noc_mhz, pe_mhz) in [(250.0, 300.0), (300.0, 250.0), (7.0, 2.0), (0.1, 499.9)] {
            for jitter in [0, Clocks::MOST_JITTER, 100] {
                let raw = Clocks { noc_mhz, pe_mhz, jitter, seed: 3 }.raw();
                assert_eq!((raw.noc_fs % 2, raw.pe_fs % 2), (0, 0));
                assert!(raw.phase_fs >= raw.jitter_fs && raw.jitter_fs < raw.pe_fs / 4, "{raw:?}");
                let ratio = raw.pe_fs as f64 / raw.noc_fs as f64;
                assert!((ratio * pe_mhz / noc_mhz - 1.0).abs() < 1e-5, "{raw:?}");
            }
        }
    }

    #[test]
    fn clocks_in_step_fall_together() {
        let raw = Clocks { noc_mhz: 300.0, pe_mhz: 300.0, ..Clocks::IN_STEP }.raw();
        assert_eq!((raw.noc_fs, raw.phase_fs), (raw.pe_fs, raw.noc_fs / 2));
        assert!(!Clocks { jitter: 1, ..Clocks::IN_STEP }.in_step());
    }
}
