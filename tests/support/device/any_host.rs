//! A host that reads and writes registers in any order, with the expected results.

use super::register_file::{Reads, Reference};
use super::{assert_clean, whole, MOST};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::hash::mix;
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::device::{Bench, Notice, Outcome, Platform};
use meshkv::design::device::registers::{self, named, REGISTERS, WATCHDOG};
use meshkv::design::Descriptor;
use meshkv::design::Design;

/// A host with random accesses, and the model of their results.
pub struct Host<'a> {
    pub bench: Bench,
    pub reference: Reference,
    design: &'a Design,
    random: u64,
    pub what: String,
}

/// Registers that start actions; a random word there would do more than the sequence intends.
pub const ACTS: [&str; 4] = ["CTRL", "DESC_PUSH", "DOORBELL", "SOFT_RESET"];

impl<'a> Host<'a> {
    pub fn new(design: &'a Design, clocks: &Clocks, seed: u64) -> Host<'a> {
        let platform = Platform::of(design).unruly(seed);
        let bench = whole(design, &platform, clocks);
        Host {
            bench,
            reference: Reference::new(design),
            design,
            random: mix(seed),
            what: format!("seed {seed}"),
        }
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.random = mix(self.random);
        (self.random >> 16) % n
    }

    pub fn word(&mut self) -> u32 {
        match self.below(4) {
            0 => self.below(8) as u32,
            1 => u32::MAX,
            2 => 1 << self.below(32),
            _ => self.below(1 << 32) as u32,
        }
    }

    /// A random offset, of a register more often than of a hole.
    pub fn offset(&mut self) -> u32 {
        match self.below(4) {
            0 => 4 * self.below(1 << 10) as u32,
            1 => 0x10 + 4 * self.below(3 * (self.design.memory.ports as u64 + 2)) as u32,
            _ => REGISTERS[self.below(REGISTERS.len() as u64) as usize].offset,
        }
    }

    pub fn agree(&mut self, read: u32, wanted: Reads, offset: u32) {
        if let Reads::Exactly(wanted) = wanted {
            assert_eq!(read, wanted, "{}: register {offset:#05x} is {read:#x}, not {wanted:#x}", self.what);
        }
    }

    pub fn read(&mut self, offset: u32) {
        let wanted = self.reference.read(offset);
        let read = self.bench.driver.device.read(offset).unwrap();
        self.agree(read, wanted, offset);
    }

    /// Writes a register that starts no action, sometimes with a read of another register in the same cycle.
    pub fn write(&mut self) {
        let (mut offset, mut value, strobes) = (self.offset(), self.word(), self.below(16) as u32);
        match ACTS.iter().find(|name| named(name).offset == offset) {
            Some(&"CTRL") => value &= !1,
            Some(_) => offset = named("GIE").offset,
            None => {}
        }
        // Both at once come one after the other, in either order: only of another register, and no error.
        let beside = named(["MAGIC", "MESH", "KV"][self.below(3) as usize]).offset;
        let read = (self.below(3) == 0).then_some(beside);
        self.reference.write(offset, value, strobes);
        let word = self.bench.driver.device.access(Some((offset, value, strobes)), read).unwrap();
        if let Some(beside) = read {
            let wanted = self.reference.read(beside);
            self.agree(word, wanted, beside);
        }
    }

    /// Checks ERROR, its companions and the interrupt line.
    pub fn check(&mut self) {
        for name in ["ERROR", "ERROR_INFO", "ISR", "DESC_FREE", "RUNS"] {
            self.read(named(name).offset);
        }
        assert_eq!(self.bench.driver.device.interrupt(), self.reference.interrupt(), "{}", self.what);
    }

    /// Pushes a descriptor and checks that it is taken or refused.
    pub fn push(&mut self, d: &Descriptor, mapping: u32) {
        let refusals = self.reference.refusals(d, mapping);
        self.bench.driver.push(d).unwrap();
        for (name, value) in [
            ("DESC_CACHE", d.layer | d.prefix << 16),
            ("DESC_FIRST", d.first),
            ("DESC_STRIDE", d.stride),
            ("DESC_COUNT", d.count),
            ("DESC_ROWS", d.first_row | d.last_row << 16),
            ("DESC_STREAMS", d.stream | d.streams << 16),
        ] {
            self.reference.write(named(name).offset, value, 0xf);
        }
        self.judge(&refusals, &format!("{d:?}"));
        if refusals.is_empty() {
            self.reference.push(d);
        }
    }

    /// Checks that one of these errors was raised, or none if the list is empty.
    pub fn judge(&mut self, possible: &[(&'static str, u32)], what: &str) {
        let raised = self.bench.driver.read("ERROR").unwrap() & !self.reference.error();
        let stood = |name: &str| self.reference.error() >> registers::error(name).bit & 1 == 1;
        let hit = possible.iter().find(|(name, _)| raised == 1 << registers::error(name).bit);
        match hit.or_else(|| possible.iter().find(|(name, _)| raised == 0 && stood(name))) {
            Some(&(name, place)) => self.reference.raise(name, place),
            None => assert!(
                possible.is_empty() && raised == 0,
                "{}, {what}: ERROR gained {raised:#x}, of {possible:?}",
                self.what
            ),
        }
    }

    /// Starts the descriptors in the queue and waits for the end.
    pub fn start(&mut self) -> Outcome {
        let refusals: Vec<_> = self.reference.start_refusals();
        let ctrl = named("CTRL").offset;
        self.bench.driver.device.write(ctrl, 1).unwrap();
        self.reference.write(ctrl, 0, 1);
        let outcome = self.bench.driver.wait(Notice::Polling, MOST, &mut |_| false);
        let outcome = outcome.unwrap_or_else(|e| panic!("{}: {e}", self.what));
        let raised = outcome.error & !self.reference.error();
        let names = |error: u32| registers::ERRORS.iter().filter(move |c| error >> c.bit & 1 == 1);
        match refusals.iter().find(|name| outcome.error >> registers::error(name).bit & 1 == 1) {
            Some(name) => {
                let place = outcome.first.map_or(0, |(_, place)| place);
                self.reference.raise(name, place);
                assert!(names(raised).count() <= 1, "{}: {}", self.what, outcome.errors());
            }
            None => assert!(
                refusals.is_empty() && raised == 0,
                "{}: {refusals:?}, {}",
                self.what,
                outcome.errors()
            ),
        }
        self.reference.over(!refusals.is_empty());
        // The wait has read what clears itself.
        self.reference.read(ctrl);
        outcome
    }

    /// Runs a whole job after a soft reset, which drops descriptors left in the queue.
    pub fn run(&mut self, job: &Job) {
        self.soft_reset();
        self.bench.load(job).unwrap();
        let arguments = self.design.arguments().len() as u32;
        for word in (0..arguments).flat_map(|n| [0, 4].map(|high| Design::argument_offset(n) + high)) {
            let value = self.bench.driver.device.read(word).unwrap();
            self.reference.write(word, value, 0xf);
        }
        for (name, value) in
            [("WATCHDOG", WATCHDOG), ("QUERY_STREAMS", job.streams), ("LIST_COUNT", 0), ("TOKEN_STREAMS", 0)]
        {
            self.set(name, value);
        }
        for descriptor in job.descriptors().unwrap() {
            self.push(&descriptor, 1);
        }
        let outcome = self.start();
        let done = self.bench.take(job, outcome);
        assert_clean(&self.bench, &done, &self.what);
    }

    pub fn set(&mut self, name: &str, value: u32) {
        self.bench.driver.write(name, value).unwrap();
        self.reference.write(named(name).offset, value, 0xf);
    }

    pub fn soft_reset(&mut self) {
        self.bench.driver.write("SOFT_RESET", 1).unwrap();
        self.bench.driver.settle(MOST).unwrap();
        self.reference.soft_reset();
    }

    /// A descriptor with one fault or none.
    pub fn any_descriptor(&mut self, legal: &Descriptor) -> Descriptor {
        let model = &self.design.model;
        let (segments, tokens) = (self.design.placement.segments, self.design.placement.segment_tokens);
        let mut d = Descriptor { close: self.below(3) > 0, ..*legal };
        (d.stream, d.streams) = [(0, 2), (0, 1), (1, 1)][self.below(3) as usize];
        match self.below(16) {
            0 => d.layer = model.layers + self.below(3) as u32,
            1 => d.prefix = model.max_streams + self.below(9) as u32,
            2 => d.count = 0,
            3 => d.stride = 0,
            4 => d.first = segments + self.below(70_000) as u32,
            5 => d.count = segments + 1 + self.below(70_000) as u32,
            6 => d.stride = segments / d.count.max(2) * 2 + 1 + self.below(70_000) as u32,
            7 => d.first_row = tokens + self.below(3) as u32,
            8 => d.last_row = tokens,
            9 => (d.count, d.first_row, d.last_row) = (1, 3, 2),
            10 => d.streams = 0,
            11 => d.streams = model.max_streams + 1,
            12 => d.stream = model.max_streams,
            13 | 14 => (d.append, d.prefix) = (true, self.below(2) as u32),
            _ => {}
        }
        d
    }
}
