//! Edges of PaD's clock, placed as `sim/clocks.h` places them for compiled Verilog.

use crate::cosim::dut::clocks::Clocks;
use crate::model::cycle::fabric::Edges;

/// The clock, without jitter, and the reset that is synchronous to it.
#[derive(Debug, Clone)]
pub(in crate::cosim) struct PeClock {
    noc_fs: u64,
    pe_fs: u64,
    phase_fs: u64,
    /// Time at which this clock setting began, and edges since then; even ones fall.
    base: u64,
    edges: u64,
    /// Begin of the next period of the network's clock.
    begin: u64,
    reset: bool,
}

impl PeClock {
    /// In step with the network's clock, under reset.
    pub(in crate::cosim) fn new() -> PeClock {
        let mut clock =
            PeClock { noc_fs: 0, pe_fs: 0, phase_fs: 0, base: 0, edges: 0, begin: 0, reset: true };
        clock.set(&Clocks::IN_STEP);
        clock
    }

    /// Sets the clock from the next period on.
    pub(in crate::cosim) fn set(&mut self, clocks: &Clocks) {
        let raw = clocks.raw();
        (self.noc_fs, self.pe_fs, self.phase_fs) = (raw.noc_fs, raw.pe_fs, raw.phase_fs);
        (self.base, self.edges) = (self.begin, 0);
    }

    /// Number of edges out of reset in the next period of the network's clock.
    pub(in crate::cosim) fn period(&mut self, rst: bool) -> Edges {
        let end = self.begin + self.noc_fs;
        let mut edges = Edges { before: 0, at_end: false };
        loop {
            let at = self.base + self.phase_fs + self.edges * (self.pe_fs / 2);
            if at > end {
                break;
            }
            match self.edges % 2 {
                0 => self.reset = rst,
                _ if self.reset => {}
                _ if at == end => edges.at_end = true,
                _ => edges.before += 1,
            }
            self.edges += 1;
        }
        self.begin = end;
        edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_step_every_period_ends_with_an_edge() {
        let mut clock = PeClock::new();
        assert_eq!(clock.period(true), Edges { before: 0, at_end: false });
        assert_eq!([(); 3].map(|()| clock.period(false)), [Edges::IN_STEP; 3]);
    }

    #[test]
    fn a_faster_clock_has_its_share_of_edges() {
        let mut clock = PeClock::new();
        clock.set(&Clocks { noc_mhz: 200.0, pe_mhz: 300.0, jitter: 0, seed: 3 });
        let edges = (0..1000).map(|_| clock.period(false));
        let count: u32 = edges.map(|edges| edges.before + u32::from(edges.at_end)).sum();
        assert!((1498..=1501).contains(&count), "{count}");
    }
}
