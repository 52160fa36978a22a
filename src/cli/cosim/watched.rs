//! The fabric as a run sees it while somebody watches: it shows how far it is and can be ended.

use crate::cli::interrupt::{Interrupt, Interrupted};
use crate::cosim::dut::Dut;
use crate::cosim::network::{Ejection, Entry, Injection, Network, StepStatus, COUNTERS};
use crate::design::{NodeId, Port};
use std::path::Path;

/// A fabric that ends with [`Interrupted`] at the next step after Ctrl-C.
pub(super) struct Watched<'a> {
    pub(super) dut: Dut,
    pub(super) interrupt: &'a Interrupt,
    /// Where waves are being written: they are kept, and closed with the fabric.
    pub(super) waves: Option<&'a Path>,
}

impl Network for Watched<'_> {
    fn reset(&mut self) -> anyhow::Result<()> {
        Network::reset(&mut self.dut)
    }

    fn cycle(&self) -> u64 {
        self.dut.cycle()
    }

    fn inject(&mut self, flit: &Injection<'_>) -> anyhow::Result<()> {
        Network::inject(&mut self.dut, flit)
    }

    fn step(&mut self, cycles: u64) -> anyhow::Result<StepStatus> {
        if self.interrupt.requested() {
            let waves = self
                .waves
                .map_or(String::new(), |path| format!("; waves until then are in {}", path.display()));
            let what = format!("in cycle {}; no result, no picture{waves}", self.cycle());
            return Err(Interrupted(what).into());
        }
        Network::step(&mut self.dut, cycles)
    }

    fn take_entries(&mut self, receive: &mut dyn FnMut(Entry)) {
        self.dut.take_entries(receive);
    }

    fn take_ejections(&mut self, receive: &mut dyn FnMut(Ejection<'_>)) {
        self.dut.take_ejections(receive);
    }

    fn counters(&self) -> Vec<[u32; COUNTERS]> {
        Network::counters(&self.dut)
    }

    fn busy_vcs(&self) -> Vec<(NodeId, Port, u32)> {
        self.dut.busy_vcs()
    }

    fn credits_home(&self) -> bool {
        self.dut.credits_home()
    }
}
