//! Complete runs of jobs on a device, from tensors in memory to outputs in memory.

use super::driver::{Driver, Notice, Outcome};
use super::error::DeviceError;
use super::host::Device;
use super::platform::Platform;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::memory::Image;
use crate::cosim::workloads::attention::expected;
use crate::cosim::workloads::attention::{AttentionResult, Job, Saturated};
use crate::design::Design;
use std::collections::BTreeMap;

/// Addresses of the buffers: beyond 32 bits, and not next to external memory.
const QUERIES: u64 = 0x7_0000_3000;
pub(super) const OUTPUTS: u64 = 0x9_ffff_e000;
const LIST: u64 = 0x6_ffff_f000;
/// Cycles in which the scan reads every counter.
const SCAN: u64 = 128;
/// Contents of an output buffer before a run, to detect bytes that were not written.
const BLANK: u8 = 0xa5;

/// A device with a driver, ready for jobs.
pub struct Bench {
    /// The driver, for callers that intervene.
    pub driver: Driver,
    pub(super) platform: Platform,
    /// False where only times are looked at.
    numbers: bool,
}

/// Result of a run that ended well.
#[derive(Debug, Clone)]
pub struct Finished {
    /// End of the run.
    pub outcome: Outcome,
    /// Output of each (stream, head), FP16; of a part of a job the halves of its [`State`](crate::model::State).
    pub outputs: BTreeMap<(u32, u32), Vec<u16>>,
    /// Outputs of the model, merged in the observed order.
    pub expected: BTreeMap<(u32, u32), Vec<u16>>,
    /// Heads with logits beyond the range.
    pub saturated: Vec<Saturated>,
    /// Partial results that were not merged.
    pub violations: Vec<String>,
}

impl Bench {
    /// Takes a device out of reset.
    ///
    /// # Errors
    /// If it is of another design or does not answer.
    pub fn new(device: Device, design: &Design, platform: &Platform) -> Result<Bench, DeviceError> {
        let driver = Driver::new(device, design)?;
        Ok(Bench { driver, platform: platform.clone(), numbers: true })
    }

    /// Leaves the numbers out: memory has any, and outputs are neither read nor checked.
    #[must_use]
    pub fn without_numbers(self) -> Bench {
        Bench { numbers: false, ..self }
    }

    /// Address of the buffer of queries and new tokens.
    pub fn queries(&self) -> u64 {
        QUERIES
    }

    /// Puts the tensors of a job into memory and writes the arguments.
    ///
    /// # Errors
    /// If a register access is not answered.
    pub fn load(&mut self, job: &Job) -> Result<(), DeviceError> {
        self.driver.device.set_image(if self.numbers { job.given() } else { Image::Hash(0) });
        self.inputs(job)
    }

    /// Puts queries and new tokens of a job into memory, empties its outputs, and writes the arguments.
    fn inputs(&mut self, job: &Job) -> Result<(), DeviceError> {
        let device = &mut self.driver.device;
        let buffer = queries(job);
        device.put_queries(QUERIES, buffer);
        device.put_outputs(OUTPUTS, vec![BLANK; job.design.output_bytes(job.streams, job.partials) as usize]);
        device.take_merged();
        self.driver.arguments(QUERIES, OUTPUTS, &self.platform.bases)
    }

    /// Pushes the descriptors of a job.
    ///
    /// # Errors
    /// If a register access is not answered.
    pub fn push(&mut self, job: &Job) -> Result<(), DeviceError> {
        let descriptors = job.descriptors().expect("the job was checked");
        self.driver.partials = job.partials;
        self.driver.write_pages(job.design, &descriptors)?;
        self.driver.push_all(&descriptors)?;
        self.streams(job)
    }

    /// Puts the descriptors of a job into memory as a list, from which the next runs take them.
    ///
    /// # Errors
    /// If a register access is not answered.
    pub fn list(&mut self, job: &Job) -> Result<(), DeviceError> {
        let descriptors = job.descriptors().expect("the job was checked");
        self.driver.write_pages(job.design, &descriptors)?;
        self.put_list(Driver::list(&descriptors, job.partials)?, descriptors.len() as u32)?;
        self.streams(job)
    }

    /// Writes how many streams' queries and new tokens a job has.
    pub(super) fn streams(&mut self, job: &Job) -> Result<(), DeviceError> {
        self.driver.write("QUERY_STREAMS", job.streams)?;
        match job.design.append {
            None => Ok(()),
            Some(_) => self.driver.write("TOKEN_STREAMS", caches(job)),
        }
    }

