//! The scoreboard of fetches: the flits that each head waits for.
//!
//! After a command is accepted, every head of its mask must get every flit of its range, in order,
//! intact, and exactly once. The scoreboard knows nothing of homes and networks.

use crate::cosim::checks::violation::{Violation, ViolationKind, Violations};
use crate::design::Flaw;
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// The next and the last flit that a head waits for.
#[derive(Debug, Clone, Copy)]
struct Awaited {
    next: u32,
    last: u32,
}

/// Every head's open ranges.
#[derive(Debug, Default)]
pub(in crate::cosim) struct FetchScoreboard {
    /// By tile, tag and head.
    open: HashMap<(usize, u64, u32), Vec<Awaited>>,
    ranges: usize,
    /// Router slots that each tile's home counts as used.
    slots: HashMap<usize, i64>,
    violations: Violations,
    /// Commands accepted.
    pub(in crate::cosim) commands: u64,
    /// Flits that came.
    pub(in crate::cosim) flits: u64,
    /// Head-flits: each flit counted for each of its heads.
    pub(in crate::cosim) head_flits: u64,
}

fn heads(mask: u64) -> impl Iterator<Item = u32> {
    (0..64).filter(move |h| mask >> h & 1 == 1)
}

impl FetchScoreboard {
    /// True if a head of the mask still waits for some of the range.
    pub(in crate::cosim) fn awaits(
        &self,
        tile: usize,
        tag: u64,
        mask: u64,
        range: RangeInclusive<u32>,
    ) -> bool {
        heads(mask).any(|head| {
            self.open
                .get(&(tile, tag, head))
                .is_some_and(|open| open.iter().any(|a| a.next <= *range.end() && *range.start() <= a.last))
        })
    }

    /// Notes that a command was accepted.
    pub(in crate::cosim) fn accepted(
        &mut self,
        tile: usize,
        tag: u64,
        mask: u64,
        range: RangeInclusive<u32>,
    ) {
        self.commands += 1;
        for head in heads(mask) {
            let awaited = Awaited { next: *range.start(), last: *range.end() };
            self.open.entry((tile, tag, head)).or_default().push(awaited);
            self.ranges += 1;
        }
    }

    /// Checks a flit that a tile took.
    pub(in crate::cosim) fn delivered(
        &mut self,
        cycle: u64,
        tile: usize,
        tag: u64,
        index: u32,
        mask: u64,
        intact: bool,
    ) {
        self.flits += 1;
        let flit = || format!("cycle {cycle}: tile {tile}, flit {index} of tag {tag:#x}");
        if !intact {
            self.violations.add(ViolationKind::Corrupt, || format!("{} has another payload", flit()));
        }
        if mask == 0 {
            self.violations.add(ViolationKind::Duplicate, || format!("{} came for no head", flit()));
        }
        for head in heads(mask) {
            self.head_flits += 1;
            let open = self.open.entry((tile, tag, head)).or_default();
            let Some(at) = open.iter().position(|a| a.next == index) else {
                let kind = if open.iter().any(|a| a.next < index && index <= a.last) {
                    ViolationKind::OutOfOrder
                } else {
                    ViolationKind::Duplicate
                };
                self.violations
                    .add(kind, || format!("{} came for head {head}, which does not wait for it", flit()));
                continue;
            };
            if index == open[at].last {
                open.remove(at);
                self.ranges -= 1;
            } else {
                open[at].next += 1;
            }
        }
    }

    /// Counts the flits that a home sends into its router, and the slots freed there.
    pub(in crate::cosim) fn slots_move(&mut self, tile: usize, sent: u64, freed: u64) {
        if sent != freed {
            *self.slots.entry(tile).or_default() += sent as i64 - freed as i64;
        }
    }

    /// Reports homes that still count slots as used after the network has emptied.
    pub(in crate::cosim) fn slots_are_free(&mut self) {
        let mut used: Vec<_> = self.slots.iter().filter(|(_, used)| **used != 0).collect();
        used.sort();
        for (tile, used) in used {
            let message =
                || format!("the home of tile {tile} counts {used} slots of an empty router as used");
            self.violations.add(ViolationKind::Credits, message);
        }
    }

