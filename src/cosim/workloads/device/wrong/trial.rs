//! Trials of a device: what a host or its memory does wrong, and the error that must be read of each.
//!
//! A trial runs a job as it should be, then provokes an error, then runs the job again: errors are named, and leave nothing
//! behind.

use crate::cosim::faults::TIMEOUT;
use crate::cosim::memory::{Fault, FaultKind};
use crate::cosim::workloads::attention::Job;
use crate::cosim::workloads::device::bench::{Bench, Finished};
use crate::cosim::workloads::device::driver::{words, Driver, Notice, Outcome};
use crate::cosim::workloads::device::error::DeviceError;
use crate::cosim::workloads::device::host::Device;
use crate::cosim::workloads::device::platform::Faults;
use crate::design::device::registers::{DESC_QUEUE, LIST_WORDS};
use crate::design::Descriptor;
use crate::model::cycle::common::{Rare, Reached, RARE};
use std::fmt;

/// Cycles between the start of a run and a second one.
const SOON: u64 = 50;
/// Waits for memory that a run may have, one after the other: a request, a reset that waits for its answers, and the epoch
/// after it.
const WAITS: u64 = 4;
/// Value of WATCHDOG after a reset.
const WATCHDOG: u32 = 1 << 20;
/// Address at which no register is.
const NOWHERE: u32 = 0x7fc;
/// Beats of a burst of the list.
const BURST_BEATS: u32 = 16;
/// Block of the rare states that trials reach.
const BLOCK: &str = "device";

/// True if no answer comes, false if it is an error.
fn silent(kind: FaultKind) -> bool {
    !matches!(kind, FaultKind::SlaveError | FaultKind::DecodeError)
}

/// How a run gets its descriptors and begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// They are pushed, and `CTRL` starts it.
    Pushed,
    /// They are a list in memory, and `CTRL` starts it.
    Listed,
    /// They are a slot of the list, and a doorbell starts it.
    Rung,
}

impl Way {
    /// All of them.
    pub const ALL: [Way; 3] = [Way::Pushed, Way::Listed, Way::Rung];
}

/// Something that goes wrong. A share is that of a run's requests or cycles, of 256.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trial {
    /// A read of the busiest port of external memory.
    Memory(FaultKind, u32),
    /// A read of queries or new tokens.
    Read(FaultKind, u32),
    /// A read of the list of descriptors.
    List(FaultKind),
    /// A write of outputs.
    Write(FaultKind, u32),
    /// A write of new tokens, at each port.
    Token(FaultKind),
    /// A soft reset.
    Reset(u32),
    /// A reset of what computes alone.
    ComputeReset(u32),
    /// A watchdog that waits for less than memory takes.
    Watchdog,
    /// What a host must not do, by the error that names it.
    Refused(&'static str),
}

/// Errors of what a host must not do; those of caches that grow come last.
pub const REFUSALS: [&str; 20] = [
    "ACCESS",
    "START_BUSY",
    "SELECT",
    "DESC_LAYER",
    "DESC_PREFIX",
    "DESC_SEGMENTS",
    "DESC_ROWS",
    "DESC_STREAMS",
    "DESC_MAPPING",
    "DESC_MIXED",
    "DESC_CLOSED",
    "DESC_FULL",
    "DESC_APPEND",
    "START_EMPTY",
    "START_OPEN",
    "START_QUERIES",
    "START_UNLOADED",
    "START_LIST",
    "ARGUMENT",
    "START_TOKENS",
];