    /// Puts any bytes into memory as the list; the next runs take so many descriptors from it.
    ///
    /// # Errors
    /// If a register access is not answered.
    pub fn put_list(&mut self, mut bytes: Vec<u8>, count: u32) -> Result<(), DeviceError> {
        // Beats are read whole.
        bytes.resize(bytes.len().max(1).next_multiple_of(4096), BLANK);
        self.put_list_bytes(bytes)?;
        self.driver.write("LIST_COUNT", count)
    }

    /// Puts the bytes of all slots of the list into memory.
    pub(super) fn put_list_bytes(&mut self, bytes: Vec<u8>) -> Result<(), DeviceError> {
        self.driver.device.put_queries(LIST, bytes);
        self.driver.argument(self.driver.design().list_argument(), LIST)
    }

    /// Those bytes, if any were put there.
    pub(super) fn list_bytes(&self) -> Option<Vec<u8>> {
        self.driver.device.queries(LIST).map(<[u8]>::to_vec)
    }

    /// Pushes the descriptors of a job and starts it.
    ///
    /// # Errors
    /// If a register access is not answered.
    pub fn start(&mut self, job: &Job) -> Result<(), DeviceError> {
        self.push(job)?;
        self.driver.start()
    }

    /// Reads the outputs of a finished run from memory. ERROR must have been 0 as it began.
    pub fn take(&mut self, job: &Job, outcome: Outcome) -> Finished {
        if !self.numbers {
            let (outputs, expected) = Default::default();
            return Finished { outcome, outputs, expected, saturated: Vec::new(), violations: Vec::new() };
        }
        let (heads, dim) = (job.design.model.heads, job.design.pe.head_dim as usize);
        let bytes = self.driver.device.outputs(OUTPUTS).expect("it was put there");
        let halves = |at: usize, count: usize| {
            bytes[at..at + 2 * count].chunks(2).map(|two| u16::from_le_bytes([two[0], two[1]]))
        };
        let (sums, states) = (job.design.partial_sums_at(), job.design.partial_states_at());
        let order = (0..job.streams).flat_map(|stream| (0..heads).map(move |head| (stream, head)));
        let place = |at: usize| match job.partials {
            true => halves(states as usize + at * job.design.flit.data_width as usize / 8, 4)
                .chain(halves(sums as usize + 4 * at * dim, 2 * dim))
                .collect(),
            false => halves(2 * at * dim, dim).collect(),
        };
        let outputs = order.enumerate().map(|(at, of)| (of, place(at))).collect();
        let mut violations = Vec::new();
        let expected = expected(job, &self.driver.device.take_merged(), &mut violations);
        // ERROR has a bit for all heads, and ERROR_INFO the first of them.
        let known: Vec<_> = expected.saturated.iter().map(|one| one.stream * heads + one.head).collect();
        let reported = match outcome.first {
            Some(("SATURATED", place)) => known.contains(&place),
            _ => outcome.is_void() != known.is_empty(),
        };
        if !reported {
            violations.push(format!("outputs {known:?} are void, and ERROR has `{}`", outcome.errors()));
        }
        let (expected, saturated) = (expected.outputs, expected.saturated);
        Finished { outcome, outputs, expected, saturated, violations }
    }

    /// Prepares a run without starting it: clears errors and acknowledges an old interrupt.
    fn prepare(&mut self, job: &Job, notice: Notice) -> Result<(), DeviceError> {
        self.ready(job, notice)?;
        self.push(job)
    }

    /// The same before the descriptors.
    pub(super) fn ready(&mut self, job: &Job, notice: Notice) -> Result<(), DeviceError> {
        self.driver.clear()?;
        self.driver.enable(notice)?;
        self.load(job)
    }

