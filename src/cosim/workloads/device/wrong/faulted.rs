//! A run with faults that are injected on request, and the run after it.
//!
//! What must be reported is not known here: [`crate::cosim::faults`] judges what was [`Seen`].

use crate::cosim::faults::{Injected, MemoryPlace, Outputs, Reset, Seen, What, TIMEOUT};
use crate::cosim::memory::{Fault, FaultKind};
use crate::cosim::workloads::attention::Job;
use crate::cosim::workloads::device::bench::Bench;
use crate::cosim::workloads::device::driver::{Driver, Notice, Outcome};
use crate::cosim::workloads::device::error::DeviceError;
use crate::cosim::workloads::device::host::Device;
use crate::cosim::workloads::device::platform::Faults;
use std::cmp::Reverse;

/// Cycles in which a reset from outside is held.
const HELD: u64 = 64;
/// Waits for memory that a run with faults may have, one after the other: a request, a reset that waits for its answers,
/// and the epoch after it.
const WAITS: u64 = 4;

/// What the run after one with faults showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// Every output was right, and no rule was broken.
    Right,
    /// It was not.
    Failed(String),
    /// The simulation cannot go on after a check of the Verilog has stopped it.
    Impossible,
}

/// A run with faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faulted {
    /// The report.
    pub seen: Seen,
    /// Cycle after the start in which each fault took effect, in their order.
    pub reached: Vec<Option<u64>>,
    /// Cycles from the start to the end, whatever it was.
    pub cycles: u64,
    /// The run of the same job after it, without faults.
    pub recovery: Recovery,
}

/// How a run with faults ended.
enum End {
    Over(Outcome),
    Cleared,
    Broken(DeviceError),
}

/// Lists of faults of the ports, with the number of each among all.
#[derive(Default)]
struct Lists([Vec<(usize, Fault)>; 4]);

impl Lists {
    /// Those of a run that begins at a cycle.
    fn of(faults: &[Injected], begun: u64) -> Lists {
        let mut lists = Lists::default();
        for (number, injected) in faults.iter().enumerate() {
            let What::Memory(place, fault) = &injected.what else { continue };
            let list = match place {
                MemoryPlace::Hbm(_) => 0,
                MemoryPlace::Queries => 1,
                MemoryPlace::Outputs => 2,
                MemoryPlace::Tokens(_) => 3,
            };
            let kind = match fault.kind {
                FaultKind::Still { from, to } => {
                    FaultKind::Still { from: begun.saturating_add(from), to: begun.saturating_add(to) }
                }
                kind => kind,
            };
            lists.0[list].push((number, Fault { kind, ..fault.clone() }));
        }
        lists
    }

    fn faults(&self) -> Faults {
        let of = |list: usize| self.0[list].iter().map(|(_, fault)| fault.clone()).collect();
        Faults { hbm: of(0), reads: of(1), writes: of(2), tokens: of(3) }
    }

    /// Notes when they took effect.
    fn reached(&self, device: &Device, begun: u64, reached: &mut [Option<u64>]) {
        for (list, struck) in self.0.iter().zip(device.struck()) {
            for ((number, _), at) in list.iter().zip(struck) {
                reached[*number] = at.map(|at| at.saturating_sub(begun));
            }
        }
    }
}