    /// Reports virtual channels of a router that hold flits after everything has come.
    pub(in crate::cosim) fn left_inside(&mut self, tile: usize, busy: u64) {
        if busy != 0 {
            self.violations.add(ViolationKind::Stuck, || {
                format!("the router of tile {tile} still holds flits (virtual channels {busy:#x})")
            });
        }
    }

    /// True if no flit is due.
    pub(in crate::cosim) fn is_settled(&self) -> bool {
        self.ranges == 0
    }

    /// Lists, in words, flits that heads wait for; the first few.
    pub(in crate::cosim) fn waiting(&self) -> String {
        let mut all: Vec<_> =
            self.open.iter().flat_map(|(key, open)| open.iter().map(move |a| (*key, *a))).collect();
        all.sort_by_key(|(key, a)| (*key, a.next));
        let shown = all.iter().take(4).map(|((tile, tag, head), a)| {
            format!("tile {tile} waits for flits {} to {} of tag {tag:#x} for head {head}", a.next, a.last)
        });
        let text = shown.collect::<Vec<_>>().join(", ");
        match all.len() {
            0 => "nobody waits for a flit".to_owned(),
            n if n > 4 => format!("{text} and {} more", n - 4),
            _ => text,
        }
    }

    /// Reports a word with a wrong parity.
    pub(super) fn flawed(&mut self, tile: usize, flaw: Flaw) {
        self.violations
            .add(ViolationKind::Corrupt, || format!("a word had a wrong parity at tile {tile}, {flaw}"));
    }

    /// Reports deliveries that are still due as lost. Returns the number of violations, and the first of them.
    pub(in crate::cosim) fn close(mut self) -> (u64, Vec<Violation>) {
        if self.ranges > 0 {
            let text = self.waiting();
            self.violations.add(ViolationKind::Lost, || text);
        }
        (self.violations.count, self.violations.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(ledger: FetchScoreboard) -> Vec<ViolationKind> {
        ledger.close().1.iter().map(|v| v.kind).collect()
    }

    #[test]
    fn each_head_gets_each_flit_once_and_in_order() {
        let mut ledger = FetchScoreboard::default();
        ledger.accepted(0, 5, 0b11, 0..=1);
        assert!(ledger.awaits(0, 5, 0b10, 1..=3) && !ledger.awaits(0, 5, 0b100, 0..=1));
        ledger.delivered(1, 0, 5, 0, 0b11, true);
        ledger.delivered(2, 0, 5, 1, 0b11, true);
        assert!(ledger.is_settled());
        assert_eq!(kinds(ledger), []);
    }

    #[test]
    fn slots_of_an_empty_router_that_count_as_used_are_reported() {
        let mut ledger = FetchScoreboard::default();
        for (tile, sent, freed) in [(3, 1, 0), (3, 1, 0), (3, 0, 2), (4, 1, 0), (4, 1, 1), (5, 0, 0)] {
            ledger.slots_move(tile, sent, freed);
        }
        ledger.slots_are_free();
        let (count, first) = ledger.close();
        assert_eq!((count, first[0].kind), (1, ViolationKind::Credits));
        assert!(first[0].message.contains("tile 4 counts 1 slots"), "{first:?}");
    }

    #[test]
    fn what_is_wrong_has_a_name() {
        let mut ledger = FetchScoreboard::default();
        ledger.accepted(0, 5, 1, 0..=3);
        ledger.delivered(1, 0, 5, 1, 1, true);
        ledger.delivered(2, 0, 5, 0, 1, false);
        ledger.delivered(3, 0, 5, 0, 1, true);
        ledger.delivered(4, 1, 5, 1, 1, true);
        ledger.delivered(5, 0, 5, 1, 0, true);
        use ViolationKind::{Corrupt, Duplicate, Lost, OutOfOrder};
        assert_eq!(kinds(ledger), [OutOfOrder, Corrupt, Duplicate, Duplicate, Duplicate, Lost]);
    }
}