    /// Runs a job completely.
    ///
    /// # Errors
    /// If it fails, or does not end. Void outputs are no failure.
    pub fn run(
        &mut self,
        job: &Job,
        notice: Notice,
        most: u64,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<Finished, DeviceError> {
        self.prepare(job, notice)?;
        self.driver.start()?;
        let outcome = self.driver.wait(notice, most, stop)?;
        self.finish(job, outcome)
    }

    pub(super) fn finish(&mut self, job: &Job, outcome: Outcome) -> Result<Finished, DeviceError> {
        if outcome.failures() != 0 {
            return Err(DeviceError::Failed(outcome.errors()));
        }
        let mut done = self.take(job, outcome);
        if self.numbers && job.appended().next().is_some() {
            done.violations.extend(self.driver.device.image().difference(&job.image()));
        }
        Ok(done)
    }

    /// Runs a job on what external memory has, from the runs before and from [`Device::set_image`]: its descriptors come
    /// by a list, and one write of a register starts them. Counters of the result are not read.
    ///
    /// # Errors
    /// As [`Bench::run`].
    pub fn step(
        &mut self,
        job: &Job,
        clocks: Clocks,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<AttentionResult, DeviceError> {
        let before = self.driver.device.token_beats();
        self.driver.clear()?;
        self.driver.enable(Notice::Interrupt)?;
        self.inputs(job)?;
        self.list(job)?;
        self.driver.device.watch(AttentionResult::begun(job.design, clocks, self.numbers), 0);
        self.driver.start()?;
        let outcome = self.wait(job, stop)?;
        if outcome.failures() != 0 {
            return Err(DeviceError::Failed(outcome.errors()));
        }
        let done = self.take(job, outcome);
        let mut result = self.driver.device.unwatch().expect("it was watched");
        if let Some(append) = job.design.append {
            result.tokens_written = (self.driver.device.token_beats() - before) / u64::from(append.beats);
        }
        (result.outputs, result.expected) = (done.outputs, done.expected);
        (result.saturated, result.cycles) = (done.saturated, done.outcome.cycles);
        result.violations = done.violations;
        result.violations.extend(self.driver.device.violations().1);
        Ok(result)
    }

    /// The same, and records the probes of the design from the start on, with so many cycles of its
    /// stages.
    ///
    /// # Errors
    /// As [`Bench::run`].
    pub fn watch(
        &mut self,
        job: &Job,
        clocks: Clocks,
        timeline: usize,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<AttentionResult, DeviceError> {
        self.prepare(job, Notice::Interrupt)?;
        let before = self.driver.device.beats();
        let io_before = self.driver.device.io_beats();
        self.driver.device.watch(AttentionResult::begun(job.design, clocks, self.numbers), timeline);
        self.driver.start()?;
        let outcome = self.wait(job, stop)?;
        let done = self.finish(job, outcome)?;
        // A faster scan could skip some counters.
        self.driver.device.set_clocks(&clocks.into_step())?;
        for _ in 0..SCAN {
            self.driver.device.tick()?;
        }
        let device = &mut self.driver.device;
        let mut result = device.unwatch().expect("it was watched");
        (result.outputs, result.expected) = (done.outputs, done.expected);
        result.saturated = done.saturated;
        result.cycles = done.outcome.cycles;
        result.beats = device.beats().iter().zip(before).map(|(now, then)| now - then).collect();
        result.io_beats = device.io_beats() - io_before;
        result.violations = done.violations;
        result.violations.extend(device.violations().1);
        Ok(result)
    }
}

/// The buffer of queries, scales and new tokens of a job.
pub(super) fn queries(job: &Job) -> Vec<u8> {
    let heads = job.design.model.heads;
    let order = (0..job.streams).flat_map(|stream| (0..heads).map(move |head| (stream, head)));
    let elements = order.flat_map(|(stream, head)| job.query(head, stream));
    let mut buffer: Vec<u8> = elements.flat_map(|e| e.to_le_bytes()).collect();
    let places = [job.design.scales_at(), job.design.sinks_at()];
    for ((_, words), at) in job.words_before_queries().into_iter().zip(places) {
        buffer.resize(at as usize, BLANK);
        buffer.extend(words.into_iter().flat_map(u64::to_le_bytes));
    }
    buffer.extend(rows(job, buffer.len()));
    buffer
}

/// One above the highest cache with a new token.
pub(super) fn caches(job: &Job) -> u32 {
    job.appended().map(|(cache, _)| cache + 1).max().unwrap_or(0)
}

/// New tokens as they lie behind the queries, from byte `begun` of the buffer on: K and V of each KV head, cache by cache.
fn rows(job: &Job, begun: usize) -> Vec<u8> {
    let (design, model) = (job.design, &job.design.model);
    let caches = caches(job);
    if caches == 0 {
        return Vec::new();
    }
    let mut buffer = vec![BLANK; design.query_bytes(caches) as usize];
    if design.takes_factors() {
        let factors =
            (0..model.kv_heads).flat_map(|g| job.tensors.scales((g * model.group_heads()) as usize));
        let at = design.factors_at() as usize;
        let words: Vec<u8> = factors.flat_map(|factor| (1.0 / factor).to_le_bytes()).collect();
        buffer[at..at + words.len()].copy_from_slice(&words);
    }
    let row = 2 * design.pe.head_dim as usize;
    for (cache, token) in job.appended() {
        for g in 0..model.kv_heads {
            let at = design.tokens_at() as usize + (cache * model.kv_heads + g) as usize * 2 * row;
            let bytes: Vec<u8> =
                job.raw_token(g, token).concat().iter().flat_map(|e| e.to_le_bytes()).collect();
            buffer[at..at + 2 * row].copy_from_slice(&bytes);
        }
    }
    buffer.split_off(begun)
}

impl Finished {
    /// True if every output equals the model's in every bit and nothing else is wrong.
    pub fn bit_exact(&self) -> bool {
        self.outputs == self.expected && self.violations.is_empty()
    }
}
