//! A call by the doorbell: one write of a register begins the run, and a record in memory ends it.

use super::doorbell::{CallTimes, Doorbell, Record};
use crate::cosim::workloads::attention::Job;
use crate::cosim::workloads::device::bench::{caches, Bench, Finished, OUTPUTS};
use crate::cosim::workloads::device::driver::{Driver, Outcome};
use crate::cosim::workloads::device::error::DeviceError;
use crate::cosim::workloads::device::host::Device;
use crate::design::device::registers::{LIST_SLOT_BYTES, RECORD_BYTES};
use crate::design::Design;

impl Record {
    /// The end of the run, as the registers have it.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(self.error, self.info, self.cycles)
    }
}

impl Bench {
    /// Puts all that a job needs into memory, its descriptors into a slot of the list, and returns what the doorbell is to
    /// say. Only the table of pages, and arguments that have changed, are written by registers.
    ///
    /// # Errors
    /// If two descriptors name a slice, or a register access is not answered.
    pub fn lay_out(&mut self, job: &Job, slot: u32) -> Result<Doorbell, DeviceError> {
        let descriptors = job.descriptors().expect("the job was checked");
        self.load(job)?;
        self.driver.write_pages(job.design, &descriptors)?;
        self.blank_outputs(job.design);
        self.put_slot(slot, Driver::list(&descriptors, job.partials)?)?;
        let tokens = job.design.append.is_some() && caches(job) > 0;
        Ok(Doorbell {
            count: descriptors.len() as u32,
            slot,
            streams: job.streams.max(if tokens { caches(job) } else { 0 }),
            tokens,
        })
    }

    /// Puts an empty buffer of outputs with its record into memory.
    fn blank_outputs(&mut self, design: &Design) {
        let bytes = vec![0xa5; design.outputs_and_record_bytes() as usize];
        self.driver.device.put_outputs(OUTPUTS, bytes);
    }

    /// Puts bytes into a slot of the list; other slots keep theirs.
    ///
    /// # Errors
    /// If a register access is not answered.
    pub fn put_slot(&mut self, slot: u32, bytes: Vec<u8>) -> Result<(), DeviceError> {
        let at = (slot * LIST_SLOT_BYTES) as usize;
        let mut list = self.list_bytes().unwrap_or_default();
        list.resize(list.len().max(at + LIST_SLOT_BYTES as usize).next_multiple_of(4096), 0xa5);
        list[at..at + bytes.len()].copy_from_slice(&bytes);
        self.put_list_bytes(list)
    }

    /// The record that is in memory.
    pub fn record(&self) -> Record {
        let at = self.driver.design().record_at() as usize;
        let bytes = self.driver.device.outputs(OUTPUTS).expect("it was put there");
        Record::of(&bytes[at..at + RECORD_BYTES as usize])
    }

    /// Rings, and waits until memory has the record of run `number`, at most `most` cycles. No register is read.
    ///
    /// # Errors
    /// If no record comes, a register access is not answered, or `stop` returns true.
    pub fn ring(
        &mut self,
        bell: &Doorbell,
        number: u32,
        most: u64,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<Record, DeviceError> {
        self.driver.write("DOORBELL", bell.word())?;
        let begun = self.driver.device.cycle();
        while self.record().run != number {
            let waited = self.driver.device.cycle() - begun;
            if waited > most {
                return Err(self.driver.hung(waited, "; no record of the run came".to_owned())?);
            }
            if waited.is_multiple_of(1024) && stop(&self.driver.device) {
                return Err(DeviceError::Stopped);
            }
            self.driver.device.tick()?;
        }
        Ok(self.record())
    }

    /// Runs a job by a doorbell. Also returns its times at the pins, and the writes and reads of registers since then.
    ///
    /// # Errors
    /// As [`Bench::run`].
    pub fn call(
        &mut self,
        job: &Job,
        most: u64,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<(Finished, CallTimes, [u64; 2]), DeviceError> {
        self.driver.clear()?;
        let bell = self.lay_out(job, 0)?;
        let number = self.driver.read("RUNS")?.wrapping_add(1);
        let before = self.driver.device.writes_and_reads();
        self.driver.device.time_a_call();
        let record = self.ring(&bell, number, most, stop)?;
        let now = self.driver.device.writes_and_reads();
        let accesses = [0, 1].map(|kind| now[kind] - before[kind]);
        let times = self.driver.device.call_times();
        Ok((self.finish(job, record.outcome())?, times, accesses))
    }
}
