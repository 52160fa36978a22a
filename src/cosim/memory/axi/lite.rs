//! AXI4-Lite rules: accesses to registers, one word at a time, without IDs.

use super::signals::{response_fault, Findings, Wires};
use super::stable_until_ready::Held;
use crate::cosim::checks::violation::Violations;

/// Bytes of a register.
const WORD: u64 = 4;

/// All five channels in one period.
#[derive(Debug, Clone, Copy)]
pub struct LiteWires {
    /// AWADDR.
    pub aw: Wires<u64>,
    /// WDATA and WSTRB.
    pub w: Wires<(u32, u32)>,
    /// BRESP.
    pub b: Wires<u32>,
    /// ARADDR.
    pub ar: Wires<u64>,
    /// RDATA and RRESP.
    pub r: Wires<(u32, u32)>,
}

/// Checker of one register interface.
#[derive(Debug)]
pub struct LiteRules {
    interface: String,
    aw: Held<u64>,
    w: Held<(u32, u32)>,
    b: Held<u32>,
    ar: Held<u64>,
    r: Held<(u32, u32)>,
    /// Addresses, words and reads that were taken and not answered.
    addresses: u64,
    words: u64,
    reads: u64,
    reset: u64,
}

impl LiteRules {
    /// A checker for an interface of this name, before its first period.
    pub fn new(interface: impl Into<String>) -> LiteRules {
        LiteRules {
            interface: interface.into(),
            aw: Held::new("AW"),
            w: Held::new("W"),
            b: Held::new("B"),
            ar: Held::new("AR"),
            r: Held::new("R"),
            addresses: 0,
            words: 0,
            reads: 0,
            reset: 0,
        }
    }

    /// Judges a period in reset. `answers` says on which channels the slave answers.
    pub(in crate::cosim) fn in_reset(
        &mut self,
        cycle: u64,
        shown: (bool, bool),
        violations: &mut Violations,
    ) {
        let periods = self.reset + 1;
        let shown = [("B", shown.0), ("R", shown.1)];
        Findings { cycle, interface: &self.interface, violations }.in_reset(periods, &shown);
        *self = LiteRules { reset: periods, ..LiteRules::new(std::mem::take(&mut self.interface)) };
    }

    /// Judges a period.
    pub(in crate::cosim) fn judge(&mut self, cycle: u64, wires: &LiteWires, violations: &mut Violations) {
        self.reset = 0;
        let mut found = Findings { cycle, interface: &self.interface, violations };
        if let Some(response) = self.b.judge(wires.b.as_ref(), &mut found) {
            if self.addresses.min(self.words) == 0 {
                found.add("B", "a response was given, and no write is complete (A3.3.1)");
            }
            response_fault(*response).into_iter().for_each(|rule| found.add("B", rule));
        }
        if let Some((_, response)) = self.r.judge(wires.r.as_ref(), &mut found) {
            if self.reads == 0 {
                found.add("R", "a word was given, and nothing was asked (A3.3.1)");
            }
            response_fault(*response).into_iter().for_each(|rule| found.add("R", rule));
        }
        for (channel, address) in [
            ("AW", self.aw.judge(wires.aw.as_ref(), &mut found)),
            ("AR", self.ar.judge(wires.ar.as_ref(), &mut found)),
        ] {
            if let Some(address) = address.filter(|address| !address.is_multiple_of(WORD)) {
                found.add(channel, format_args!("the address {address:#x} is inside a word"));
            }
        }
        self.w.judge(wires.w.as_ref(), &mut found);
        if wires.b.taken().is_some() {
            self.addresses = self.addresses.saturating_sub(1);
            self.words = self.words.saturating_sub(1);
        }
        self.reads -= u64::from(wires.r.taken().is_some() && self.reads > 0);
        self.addresses += u64::from(wires.aw.taken().is_some());
        self.words += u64::from(wires.w.taken().is_some());
        self.reads += u64::from(wires.ar.taken().is_some());
    }
}
