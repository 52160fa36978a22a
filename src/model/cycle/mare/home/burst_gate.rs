//! Burst gate: passes the chunk that is due on burst by burst, each when it is filled (`meshkv_burst_gate`).

use crate::model::cycle::common::{some, TileBits};
use crate::model::cycle::mare::messages::Due;
use crate::model::cycle::mare::params::{up_to, MareParams};

/// Progress in the chunk that is due.
#[derive(Debug, Clone)]
pub(in crate::model::cycle::mare) struct BurstGate {
    /// First flit of the next burst, once a part of the chunk was passed on.
    next: Option<u32>,
    /// The next burst may be passed on.
    open: bool,
    /// With it the chunk leaves.
    ends: bool,
    burst_flits: u32,
}

/// Inputs of the gate in a period.
#[derive(Debug, Clone, Copy)]
pub(in crate::model::cycle::mare) struct GateIn<'a> {
    /// The chunk that is due, unless it left in the last period.
    pub(in crate::model::cycle::mare) due: Option<&'a Due>,
    /// Its destinations, once known.
    pub(in crate::model::cycle::mare) dest: Option<TileBits>,
    /// Some of the next burst is still to come.
    pub(in crate::model::cycle::mare) pending: bool,
    /// A part was taken.
    pub(in crate::model::cycle::mare) gives: bool,
}

impl BurstGate {
    pub(in crate::model::cycle::mare) fn new(params: &MareParams) -> BurstGate {
        BurstGate { next: None, open: false, ends: false, burst_flits: params.burst_flits }
    }

    /// First flit of the burst that is read next.
    pub(in crate::model::cycle::mare) fn flit(&self, due: &Due) -> u32 {
        self.next.unwrap_or(due.first)
    }

    /// Part of the chunk that may be passed on, and whether it is the last.
    pub(in crate::model::cycle::mare) fn part(&self, due: &Due) -> Option<(Due, bool)> {
        let first = self.flit(due);
        let last = if self.ends { due.last } else { first | (self.burst_flits - 1) };
        self.open.then_some((Due { first, last, ..*due }, self.ends))
    }

    /// Advances one clock period.
    pub(in crate::model::cycle::mare) fn step(&mut self, input: &GateIn) {
        let empty = input.dest.is_some_and(|dest| !some(&dest));
        let first = input.due.map(|due| self.flit(due));
        let ends =
            input.due.zip(first).is_some_and(|(due, first)| up_to(first, due.last, self.burst_flits).1);
        if input.gives {
            let after = first.map(|first| (first | (self.burst_flits - 1)) + 1);
            self.next = after.filter(|_| !self.ends);
        }
        // A chunk that nobody needs waits for nothing.
        self.open = input.due.is_some() && !input.gives && (!input.pending || empty);
        self.ends = ends || empty;
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::design::Design;
    use crate::model::cycle::mare::home::burst_gate::*;

    /// Gate of the default fabric, with bursts of 16 flits.
    fn gate() -> BurstGate {
        let gate = BurstGate::new(&MareParams::of(&Design::from_config("gate", &Config::default()).unwrap()));
        assert_eq!(gate.burst_flits, 16);
        gate
    }

    #[test]
    fn a_chunk_passes_burst_by_burst_and_each_only_when_it_is_here() {
        let due = Due { first: 64, last: 91, dest: [1, 0, 0, 0], ..Due::default() };
        // Of the first periods: in which memory owes the burst that is asked for, and in which the reader takes none.
        for (owed, busy) in (0..64_u32).flat_map(|owed| (0..64_u32).map(move |busy| (owed, busy))) {
            let (mut gate, mut parts, mut here) = (gate(), Vec::new(), false);
            for cycle in 0..20 {
                let pending = owed >> cycle & 1 == 1;
                let part = gate.part(&due).filter(|_| busy >> cycle & 1 == 0);
                if let Some((part, last)) = part {
                    assert!(here, "owed {owed:b}, busy {busy:b}: {} is passed on too early", part.first);
                    parts.push((part.first, part.last, last));
                    if last {
                        break;
                    }
                }
                here = part.is_none() && (here || !pending);
                let gives = part.is_some();
                gate.step(&GateIn { due: Some(&due), dest: Some(due.dest), pending, gives });
            }
            assert_eq!(parts, [(64, 79, false), (80, 91, true)], "owed {owed:b}, busy {busy:b}");
        }
    }

    #[test]
    fn a_chunk_that_nobody_needs_waits_for_nothing() {
        let (due, mut gate) = (Due { first: 64, last: 91, ..Due::default() }, gate());
        let step = GateIn { due: Some(&due), dest: None, pending: true, gives: false };
        (0..3).for_each(|_| gate.step(&step));
        assert!(gate.part(&due).is_none(), "its destinations are not known");
        gate.step(&GateIn { dest: Some(due.dest), ..step });
        assert!(gate.part(&due).is_some_and(|(_, last)| last), "it leaves as a whole");
    }
}