impl Bench {
    /// Runs a job with faults, ends it at `most` cycles if nothing else does, and runs it once more without. Requests of
    /// the first run of a device count from 0.
    ///
    /// # Errors
    /// If the device fails before the start, or `stop` returns true.
    pub fn faulted(
        &mut self,
        job: &Job,
        faults: &[Injected],
        most: u64,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<Faulted, DeviceError> {
        let mut reached = vec![None; faults.len()];
        self.ready(job, Notice::Interrupt)?;
        self.descriptors(job, faults, &mut reached)?;
        let begun = self.driver.device.cycle();
        let lists = Lists::of(faults, begun);
        self.driver.device.set_faults(lists.faults());
        if let Some(flip) = faults.iter().find_map(|fault| fault.flip(job.design)) {
            self.driver.device.flip(&flip)?;
        }
        for (at, injected) in reached.iter_mut().zip(faults) {
            if matches!(injected.what, What::PeClock(_) | What::Jitter(_)) {
                *at = Some(0);
            }
        }
        let most = most + WAITS * TIMEOUT;
        let end = match self.until_end(faults, &mut reached, most, stop) {
            Err(DeviceError::Stopped) => return Err(DeviceError::Stopped),
            Err(why) => End::Broken(why),
            Ok(end) => end,
        };
        lists.reached(&self.driver.device, begun, &mut reached);
        for at in reached.iter_mut().zip(faults).filter(|(_, fault)| fault.is_flip()).map(|(at, _)| at) {
            *at = self.driver.device.flipped().map(|cycle| cycle.saturating_sub(begun));
        }
        let cycles = self.driver.device.cycle() - begun;
        let (seen, usable) = self.seen(job, end);
        let recovery = match usable {
            true => self.recover(job, most, !seen.rules.is_empty(), stop)?,
            false => Recovery::Impossible,
        };
        Ok(Faulted { seen, reached, cycles, recovery })
    }

    /// Pushes descriptors, or puts a list into memory that is cut.
    fn descriptors(
        &mut self,
        job: &Job,
        faults: &[Injected],
        reached: &mut [Option<u64>],
    ) -> Result<(), DeviceError> {
        let cuts = faults.iter().zip(reached).filter_map(|(fault, at)| match fault.what {
            What::CutList(first) => Some((first as usize, at)),
            _ => None,
        });
        let mut cuts: Vec<_> = cuts.collect();
        cuts.sort_by_key(|(first, _)| *first);
        let Some((first, at)) = cuts.into_iter().next() else { return self.push(job) };
        let descriptors = job.descriptors().expect("the job was checked");
        let mut bytes = Driver::list(&descriptors, job.partials)?;
        if first < descriptors.len() {
            bytes.truncate(bytes.len() / descriptors.len() * first);
            *at = Some(0);
        }
        self.put_list(bytes, descriptors.len() as u32)?;
        self.streams(job)
    }

    /// Starts the run, resets it where it is to be, and waits for its end.
    fn until_end(
        &mut self,
        faults: &[Injected],
        reached: &mut [Option<u64>],
        most: u64,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<End, DeviceError> {
        let mut resets: Vec<_> = faults
            .iter()
            .zip(reached)
            .filter_map(|(fault, at)| match fault.what {
                What::Reset(reset, cycle) => Some((cycle, reset, at)),
                _ => None,
            })
            .collect();
        resets.sort_by_key(|(cycle, ..)| Reverse(*cycle));
        let begun = self.driver.device.cycle();
        self.driver.start()?;
        while let Some((cycle, reset, at)) = resets.pop() {
            while self.driver.device.cycle() < begun + cycle && !self.driver.device.interrupt() {
                self.driver.device.tick()?;
                if self.driver.device.cycle().is_multiple_of(HELD) && stop(&self.driver.device) {
                    return Err(DeviceError::Stopped);
                }
            }
            if self.driver.device.interrupt() {
                break;
            }
            *at = Some(self.driver.device.cycle() - begun);
            match reset {
                Reset::Soft => self.driver.write("SOFT_RESET", 1)?,
                Reset::Compute => self.hold_compute()?,
                Reset::Device => {
                    self.driver.device.reset(HELD)?;
                    return Ok(End::Cleared);
                }
            }
        }
        self.driver.wait(Notice::Interrupt, most, stop).map(End::Over)
    }

    pub(super) fn hold_compute(&mut self) -> Result<(), DeviceError> {
        self.driver.device.hold_compute(true);
        (0..HELD).try_for_each(|_| self.driver.device.tick())?;
        self.driver.device.hold_compute(false);
        Ok(())
    }

    /// The report of a run that ended so, and whether the simulation can go on.
    fn seen(&mut self, job: &Job, end: End) -> (Seen, bool) {
        let rules = self.driver.device.violations().1;
        let mut seen =
            Seen { errors: Vec::new(), rules, outputs: Outputs::NotTaken, ended: None, cleared: false };
        match end {
            End::Over(outcome) => {
                seen.errors.extend(outcome.first);
                if outcome.failures() == 0 {
                    let done = self.take(job, outcome);
                    let wrong = done.outputs.iter().filter(|(of, out)| done.expected.get(of) != Some(out));
                    seen.outputs = match wrong.count() {
                        0 => Outputs::Right(done.outputs.len()),
                        differing => Outputs::Wrong(differing, done.outputs.len()),
                    };
                    seen.ended = done.violations.into_iter().next();
                }
            }
            End::Cleared => match self.is_cleared() {
                Ok(cleared) => seen.cleared = cleared,
                Err(why) => seen.ended = Some(why.to_string()),
            },
            End::Broken(why) => {
                let usable = !matches!(why, DeviceError::Dut(_));
                seen.ended = Some(why.to_string());
                return (seen, usable);
            }
        }
        (seen, true)
    }

    /// True if the registers read as after power-up.
    fn is_cleared(&mut self) -> Result<bool, DeviceError> {
        let zeros = ["ERROR", "RUNS"].map(|name| self.driver.read(name));
        let [error, runs] = zeros;
        Ok((error?, runs?) == (0, 0) && !self.driver.device.interrupt())
    }

    /// Runs the job without faults. A memory that broke rules may have left its counts wrong, so all is reset before.
    fn recover(
        &mut self,
        job: &Job,
        most: u64,
        reset: bool,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<Recovery, DeviceError> {
        self.driver.device.set_faults(Faults::default());
        let mut again = || {
            if reset {
                self.driver.device.reset(HELD)?;
            }
            self.driver.settle(most)?;
            // Descriptors are pushed, whatever list there was.
            self.driver.write("LIST_COUNT", 0)?;
            let before = self.driver.device.violations().0;
            let done = self.run(job, Notice::Interrupt, most, stop)?;
            Ok(match (done.bit_exact(), self.driver.device.violations().0 - before) {
                (true, 0) => Recovery::Right,
                (true, broken) => Recovery::Failed(format!("it broke {broken} rules of AXI4")),
                (false, _) => Recovery::Failed("its outputs differ from the model".to_owned()),
            })
        };
        match again() {
            Err(DeviceError::Stopped) => Err(DeviceError::Stopped),
            Err(why) => Ok(Recovery::Failed(why.to_string())),
            Ok(recovery) => Ok(recovery),
        }
    }
}
