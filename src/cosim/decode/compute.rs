//! What stands where the compute of a tile will be: takes jobs and flits, and sends PART when it is time.
//!
//! It computes nothing. Its pace is that of a datapath: a flit every so many cycles, and now and then none.

use super::account::Close;
use super::ledger::DecodeLedger;
use super::parts::Part;
use crate::cosim::packet::mix;
use crate::design::NodeId;
use std::collections::VecDeque;

/// Pace of the compute of every tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Cycles a flit takes.
    pub flit_cycles: u32,
    /// Of 256 cycles, those in which a tile takes neither flit nor job.
    pub stall: u8,
}

/// One tile.
#[derive(Debug)]
pub(super) struct Compute {
    pub(super) tile: NodeId,
    random: u64,
    /// First cycle in which the next flit may be taken.
    free: u64,
    closes: VecDeque<Close>,
    /// The packet on the port, its next flit, and what follows it.
    sending: VecDeque<Part>,
    next: u32,
    /// What stood on the ports in this period.
    pub(super) takes_flit: bool,
    pub(super) takes_job: bool,
    pub(super) sends: bool,
    /// Flits taken.
    pub(super) taken: u64,
}

impl Compute {
    pub(super) fn new(tile: NodeId, seed: u64) -> Compute {
        Compute {
            tile,
            random: mix(seed ^ (tile.index() as u64) << 32),
            free: 0,
            closes: VecDeque::new(),
            sending: VecDeque::new(),
            next: 0,
            takes_flit: false,
            takes_job: false,
            sends: false,
            taken: 0,
        }
    }

    /// Decides what is taken in the period of this cycle, and what is sent: a packet and its flit.
    pub(super) fn drive(
        &mut self,
        cycle: u64,
        pace: &Pace,
        ledger: &mut DecodeLedger,
    ) -> Option<(Part, u32)> {
        self.random = mix(self.random);
        self.takes_flit = self.is_idle(cycle) && (self.random >> 56) as u8 >= pace.stall;
        self.takes_job = (self.random >> 48) as u8 >= pace.stall;
        if self.sending.is_empty() {
            let due = self.closes.front().is_some_and(|close| ledger.has_all(self.tile, close.descriptor));
            if let Some(close) = due.then(|| self.closes.pop_front()).flatten() {
                self.sending.extend(close.parts);
            }
        }
        self.sends = !self.sending.is_empty();
        self.sending.front().map(|part| (*part, self.next))
    }

    /// It works on no flit.
    pub(super) fn is_idle(&self, cycle: u64) -> bool {
        cycle >= self.free
    }

    /// A flit was taken.
    pub(super) fn took_flit(&mut self, cycle: u64, pace: &Pace) {
        self.taken += 1;
        self.free = cycle + u64::from(pace.flit_cycles);
    }

    /// A close was taken.
    pub(super) fn took_close(&mut self, close: Close) {
        self.closes.push_back(close);
    }

    /// A flit of a packet of so many was sent.
    pub(super) fn sent(&mut self, flits: u32) {
        self.next += 1;
        if self.next == flits {
            self.next = 0;
            self.sending.pop_front();
        }
    }

    /// PART packets that are still to be sent.
    pub(super) fn unsent(&self) -> usize {
        self.sending.len() + self.closes.iter().map(|close| close.parts.len()).sum::<usize>()
    }
}
