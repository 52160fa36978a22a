//! A call by the doorbell: one write of a register begins the run, and a record in memory ends it.

use crate::cosim::workloads::attention::Job;
use crate::cosim::workloads::device::bench::{caches, OUTPUTS};
use crate::cosim::workloads::device::driver::Driver;
use crate::cosim::workloads::device::{Bench, Device, DeviceError, Finished, Outcome};
use crate::design::device::registers::{named, LIST_SLOT_BYTES, RECORD_BYTES};
use crate::design::Design;

/// The record of a run, as the device writes it into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Cycles of the run.
    pub cycles: u64,
    /// Value of `ERROR_INFO`.
    pub info: u32,
    /// Value of `ERROR`.
    pub error: u32,
    /// Number of the run, as `RUNS` counts it.
    pub run: u32,
}

impl Record {
    /// Reads it from its bytes.
    fn of(bytes: &[u8]) -> Record {
        let word = |at: usize| u32::from_le_bytes(bytes[4 * at..][..4].try_into().expect("four bytes"));
        Record {
            cycles: u64::from(word(1)) << 32 | u64::from(word(0)),
            info: word(2),
            error: word(6),
            run: word(7),
        }
    }

    /// The end of the run, as the registers have it.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(self.error, self.info, self.cycles)
    }
}

/// Cycles of a call at the pins of the device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallTimes {
    /// The doorbell was taken.
    pub rung: u64,
    /// The first address to external memory was offered.
    pub first_read: Option<u64>,
    /// The last beat of external memory came.
    pub last_read: Option<u64>,
    /// The last beat of outputs or record was taken.
    pub last_write: Option<u64>,
}

impl CallTimes {
    /// Takes a cycle: whether the doorbell is taken, an address offered, a beat of memory comes, and a beat is written.
    pub(in crate::cosim::workloads::device) fn see(
        &mut self,
        cycle: u64,
        [rings, asks, reads, writes]: [bool; 4],
    ) {
        if rings {
            *self = CallTimes { rung: cycle, ..CallTimes::default() };
        }
        if asks {
            self.first_read.get_or_insert(cycle);
        }
        if reads {
            self.last_read = Some(cycle);
        }
        if writes {
            self.last_write = Some(cycle);
        }
    }
}

/// What a doorbell says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doorbell {
    /// Descriptors that the run takes.
    pub count: u32,
    /// The slot of the list that has them.
    pub slot: u32,
    /// Streams whose queries it loads.
    pub streams: u32,
    /// It loads new tokens of as many caches.
    pub tokens: bool,
}

impl Doorbell {
    /// The word of the register.
    pub fn word(&self) -> u32 {
        let values = [self.count, self.slot, self.streams, u32::from(self.tokens)];
        named("DOORBELL").fields.iter().zip(values).fold(0, |all, (field, value)| all | value << field.lsb)
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
            if waited % 1024 == 0 && stop(&self.driver.device) {
                return Err(DeviceError::Stopped);
            }
            self.driver.device.tick()?;
        }
        Ok(self.record())
    }

    /// Runs a job by a doorbell. Also returns its times at the pins, and the register accesses since the doorbell.
    ///
    /// # Errors
    /// As [`Bench::run`].
    pub fn call(
        &mut self,
        job: &Job,
        most: u64,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<(Finished, CallTimes, u64), DeviceError> {
        self.driver.clear()?;
        let bell = self.lay_out(job, 0)?;
        let number = self.driver.read("RUNS")?.wrapping_add(1);
        let accesses = self.driver.device.accesses();
        self.driver.device.time_a_call();
        let record = self.ring(&bell, number, most, stop)?;
        let accesses = self.driver.device.accesses() - accesses;
        let times = self.driver.device.call_times();
        Ok((self.finish(job, record.outcome())?, times, accesses))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_timed_from_its_doorbell() {
        let mut times = CallTimes::default();
        for (cycle, seen) in [
            (3, [false, true, true, true]),
            (5, [true, false, false, false]),
            (9, [false, true, false, false]),
            (11, [false, true, true, false]),
            (20, [false, false, true, false]),
            (30, [false, false, false, true]),
            (34, [false, false, false, true]),
        ] {
            times.see(cycle, seen);
        }
        assert_eq!(
            times,
            CallTimes { rung: 5, first_read: Some(9), last_read: Some(20), last_write: Some(34) }
        );
    }

    #[test]
    fn a_record_has_its_words_in_their_order() {
        let bytes: Vec<u8> =
            [7, 1, 0x20_0012, 0, 0, 0, 1 << 18, 5].into_iter().flat_map(u32::to_le_bytes).collect();
        let record = Record::of(&bytes);
        assert_eq!(record, Record { cycles: 7 + (1 << 32), info: 0x20_0012, error: 1 << 18, run: 5 });
        assert_eq!(record.outcome().first, Some(("QUERY_READ", 0x20)));
    }

    #[test]
    fn a_doorbell_is_packed_by_its_fields() {
        let bell = Doorbell { count: 3, slot: 5, streams: 8, tokens: true };
        assert_eq!(bell.word(), 3 | 5 << 6 | 8 << 16 | 1 << 31);
    }
}