impl Trial {
    /// Errors of which one must be read.
    pub fn expected(self) -> &'static [&'static str] {
        match self {
            Trial::Memory(kind, _) if silent(kind) => &["MEMORY_TIMEOUT"],
            Trial::Memory(..) => &["MEMORY"],
            Trial::Token(kind) if silent(kind) => &["TOKEN_TIMEOUT"],
            Trial::Token(_) => &["TOKEN_WRITE"],
            Trial::Read(kind, _) | Trial::List(kind) | Trial::Write(kind, _) if silent(kind) => {
                &["IO_TIMEOUT"]
            }
            Trial::Read(..) => &["QUERY_READ"],
            Trial::List(_) => &["LIST_READ"],
            Trial::Write(..) => &["OUTPUT_WRITE"],
            Trial::Reset(_) | Trial::ComputeReset(_) => &["RESET"],
            Trial::Watchdog => &["WATCHDOG"],
            Trial::Refused(name) => {
                let at = REFUSALS.iter().position(|refusal| *refusal == name).expect("it is listed");
                &REFUSALS[at..=at]
            }
        }
    }
}

impl Trial {
    /// A state of the device that it leads to, of which nothing is known yet.
    pub fn leads_to(self, empty: &[Rare]) -> bool {
        let of = |kind, error: Rare, silence: Rare| if silent(kind) { silence } else { error };
        let bins: &[Rare] = match self {
            Trial::Memory(kind, share) => &[
                of(kind, Rare::MemoryError, Rare::MemoryTimeout),
                if share < 128 { Rare::MemoryBesideQueries } else { Rare::MemoryBesideOutputs },
            ],
            Trial::Read(kind, _) => {
                &[of(kind, Rare::QueryRead, Rare::ReadSilent), of(kind, Rare::TokenRead, Rare::TokenSilent)]
            }
            Trial::List(kind) => &[of(kind, Rare::ListRead, Rare::ListSilent)],
            Trial::Write(kind, _) => &[of(kind, Rare::OutputWrite, Rare::WriteSilent)],
            Trial::Token(kind) => &[of(kind, Rare::TokenWrite, Rare::TokenTimeout)],
            Trial::Reset(_) => &[Rare::SoftReset],
            Trial::ComputeReset(_) => &[Rare::ComputeReset],
            Trial::Watchdog => &[Rare::Watchdog],
            Trial::Refused(name) => return empty.iter().any(|rare| rare.name() == name.to_lowercase()),
        };
        bins.iter().any(|bin| empty.contains(bin))
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trial::Memory(kind, share) => write!(f, "{kind:?} of external memory after {share}/256"),
            Trial::Read(kind, share) => write!(f, "{kind:?} of a read after {share}/256"),
            Trial::List(kind) => write!(f, "{kind:?} of the list"),
            Trial::Write(kind, share) => write!(f, "{kind:?} of a write after {share}/256"),
            Trial::Token(kind) => write!(f, "{kind:?} of a write of new tokens"),
            Trial::Reset(share) => write!(f, "soft reset after {share}/256"),
            Trial::ComputeReset(share) => write!(f, "reset of what computes after {share}/256"),
            Trial::Watchdog => f.write_str("impatient watchdog"),
            Trial::Refused(name) => f.write_str(name),
        }
    }
}

/// What a run as it should be takes.
struct Clean {
    cycles: u64,
    /// Requests: of each port of external memory, of reads, of writes.
    requests: (Vec<u64>, u64, u64),
}

/// Counts the rare states that the descriptors of a job lead to.
pub fn count_descriptors(job: &Job, way: Way, reached: &mut Reached) {
    let descriptors = job.descriptors().expect("the job was checked");
    for descriptor in &descriptors {
        reached.count_if(descriptor.first_row % 2 == 1, Rare::OddFirstRow);
    }
    let burst = BURST_BEATS * job.design.flit.data_width / 8;
    reached.count_if(
        way != Way::Pushed && descriptors.len() as u32 * 4 * LIST_WORDS > burst,
        Rare::ListOfBursts,
    );
}

