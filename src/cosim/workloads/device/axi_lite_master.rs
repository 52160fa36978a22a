//! The AXI4-Lite master of a host: one write and one read at a time, with random delays on each
//! channel.

use crate::cosim::checks::violation::{Violation, ViolationKind, Violations};
use crate::cosim::dut::pins::Pins;
use crate::cosim::dut::{group_pins, DutError};
use crate::cosim::hash::mix;
use crate::cosim::memory::axi::{LiteRules, LiteWires, Wires, OKAY};
use crate::design::device::registers::named;
use crate::emit::ModuleSpec;

/// Prefix of the ports.
const PREFIX: &str = "s_axi_control_";

group_pins! {
    /// AXI4-Lite.
    LitePins {
        awvalid awready awaddr wvalid wready wdata wstrb bvalid bready bresp
        arvalid arready araddr rvalid rready rdata rresp
    }
}

/// A value that is put on its channel after some periods, until it is taken.
#[derive(Debug, Clone, Copy)]
struct Waiting<T> {
    periods: u64,
    value: T,
}

/// The master.
pub(super) struct Registers {
    pins: LitePins,
    rules: LiteRules,
    violations: Violations,
    aw: Option<Waiting<u64>>,
    w: Option<Waiting<(u32, u32)>>,
    ar: Option<Waiting<u64>>,
    writing: bool,
    /// The write is a start that the device has not taken yet, and it was taken in this period.
    starting: bool,
    started: bool,
    reading: bool,
    word: u32,
    ready: (bool, bool),
    /// Largest delay on any channel, in periods.
    lazy: u64,
    random: u64,
    /// Writes and reads so far.
    accesses: [u64; 2],
}

impl Registers {
    pub(super) fn find(
        pins: &mut Pins,
        top: &ModuleSpec,
        lazy: u64,
        seed: u64,
    ) -> Result<Registers, DutError> {
        Ok(Registers {
            pins: LitePins::named(pins, top, PREFIX, 1)?,
            rules: LiteRules::new("s_axi_control"),
            violations: Violations::default(),
            aw: None,
            w: None,
            ar: None,
            writing: false,
            starting: false,
            started: false,
            reading: false,
            word: 0,
            ready: (false, false),
            lazy,
            random: mix(seed ^ 0x6c69_7465),
            accesses: [0; 2],
        })
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random = mix(self.random);
        (self.random >> 16) % n
    }

    fn later<T>(&mut self, value: T) -> Option<Waiting<T>> {
        Some(Waiting { periods: self.below(self.lazy + 1), value })
    }

    /// Begins to write a word; `strobes` select its bytes.
    pub(super) fn write(&mut self, offset: u32, value: u32, strobes: u32) {
        assert!(!self.writing, "one write at a time");
        self.writing = true;
        let start = offset == named("CTRL").offset && strobes & value & 1 == 1;
        self.starting = start || offset == named("DOORBELL").offset;
        self.accesses[0] += 1;
        self.aw = self.later(u64::from(offset));
        self.w = self.later((value, strobes));
    }

    /// Begins to read a word.
    pub(super) fn read(&mut self, offset: u32) {
        assert!(!self.reading, "one read at a time");
        self.reading = true;
        self.accesses[1] += 1;
        self.ar = self.later(u64::from(offset));
    }

    /// True while an access is not answered.
    pub(super) fn busy(&self) -> bool {
        self.writing || self.reading
    }

    /// True if the device took a start in the last period.
    pub(super) fn starts(&self) -> bool {
        self.started
    }

    /// The last word read.
    pub(super) fn word(&self) -> u32 {
        self.word
    }

    /// Writes and reads so far.
    pub(super) fn accesses(&self) -> [u64; 2] {
        self.accesses
    }

    pub(super) fn violations(&self) -> (u64, &[Violation]) {
        (self.violations.count, &self.violations.first)
    }

