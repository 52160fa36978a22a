//! The array of a tile in a decode step: the model of `meshkv_pad`, driven at the ports of the
//! fabric.
//!
//! It computes no numbers but has the timing of the array: passes of the rows, loading of weights,
//! reading of results. A port's transfer is known only after the period, so two words of buffer
//! separate the ports from the model. A slower pace can be set, to test a fabric whose tiles accept
//! little.

use crate::cosim::hash::mix;
use crate::cosim::workloads::decode::played::pace::Pace;
use crate::cosim::workloads::decode::scoreboard::part_packets::{Part, PartKey};
use crate::cosim::workloads::decode::scoreboard::tile_account::Close;
use crate::design::{Design, NodeId};
use crate::model::cycle::fabric::Edges;
use crate::model::cycle::mare::{KvFlit, PartFlit};
use crate::model::cycle::pad::{Between, EventCounters, Pad, PadCommand};
use std::collections::VecDeque;

/// Flits, and words of queries and jobs, that the buffer between the ports and the model holds.
const SKID: usize = 2;

/// A flit of PART on the port: its packet, its index, and the array's flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cosim::workloads::decode) struct Sending {
    pub(in crate::cosim::workloads::decode) part: Part,
    pub(in crate::cosim::workloads::decode) index: u32,
    pub(in crate::cosim::workloads::decode) flit: PartFlit,
}

/// One tile.
#[derive(Debug)]
pub(in crate::cosim::workloads::decode) struct Compute {
    pub(in crate::cosim::workloads::decode) tile: NodeId,
    /// First query head of its column.
    first_head: u32,
    random: u64,
    /// First cycle in which the next flit may be taken.
    free: u64,
    pad: Pad,
    flits: VecDeque<KvFlit>,
    words: VecDeque<PadCommand>,
    closes: VecDeque<Close>,
    sending: Option<Sending>,
    /// The next flit of the packet that is being sent.
    next: u32,
    /// Ready signals in this period.
    pub(in crate::cosim::workloads::decode) takes_flit: bool,
    pub(in crate::cosim::workloads::decode) takes_word: bool,
    /// Flits taken.
    pub(in crate::cosim::workloads::decode) taken: u64,
}

impl Compute {
    pub(in crate::cosim::workloads::decode) fn new(design: &Design, tile: NodeId, seed: u64) -> Compute {
        let (x, y) = design.mesh.coords(tile);
        Compute {
            tile,
            first_head: design.heads.of_column(x).start,
            random: mix(seed ^ (tile.index() as u64) << 32),
            free: 0,
            pad: Pad::new(design, x, y),
            flits: VecDeque::with_capacity(SKID),
            words: VecDeque::with_capacity(SKID + 1),
            closes: VecDeque::new(),
            sending: None,
            next: 0,
            takes_flit: false,
            takes_word: false,
            taken: 0,
        }
    }

    /// Decides what to take in the period of this cycle.
    pub(in crate::cosim::workloads::decode) fn drive(&mut self, cycle: u64, pace: &Pace) {
        self.random = mix(self.random);
        let stalls = |byte: u64| (byte as u8) < pace.stall;
        self.takes_flit = cycle >= self.free && self.flits.len() < SKID && !stalls(self.random >> 56);
        self.takes_word = self.words.len() < SKID && !stalls(self.random >> 48);
    }

    /// The flit of PART on the port.
    pub(in crate::cosim::workloads::decode) fn sending(&self) -> Option<&Sending> {
        self.sending.as_ref()
    }

    /// True if it works on no flit.
    pub(in crate::cosim::workloads::decode) fn is_idle(&mut self, cycle: u64) -> bool {
        self.pad.look(self.flits.front());
        cycle >= self.free && self.flits.is_empty() && self.pad.offers(false).idle
    }

    /// Takes a flit.
    pub(in crate::cosim::workloads::decode) fn took_flit(&mut self, cycle: u64, flit: KvFlit, pace: &Pace) {
        self.taken += 1;
        self.free = cycle + u64::from(pace.flit_cycles);
        self.flits.push_back(flit);
    }

    /// Takes four elements of a query, or a job.
    pub(in crate::cosim::workloads::decode) fn took_word(&mut self, word: PadCommand) {
        self.words.push_back(word);
    }

    /// Adds the packets that the tile must send after the job of a close.
    pub(in crate::cosim::workloads::decode) fn expects(&mut self, close: Close) {
        self.closes.push_back(close);
    }

    /// Removes the flit of PART from the port.
    pub(in crate::cosim::workloads::decode) fn sent(&mut self) {
        self.sending = None;
    }

    /// Runs a period of the network's clock.
    pub(in crate::cosim::workloads::decode) fn step(&mut self, edges: Edges) {
        for _ in 0..edges.before {
            let between = self.pad.between();
            self.pe_edge(&between);
        }
        let before = self.pad.between();
        let offers = self.pad.offers(false);
        let command = if offers.vector_ready { self.words.pop_front() } else { None };
        let part_ready = self.sending.is_none();
        let part = offers.part.filter(|_| part_ready);
        self.pad.noc_edge(command, part_ready, &before);
        if edges.at_end {
            self.pe_edge(&before);
        }
        if let Some(flit) = part {
            self.send(flit);
        }
    }

    fn pe_edge(&mut self, between: &Between) {
        let takes = self.pad.look(self.flits.front());
        self.pad.pe_edge(between);
        if takes {
            self.flits.pop_front();
        }
    }

    /// Puts the next flit of PART on the port.
    fn send(&mut self, flit: PartFlit) {
        let key = PartKey {
            tile: self.tile,
            stream: flit.stream,
            layer: flit.layer,
            head: self.first_head + flit.head,
        };
        let due = self.closes.iter_mut().find_map(|close| close.part(key, flit.last));
        // For a packet that belongs to no close, the ledger reports that it was not due.
        let part = due.unwrap_or(Part { key, descriptor: usize::MAX, others: flit.others });
        let index = if flit.first { 0 } else { self.next };
        self.next = index + 1;
        while self.closes.front().is_some_and(|close| close.parts.is_empty()) {
            self.closes.pop_front();
        }
        self.sending = Some(Sending { part, index, flit });
    }

    /// PART packets still to be sent.
    pub(in crate::cosim::workloads::decode) fn unsent(&self) -> usize {
        self.closes.iter().map(|close| close.parts.len()).sum::<usize>() + usize::from(self.sending.is_some())
    }

    /// Counters of the array.
    pub(in crate::cosim::workloads::decode) fn counts(&self) -> &EventCounters {
        self.pad.counts()
    }
}
