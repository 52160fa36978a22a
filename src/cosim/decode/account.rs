//! One tile's account in the ledger: what it is still to be told, and what it waits for.

use super::expect::Need;
use super::parts::Part;
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
#[derive(Debug, Clone, Copy)]
pub(super) struct Awaited {
    pub(super) descriptor: usize,
    pub(super) mask: u64,
    pub(super) address: u64,
    /// First and last flit of K and of V.
    pub(super) ranges: [(u32, u32); 2],
    pub(super) next: u32,
}

impl Awaited {
    /// The next flit after `next` was taken; none if it was the last.
    pub(super) fn step(&self) -> Option<u32> {
        let [k, v] = self.ranges;
        match self.next {
            n if n == k.1 => Some(v.0),
            n if n == v.1 => None,
            n => Some(n + 1),
        }
    }

    pub(super) fn holds(&self, index: u32) -> bool {
        self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&index))
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
    /// Flits that are left of each descriptor, in order.
    pub(super) left: VecDeque<(usize, u64)>,
}

/// A close that a tile was told of: what it sends once it has had all flits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Close {
    pub(super) descriptor: usize,
    pub(super) parts: Vec<Part>,
}