/// Rare states of the device after an error.
fn states(outcome: &Outcome, reached: &mut Reached) {
    let Some((name, place)) = outcome.first else { return };
    let name = name.to_lowercase();
    let names = [format!("{name}_{place}"), name];
    let bin = RARE.iter().find(|rare| rare.block() == BLOCK && names.iter().any(|name| name == rare.name()));
    bin.into_iter().for_each(|&rare| reached.count(rare));
}

impl Bench {
    /// Runs a job, provokes an error, and runs the job again, then in the way that is told. Returns the rare states of the
    /// device, and the first thing that is not as it must be.
    ///
    /// # Errors
    /// If the simulation fails, or `stop` returns true.
    pub fn try_out(
        &mut self,
        job: &Job,
        (trial, way): (Trial, Way),
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<(Reached, Option<String>), DeviceError> {
        let mut reached = Reached::default();
        let most = self.bound(job).cycles() + WAITS * TIMEOUT;
        let clean = match self.clean(job, Way::Pushed, most, stop)? {
            Ok(clean) => clean,
            Err(wrong) => return Ok((reached, Some(format!("the run before: {wrong}")))),
        };
        let read = self.driver.device.requests().1;
        let written = self.driver.device.output_bytes();
        self.ready(job, Notice::Interrupt)?;
        let outcome = self.provoke(job, (trial, way), &clean, most, stop)?;
        let expected = trial.expected();
        let named = outcome.first.filter(|(name, _)| expected.contains(name));
        let wrong = named
            .is_none()
            .then(|| format!("{} must be read, and this was: {}", expected.join(" or "), outcome.errors()));
        if matches!(trial, Trial::Memory(..)) && named.is_some() {
            let now = self.driver.device.requests().1;
            reached.count_if(now < read + clean.requests.1, Rare::MemoryBesideQueries);
            reached.count_if(self.driver.device.output_bytes() > written, Rare::MemoryBesideOutputs);
        }
        states(&outcome, &mut reached);
        self.driver.device.set_faults(Faults::default());
        self.driver.write("WATCHDOG", WATCHDOG)?;
        self.driver.write("LIST_COUNT", 0)?;
        // What was pushed for a run that was refused is dropped.
        self.driver.write("SOFT_RESET", 1)?;
        self.driver.settle(most)?;
        let wrong = match (wrong, self.clean(job, way, most, stop)?) {
            (None, Err(after)) => Some(format!("the run after {trial}: {after}")),
            (None, Ok(_)) => {
                count_descriptors(job, way, &mut reached);
                None
            }
            (Some(wrong), _) => Some(format!("{trial}: {wrong}")),
        };
        reached.add(&self.driver.device.reached().unwrap_or_default());
        Ok((reached, wrong))
    }

    /// A run as it should be, or what is wrong with it.
    fn clean(
        &mut self,
        job: &Job,
        way: Way,
        most: u64,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<Result<Clean, String>, DeviceError> {
        let (before, broken) = (self.driver.device.requests(), self.driver.device.violations().0);
        let done = match self.run_by(job, way, most, stop) {
            Ok(done) => done,
            Err(DeviceError::Failed(why)) => return Ok(Err(why)),
            Err(why) => return Err(why),
        };
        let (count, first) = self.driver.device.violations();
        if count > broken {
            return Ok(Err(first.into_iter().next().unwrap_or_default()));
        }
        if !done.bit_exact() {
            return Ok(Err("its outputs differ from the model".to_owned()));
        }
        let now = self.driver.device.requests();
        let hbm = now.0.iter().zip(&before.0).map(|(now, then)| now - then).collect();
        let requests = (hbm, now.1 - before.1, now.2 - before.2);
        Ok(Ok(Clean { cycles: done.outcome.cycles, requests }))
    }

    /// Runs a job.
    fn run_by(
        &mut self,
        job: &Job,
        way: Way,
        most: u64,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<Finished, DeviceError> {
        match way {
            Way::Pushed => return self.run(job, Notice::Interrupt, most, stop),
            Way::Rung => return Ok(self.call(job, most, stop)?.0),
            Way::Listed => {}
        }
        self.ready(job, Notice::Interrupt)?;
        self.list(job)?;
        self.driver.start()?;
        let outcome = self.driver.wait(Notice::Interrupt, most, stop)?;
        self.driver.write("LIST_COUNT", 0)?;
        self.finish(job, outcome)
    }

    /// Does what the trial says, and reads the errors.
    fn provoke(
        &mut self,
        job: &Job,
        (trial, way): (Trial, Way),
        clean: &Clean,
        most: u64,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<Outcome, DeviceError> {
        let part = |all: u64, share: u32| all * u64::from(share) / 256;
        let (hbm, reads, writes) = self.driver.device.requests();
        let fault = |port: usize, kind, from: u64| vec![Fault::of_port(port, kind).after(from)];
        let mut faults = Faults::default();
        match trial {
            Trial::Memory(kind, share) => {
                let busiest = (0..hbm.len()).max_by_key(|&port| clean.requests.0[port]).unwrap_or(0);
                faults.hbm = fault(busiest, kind, hbm[busiest] + part(clean.requests.0[busiest], share));
            }
            Trial::Read(kind, share) => faults.reads = fault(0, kind, reads + part(clean.requests.1, share)),
            Trial::List(kind) => faults.reads = fault(0, kind, reads),
            Trial::Write(kind, share) => {
                faults.writes = fault(0, kind, writes + part(clean.requests.2, share))
            }
            Trial::Token(kind) => {
                let begun = self.driver.device.token_writes();
                let all = begun.into_iter().enumerate();
                faults.tokens = all.flat_map(|(port, begun)| fault(port, kind, begun)).collect();
            }
            Trial::Reset(_) | Trial::ComputeReset(_) => {}
            Trial::Watchdog => self.driver.write("WATCHDOG", 1)?,
            Trial::Refused(name) => return self.refused(job, name, most, stop),
        }
        if way == Way::Rung && matches!(trial, Trial::Memory(..) | Trial::Token(_)) {
            return self.provoke_by_doorbell(job, faults, most, stop);
        }
        match trial {
            Trial::List(_) => self.list(job)?,
            _ => self.push(job)?,
        }
        self.driver.device.set_faults(faults);
        self.driver.start()?;
        if let Trial::Reset(share) | Trial::ComputeReset(share) = trial {
            let until = self.driver.device.cycle() + part(clean.cycles, share);
            while self.driver.device.cycle() < until && !self.driver.device.interrupt() {
                self.driver.device.tick()?;
            }
            match trial {
                Trial::Reset(_) => self.driver.write("SOFT_RESET", 1)?,
                _ => self.hold_compute()?,
            }
        }
        self.driver.wait(Notice::Interrupt, most, stop)
    }

    /// The same by a doorbell. The record of the run must say what the registers do.
    fn provoke_by_doorbell(
        &mut self,
        job: &Job,
        faults: Faults,
        most: u64,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<Outcome, DeviceError> {
        let bell = self.lay_out(job, 0)?;
        self.driver.device.set_faults(faults);
        self.driver.write("DOORBELL", bell.word())?;
        let outcome = self.driver.wait(Notice::Interrupt, most, stop)?;
        self.driver.settle(most)?;
        let recorded = self.record().outcome();
        if (recorded.error, recorded.first) != (outcome.error, outcome.first) {
            let why = format!("its record says {}, and registers {}", recorded.errors(), outcome.errors());
            return Err(DeviceError::Failed(why));
        }
        Ok(outcome)
    }

    /// Does what a host must not do.
    fn refused(
        &mut self,
        job: &Job,
        name: &'static str,
        most: u64,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<Outcome, DeviceError> {
        let descriptors = job.descriptors().expect("the job was checked");
        let model = &job.design.model;
        let legal = Descriptor { close: false, step: false, append: false, ..descriptors[0] };
        match name {
            "ACCESS" => self.driver.device.write(NOWHERE, 1)?,
            "SELECT" => self.driver.write("COUNTER_SELECT", u32::MAX)?,
            "START_BUSY" => {
                self.start(job)?;
                (0..SOON).try_for_each(|_| self.driver.device.tick())?;
                self.driver.start()?;
                return self.driver.wait(Notice::Interrupt, most, stop);
            }
            "DESC_MAPPING" => {
                for (register, value) in words(&legal, false) {
                    let value = if register == "DESC_PUSH" { value | 3 } else { value };
                    self.driver.write(register, value)?;
                }
            }
            "DESC_MIXED" => {
                self.pushed(&[legal, Descriptor { layer: (legal.layer + 1) % model.layers, ..legal }])?
            }
            "DESC_CLOSED" => self.pushed(&[Descriptor { close: true, ..legal }, legal])?,
            "DESC_FULL" => self.pushed(&vec![legal; DESC_QUEUE as usize + 1])?,
            "DESC_LAYER" => self.pushed(&[Descriptor { layer: model.layers, ..legal }])?,
            "DESC_PREFIX" => self.pushed(&[Descriptor { prefix: model.max_streams, ..legal }])?,
            "DESC_SEGMENTS" => self.pushed(&[Descriptor { count: 0, ..legal }])?,
            "DESC_ROWS" => {
                let last_row = job.design.placement.segment_tokens;
                self.pushed(&[Descriptor { last_row, ..legal }])?;
            }
            "DESC_STREAMS" => self.pushed(&[Descriptor { streams: 0, ..legal }])?,
            "DESC_APPEND" => {
                self.pushed(&[Descriptor { append: true, streams: model.max_streams, stream: 0, ..legal }])?
            }
            _ => return self.refused_start(job, name, &legal, most, stop),
        }
        // The last word of a descriptor is checked for some cycles.
        self.driver.read("STATUS")?;
        (0..SOON + 64).try_for_each(|_| self.driver.device.tick())?;
        self.driver.outcome()
    }

    fn pushed(&mut self, descriptors: &[Descriptor]) -> Result<(), DeviceError> {
        descriptors.iter().try_for_each(|descriptor| self.driver.push(descriptor))
    }

    /// Starts what cannot be run.
    fn refused_start(
        &mut self,
        job: &Job,
        name: &'static str,
        legal: &Descriptor,
        most: u64,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<Outcome, DeviceError> {
        match name {
            "START_EMPTY" => {}
            "START_OPEN" => {
                self.pushed(&[*legal])?;
                self.streams(job)?;
            }
            "START_QUERIES" => {
                self.push(job)?;
                self.driver.write("QUERY_STREAMS", job.design.model.max_streams + 1)?;
            }
            "START_UNLOADED" => {
                self.driver.write("SOFT_RESET", 1)?;
                self.driver.settle(most)?;
                self.driver.clear()?;
                self.driver.enable(Notice::Interrupt)?;
                self.push(job)?;
                self.driver.write("QUERY_STREAMS", 0)?;
            }
            "START_TOKENS" => {
                self.push(job)?;
                self.driver.write("TOKEN_STREAMS", job.design.model.max_streams + 1)?;
            }
            "ARGUMENT" => {
                self.push(job)?;
                self.driver.argument(0, 8)?;
            }
            // The bytes of a list's memory that were not written are no descriptor.
            "START_LIST" => {
                let descriptors = job.descriptors().expect("the job was checked");
                let mut bytes = Driver::list(&descriptors, job.partials)?;
                bytes.truncate(bytes.len() - 4 * LIST_WORDS as usize);
                self.put_list(bytes, descriptors.len() as u32)?;
                self.streams(job)?;
            }
            _ => unreachable!("{name} is no refusal"),
        }
        self.driver.start()?;
        self.driver.wait(Notice::Interrupt, most, stop)
    }
}
