//! Slots of the staging memory (`meshkv_staging_directory`).

use super::params::MareParams;
use crate::model::cycle::common::bits;

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    tag: u64,
    /// Last flit that will be asked for.
    last: u32,
    /// Tiles that are still to ask for it.
    expected: u32,
}

/// A slot that is given to a slice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Claim {
    /// Which slot.
    pub slot: u32,
    /// Which slice.
    pub tag: u64,
    /// The last of its flits that will be asked for.
    pub last: u32,
    /// Tiles that will ask for it; 0: it stays.
    pub expected: u32,
}

/// Where a slice is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    slots: u64,
    pub(super) slot: u32,
    last: u32,
}

/// Which slice is in which slot, and who still needs it.
#[derive(Debug, Clone)]
pub(super) struct StagingDirectory {
    slots: Box<[Slot]>,
    /// Slots whose slice is resident, that stay, and that are given to a slice.
    valid: u64,
    kept: u64,
    taken: u64,
    scan: u32,
    closing: bool,
}

impl StagingDirectory {
    pub(super) fn new(params: &MareParams) -> StagingDirectory {
        let slots = vec![Slot::default(); params.mare.staging_slots as usize].into_boxed_slice();
        StagingDirectory { slots, valid: 0, kept: 0, taken: 0, scan: 0, closing: false }
    }

    /// The slot that is looked at.
    pub(super) fn scanned(&self) -> u32 {
        self.scan
    }

    /// The slot that comes free, `busy` if something of the one that is looked at is still to be sent.
    pub(super) fn freed(&self, busy: impl FnOnce() -> bool) -> Option<u32> {
        (self.closing && !busy()).then_some(self.scan)
    }

    /// A slice of this tag has a slot.
    pub(super) fn knows(&self, tag: u64) -> bool {
        bits(self.taken).any(|s| self.slots[s].tag == tag)
    }

    /// It has, and not all who were to ask have asked.
    pub(super) fn is_unserved(&self, tag: u64) -> bool {
        bits(self.taken).any(|s| self.slots[s].tag == tag && self.slots[s].expected > 0)
    }

    /// The slot in which a fetch finds its slice.
    pub(super) fn find(&self, tag: u64, again: bool) -> Option<Found> {
        // A slot that is about to be freed is not found any more.
        let closed = u64::from(self.closing) << self.scan;
        let found = |s: &usize| {
            let slot = &self.slots[*s];
            // All who were to ask have asked: who asks for the first time asks for what is named next.
            slot.tag == tag && (again || self.kept >> s & 1 == 1 || slot.expected > 0)
        };
        let all = bits(self.valid & !closed).filter(found);
        all.fold(None, |so_far: Option<Found>, s| {
            let (slots, slot, last) = so_far.map_or((0, 0, 0), |f| (f.slots, f.slot, f.last));
            Some(Found { slots: slots | 1 << s, slot: slot | s as u32, last: last | self.slots[s].last })
        })
    }

    /// A tile has asked for a range of what was found, for the first time.
    pub(super) fn asked(&mut self, found: &Found, last: u32) {
        if last != found.last {
            return;
        }
        for s in bits(found.slots) {
            self.slots[s].expected = self.slots[s].expected.saturating_sub(1);
        }
    }

    /// The slot that is looked at is needed by nobody who is still to ask.
    pub(super) fn is_spent(&self) -> bool {
        let at = self.scan as usize;
        self.valid & !self.kept & 1 << at != 0 && self.slots[at].expected == 0
    }

    /// Looks at the next slot: twice at one that is spent, first to close it, then, still not `busy`, to free it.
    ///
    /// Called before what the period brings.
    pub(super) fn look(&mut self, busy: bool) {
        let closes = !self.closing && self.is_spent() && !busy;
        if self.closing && !busy {
            self.valid &= !(1 << self.scan);
            self.taken &= !(1 << self.scan);
        }
        self.closing = closes;
        if !closes {
            self.scan = if self.scan as usize + 1 == self.slots.len() { 0 } else { self.scan + 1 };
        }
    }

    /// A slot is given to a slice.
    pub(super) fn claim(&mut self, claim: &Claim) {
        let Claim { slot, tag, last, expected } = *claim;
        assert!(!self.knows(tag), "a slice is given a second slot");
        self.slots[slot as usize] = Slot { tag, last, expected };
        self.taken |= 1 << slot;
        self.kept = self.kept & !(1 << slot) | u64::from(expected == 0) << slot;
    }

    /// All of a slice is written.
    pub(super) fn publish(&mut self, slot: u32) {
        self.valid |= 1 << slot;
    }
}
