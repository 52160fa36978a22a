//! The bound of a run on a device, and the wait for its end.

use super::bench::Bench;
use super::driver::{Notice, Outcome};
use super::error::DeviceError;
use super::host::Device;
use crate::cosim::workloads::attention::Job;
use crate::cosim::workloads::shared::limit::Limit;
use crate::cosim::workloads::Bound;
use crate::design::device::registers::LIST_WORDS;

impl Bench {
    /// The bound of a job's cycles: that of its core, and each beat of queries, descriptors and outputs alone.
    pub fn bound(&self, job: &Job) -> Bound {
        let (design, io) = (job.design, &self.platform.io);
        let flit = u64::from(design.flit.data_width / 8);
        let descriptors = job.descriptors().map_or(0, |all| all.len() as u64);
        let bytes = u64::from(design.query_bytes(job.streams))
            + u64::from(design.output_bytes(job.streams, job.partials))
            + descriptors * 4 * u64::from(LIST_WORDS);
        let refused = 256 / (256 - u64::from(io.request_stall.max(io.beat_gap)));
        let beat = (u64::from(io.latency + io.jitter) + 64) * (refused + 1);
        let arguments = 64 * design.arguments().len() as u64;
        let core = job.bound(&self.platform.hbm, 0, self.driver.device.clocks());
        core.and("its host's memory moves each beat alone", (bytes / flit + 4 * descriptors) * beat)
            .and("arguments are read and descriptors checked", arguments + 256 * descriptors)
    }

    /// Waits for the interrupt of a run that was started, up to its bound.
    pub(super) fn wait(
        &mut self,
        job: &Job,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<Outcome, DeviceError> {
        let begun = self.driver.device.cycle();
        let mut limit = Limit::new(self.bound(job), begun);
        let mut endless = None;
        let mut look = |device: &Device| {
            endless = limit.passed(device.cycle(), job.design, || device.moved());
            endless.is_some() || stop(device)
        };
        let outcome = self.driver.wait(Notice::Interrupt, u64::MAX, &mut look);
        match (outcome, endless) {
            (Err(DeviceError::Stopped), Some(why)) => {
                let waited = self.driver.device.cycle() - begun;
                Err(self.driver.hung(waited, format!("\n  {why}"))?)
            }
            (outcome, _) => outcome,
        }
    }
}
