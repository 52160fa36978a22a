//! Directory of the staging memory's slots (`meshkv_staging_directory`).

use crate::model::cycle::common::bits;
use crate::model::cycle::mare::params::MareParams;

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    tag: u64,
    /// Last flit that will be requested.
    last: u32,
    /// Tiles that have still to request it.
    expected: u32,
}

/// Slot assigned to a slice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Claim {
    /// Slot.
    pub slot: u32,
    /// Tag of the slice.
    pub tag: u64,
    /// Last of its flits that will be requested.
    pub last: u32,
    /// Tiles that will request it; 0: the slice stays.
    pub expected: u32,
}

/// Location of a slice.
#[derive(Debug, Clone, Copy)]
pub(in crate::model::cycle::mare) struct Found {
    slots: u64,
    pub(in crate::model::cycle::mare) slot: u32,
    last: u32,
}

/// Slice in each slot, and its outstanding requests.
#[derive(Debug, Clone)]
pub(in crate::model::cycle::mare) struct StagingDirectory {
    slots: Box<[Slot]>,
    /// Slots that are resident, permanent, assigned, and complete.
    valid: u64,
    kept: u64,
    taken: u64,
    whole: u64,
    scan: u32,
    closing: bool,
    /// Slot published in the last period.
    published: Option<u32>,
    /// Slots of the slice of the fetch that is decided on.
    compared: u64,
}

impl StagingDirectory {
    pub(in crate::model::cycle::mare) fn new(params: &MareParams) -> StagingDirectory {
        let slots = vec![Slot::default(); params.mare.staging_slots as usize].into_boxed_slice();
        StagingDirectory {
            slots,
            valid: 0,
            kept: 0,
            taken: 0,
            whole: 0,
            scan: 0,
            closing: false,
            published: None,
            compared: 0,
        }
    }

    /// Scanned slot.
    pub(in crate::model::cycle::mare) fn scanned(&self) -> u32 {
        self.scan
    }

    /// Returns the slot that becomes free. `busy`: the scanned slot still has flits to send, or fetches on
    /// their way to the request table may have found it.
    pub(in crate::model::cycle::mare) fn freed(&self, busy: impl FnOnce() -> bool) -> Option<u32> {
        (self.closing && !busy()).then_some(self.scan)
    }

    /// A slice of this tag has a slot.
    pub(in crate::model::cycle::mare) fn knows(&self, tag: u64) -> bool {
        bits(self.taken).any(|s| self.slots[s].tag == tag)
    }

    /// A slice of this tag has a slot, and some expected requests have not come yet.
    pub(in crate::model::cycle::mare) fn is_unserved(&self, tag: u64) -> bool {
        bits(self.taken).any(|s| self.slots[s].tag == tag && self.slots[s].expected > 0)
    }

    /// Compares the tag of a fetch with those of all slots, for `find` in the next period.
    pub(in crate::model::cycle::mare) fn compare(&mut self, tag: u64) {
        self.compared =
            (0..self.slots.len()).filter(|&s| self.slots[s].tag == tag).fold(0, |set, s| set | 1 << s);
    }

    /// Returns the slot of the slice of the fetch that was compared.
    pub(in crate::model::cycle::mare) fn find(&self, again: bool) -> Option<Found> {
        // A slot about to be freed is invisible.
        let closed = u64::from(self.closing) << self.scan;
        let found = |s: &usize| {
            let slot = &self.slots[*s];
            // Once all expected requests have come, a first request of this tag is for the next slice of that
            // name.
            again || self.kept >> s & 1 == 1 || slot.expected > 0
        };
        let all = bits(self.valid & !closed & self.compared).filter(found);
        all.fold(None, |so_far: Option<Found>, s| {
            let (slots, slot, last) = so_far.map_or((0, 0, 0), |f| (f.slots, f.slot, f.last));
            Some(Found { slots: slots | 1 << s, slot: slot | s as u32, last: last | self.slots[s].last })
        })
    }

    /// A slot is to be freed.
    pub(in crate::model::cycle::mare) fn is_closing(&self) -> bool {
        self.closing
    }

    /// A slice of the name that was compared is here, and all requests for it have come.
    pub(in crate::model::cycle::mare) fn has_spent(&self) -> bool {
        bits(self.valid & !self.kept & self.compared).any(|s| self.slots[s].expected == 0)
    }

    /// Counts the first request of a tile for a range.
    pub(in crate::model::cycle::mare) fn asked(&mut self, found: &Found, last: u32) {
        if last != found.last {
            return;
        }
        for s in bits(found.slots) {
            self.slots[s].expected = self.slots[s].expected.saturating_sub(1);
        }
    }

    /// The scanned slot has no outstanding requests, and memory owes nothing for it.
    pub(in crate::model::cycle::mare) fn is_spent(&self) -> bool {
        let at = self.scan as usize;
        self.valid & self.whole & !self.kept & 1 << at != 0 && self.slots[at].expected == 0
    }

    /// Scans the next slot. A slot without requests is closed, and freed if it is still not `busy` when all
    /// fetches that may have found it are in the request table (`drains`: not yet). Returns true if it is closed.
    ///
    /// Called before the period's other updates.
    pub(in crate::model::cycle::mare) fn look(&mut self, busy: bool, drains: bool) -> bool {
        let closes = !self.closing && self.is_spent() && !busy;
        if self.closing && drains {
            return false;
        }
        if self.closing && !busy {
            self.valid &= !(1 << self.scan);
            self.taken &= !(1 << self.scan);
        }
        self.closing = closes;
        if !closes {
            self.scan = if self.scan as usize + 1 == self.slots.len() { 0 } else { self.scan + 1 };
        }
        closes
    }

    /// Assigns a slot to a slice.
    pub(in crate::model::cycle::mare) fn claim(&mut self, claim: &Claim) {
        let Claim { slot, tag, last, expected } = *claim;
        assert!(!self.knows(tag), "a slice is given a second slot");
        self.slots[slot as usize] = Slot { tag, last, expected };
        self.taken |= 1 << slot;
        self.whole &= !(1 << slot);
        self.kept = self.kept & !(1 << slot) | u64::from(expected == 0) << slot;
    }

    /// Marks a slot's slice as resident. It is found from the second period after.
    pub(in crate::model::cycle::mare) fn publish(&mut self, slot: Option<u32>) {
        if let Some(shown) = std::mem::replace(&mut self.published, slot) {
            self.valid |= 1 << shown;
        }
    }

    /// Marks a slot's slice as complete.
    pub(in crate::model::cycle::mare) fn complete(&mut self, slot: Option<u32>) {
        self.whole |= slot.map_or(0, |slot| 1 << slot);
    }
}
