//! One tile's account in the ledger: its jobs to come, and the flits it waits for.

use super::expected::Need;
use super::part_packets::{Part, PartKey};
use std::collections::{HashMap, VecDeque};

/// A job on a tile's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cosim::workloads::decode) struct Job {
    pub(in crate::cosim::workloads::decode) close: bool,
    pub(in crate::cosim::workloads::decode) tag: u64,
    pub(in crate::cosim::workloads::decode) mask: u64,
    pub(in crate::cosim::workloads::decode) stream: u32,
    pub(in crate::cosim::workloads::decode) streams: u32,
    pub(in crate::cosim::workloads::decode) rows: (u32, u32),
}

/// A slice of which a tile still waits for flits.
#[derive(Debug, Clone)]
pub(in crate::cosim::workloads::decode) struct Awaited {
    pub(in crate::cosim::workloads::decode) descriptor: usize,
    pub(in crate::cosim::workloads::decode) mask: u64,
    pub(in crate::cosim::workloads::decode) address: u64,
    /// First and last flit of each part, in order.
    ranges: Vec<(u32, u32)>,
    /// One bit for each flit that has come.
    had: Vec<u64>,
    /// The first flit that has not come.
    next: u32,
    left: u32,
}

/// Place of a flit relative to those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cosim::workloads::decode) enum Place {
    /// All before it have come.
    InOrder,
    /// It begins a chunk or follows its predecessor, but an earlier chunk is not complete.
    OtherChunk,
    /// Its predecessor in the chunk has not come.
    Overtook,
}

impl Awaited {
    pub(in crate::cosim::workloads::decode) fn new(
        descriptor: usize,
        mask: u64,
        address: u64,
        ranges: Vec<(u32, u32)>,
    ) -> Awaited {
        let left = ranges.iter().map(|(first, last)| last - first + 1).sum();
        let end = ranges.last().map_or(0, |(_, last)| *last);
        let (had, next) = (vec![0; end as usize / 64 + 1], ranges[0].0);
        Awaited { descriptor, mask, address, ranges, had, next, left }
    }

    /// Number of flits that have not come.
    pub(in crate::cosim::workloads::decode) fn left(&self) -> u32 {
        self.left
    }

    /// The first flit that has not come.
    pub(in crate::cosim::workloads::decode) fn next(&self) -> u32 {
        self.next
    }

    fn holds(&self, index: u32) -> bool {
        self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&index))
    }

    fn has(&self, index: u32) -> bool {
        self.had[index as usize / 64] >> (index % 64) & 1 == 1
    }

    pub(in crate::cosim::workloads::decode) fn waits_for(&self, index: u32) -> bool {
        self.holds(index) && !self.has(index)
    }

    /// Notes a flit that was due.
    pub(in crate::cosim::workloads::decode) fn take(&mut self, index: u32, chunk_flits: u32) -> Place {
        let follows = index.is_multiple_of(chunk_flits) || self.has(index - 1);
        let place = match (index == self.next, follows) {
            (true, _) => Place::InOrder,
            (false, true) => Place::OtherChunk,
            (false, false) => Place::Overtook,
        };
        self.had[index as usize / 64] |= 1 << (index % 64);
        self.left -= 1;
        while self.left > 0 && !self.waits_for(self.next) {
            let ended = self.ranges.iter().position(|(_, last)| *last == self.next);
            let begins = ended.and_then(|at| self.ranges.get(at + 1)).map(|(first, _)| *first);
            self.next = begins.unwrap_or(self.next + 1);
        }
        place
    }
}

/// Jobs of one descriptor that a tile has not been given yet.
#[derive(Debug)]
pub(in crate::cosim::workloads::decode) struct ToTell {
    pub(in crate::cosim::workloads::decode) descriptor: usize,
    /// By tag.
    pub(in crate::cosim::workloads::decode) slices: HashMap<u64, Need>,
    /// The packets that its tile sends once it is told that their heads are closed; none if no close is to come.
    pub(in crate::cosim::workloads::decode) close: Option<Vec<Part>>,
}

impl ToTell {
    /// True if no necessary job is left: a tile with nothing to send needs no close.
    pub(in crate::cosim::workloads::decode) fn is_done(&self) -> bool {
        self.slices.is_empty() && self.close.as_ref().is_none_or(Vec::is_empty)
    }
}

/// One tile's account.
#[derive(Debug, Default)]
pub(in crate::cosim::workloads::decode) struct Account {
    pub(in crate::cosim::workloads::decode) to_tell: VecDeque<ToTell>,
    pub(in crate::cosim::workloads::decode) open: HashMap<u64, Vec<Awaited>>,
}

/// A close that a tile was given: the packets that it has still to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cosim::workloads::decode) struct Close {
    pub(in crate::cosim::workloads::decode) parts: Vec<Part>,
}

impl Close {
    /// The packet with this key, if it is one of these. Its last flit removes it.
    pub(in crate::cosim::workloads::decode) fn part(&mut self, key: PartKey, last: bool) -> Option<Part> {
        let at = self.parts.iter().position(|part| part.key == key)?;
        Some(if last { self.parts.swap_remove(at) } else { self.parts[at] })
    }
}
