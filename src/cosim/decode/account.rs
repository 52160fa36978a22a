//! One tile's account in the ledger: what it is still to be told, and what it waits for.

use super::expect::Need;
use super::parts::{Part, PartKey};
use std::collections::{HashMap, VecDeque};

/// A job as it stands on a tile's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) close: bool,
    pub(super) tag: u64,
    pub(super) mask: u64,
    pub(super) stream: u32,
    pub(super) streams: u32,
    pub(super) rows: (u32, u32),
}

/// A slice of which a tile awaits flits.
#[derive(Debug, Clone)]
pub(super) struct Awaited {
    pub(super) descriptor: usize,
    pub(super) mask: u64,
    pub(super) address: u64,
    /// First and last flit of K and of V.
    ranges: [(u32, u32); 2],
    /// A bit a flit that has come.
    had: Vec<u64>,
    /// The first flit that has not come.
    next: u32,
    left: u32,
}

/// How a flit stands to those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// All before it have come.
    InOrder,
    /// It begins a chunk or follows its predecessor, but a chunk before it is not complete.
    OtherChunk,
    /// Its predecessor in the chunk has not come.
    Overtook,
}

impl Awaited {
    pub(super) fn new(descriptor: usize, mask: u64, address: u64, ranges: [(u32, u32); 2]) -> Awaited {
        let left = ranges.iter().map(|(first, last)| last - first + 1).sum();
        let had = vec![0; ranges[1].1 as usize / 64 + 1];
        Awaited { descriptor, mask, address, ranges, had, next: ranges[0].0, left }
    }

    /// Flits that have not come.
    pub(super) fn left(&self) -> u32 {
        self.left
    }

    /// The first flit that has not come.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    fn holds(&self, index: u32) -> bool {
        self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&index))
    }

    fn has(&self, index: u32) -> bool {
        self.had[index as usize / 64] >> (index % 64) & 1 == 1
    }

    pub(super) fn waits_for(&self, index: u32) -> bool {
        self.holds(index) && !self.has(index)
    }

    /// A flit that was waited for has come.
    pub(super) fn take(&mut self, index: u32, chunk_flits: u32) -> Place {
        let follows = index.is_multiple_of(chunk_flits) || self.has(index - 1);
        let place = match (index == self.next, follows) {
            (true, _) => Place::InOrder,
            (false, true) => Place::OtherChunk,
            (false, false) => Place::Overtook,
        };
        self.had[index as usize / 64] |= 1 << (index % 64);
        self.left -= 1;
        while self.left > 0 && !self.waits_for(self.next) {
            self.next = if self.next == self.ranges[0].1 { self.ranges[1].0 } else { self.next + 1 };
        }
        place
    }
}

/// What a tile is still to be told of one descriptor.
#[derive(Debug)]
pub(super) struct ToTell {
    pub(super) descriptor: usize,
    /// By tag.
    pub(super) slices: HashMap<u64, Need>,
    /// The layer is to be closed, by what its tile sends then.
    pub(super) close: Option<Vec<Part>>,
}

impl ToTell {
    /// Nothing that must come is left; a tile with nothing to send need not be told to.
    pub(super) fn is_done(&self) -> bool {
        self.slices.is_empty() && self.close.as_ref().is_none_or(Vec::is_empty)
    }
}

/// One tile's account.
#[derive(Debug, Default)]
pub(super) struct Account {
    pub(super) to_tell: VecDeque<ToTell>,
    pub(super) open: HashMap<u64, Vec<Awaited>>,
}

/// A close that a tile was told of: the packets that it has still to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Close {
    pub(super) parts: Vec<Part>,
}

impl Close {
    /// The packet with this key, if it is one of these; with its last flit it is one no more.
    pub(super) fn part(&mut self, key: PartKey, last: bool) -> Option<Part> {
        let at = self.parts.iter().position(|part| part.key == key)?;
        Some(if last { self.parts.swap_remove(at) } else { self.parts[at] })
    }
}