    /// Sets the channels for this period.
    pub(super) fn drive(&mut self, pins: &mut Pins) {
        self.ready = (self.below(self.lazy + 1) == 0, self.below(self.lazy + 1) == 0);
        let at = self.pins;
        let (aw, w, ar) = (due(&mut self.aw), due(&mut self.w), due(&mut self.ar));
        pins.set(at.awvalid, 0, u64::from(aw.is_some()));
        pins.set(at.awaddr, 0, aw.unwrap_or_default());
        pins.set(at.wvalid, 0, u64::from(w.is_some()));
        pins.set(at.wdata, 0, u64::from(w.unwrap_or_default().0));
        pins.set(at.wstrb, 0, u64::from(w.unwrap_or_default().1));
        pins.set(at.arvalid, 0, u64::from(ar.is_some()));
        pins.set(at.araddr, 0, ar.unwrap_or_default());
        pins.set(at.bready, 0, u64::from(self.ready.0));
        pins.set(at.rready, 0, u64::from(self.ready.1));
    }

    /// Takes the transfers of the period.
    pub(super) fn observe(&mut self, pins: &Pins, cycle: u64) {
        let at = self.pins;
        let get = |pin| pins.get(pin, 0);
        let one = |pin| get(pin) == 1;
        let shown = |valid, value: u64| one(valid).then_some(value);
        let wires = LiteWires {
            aw: Wires { shown: shown(at.awvalid, get(at.awaddr)), ready: one(at.awready) },
            w: Wires {
                shown: one(at.wvalid).then(|| (get(at.wdata) as u32, get(at.wstrb) as u32)),
                ready: one(at.wready),
            },
            b: Wires { shown: one(at.bvalid).then(|| get(at.bresp) as u32), ready: self.ready.0 },
            ar: Wires { shown: shown(at.arvalid, get(at.araddr)), ready: one(at.arready) },
            r: Wires {
                shown: one(at.rvalid).then(|| (get(at.rdata) as u32, get(at.rresp) as u32)),
                ready: self.ready.1,
            },
        };
        self.rules.judge(cycle, &wires, &mut self.violations);
        self.aw = self.aw.filter(|_| wires.aw.taken().is_none());
        self.w = self.w.filter(|_| wires.w.taken().is_none());
        self.ar = self.ar.filter(|_| wires.ar.taken().is_none());
        self.started = self.starting && self.aw.is_none() && self.w.is_none();
        self.starting &= !self.started;
        let mut answers = Vec::new();
        if let Some(&response) = wires.b.taken() {
            self.writing = false;
            answers.push(("B", response));
        }
        if let Some(&(word, response)) = wires.r.taken() {
            (self.reading, self.word) = (false, word);
            answers.push(("R", response));
        }
        // An error response can bring down a host, so every access must be answered with OKAY.
        for (channel, response) in answers.into_iter().filter(|(_, response)| *response != OKAY) {
            let message = || format!("cycle {cycle}: s_axi_control {channel}: the response is {response}");
            self.violations.add(ViolationKind::Protocol, message);
        }
    }

    /// Runs a period in reset and forgets all accesses.
    pub(super) fn in_reset(&mut self, pins: &mut Pins, cycle: u64) {
        (self.aw, self.w, self.ar) = (None, None, None);
        (self.writing, self.reading) = (false, false);
        let shown = (pins.get(self.pins.bvalid, 0) == 1, pins.get(self.pins.rvalid, 0) == 1);
        self.rules.in_reset(cycle, shown, &mut self.violations);
        for pin in [self.pins.awvalid, self.pins.wvalid, self.pins.arvalid] {
            pins.set(pin, 0, 0);
        }
    }
}

/// The value on a channel in this period.
fn due<T: Copy>(waiting: &mut Option<Waiting<T>>) -> Option<T> {
    let waiting = waiting.as_mut()?;
    let due = waiting.periods == 0;
    waiting.periods = waiting.periods.saturating_sub(1);
    due.then_some(waiting.value)
}
