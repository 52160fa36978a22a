//! Home agent of the slices in a tile's staging memory (`meshkv_home_agent`): fetches in, slices out.
//!
//! Fetches of slices that are not resident wait in the [`FetchMissQueue`]. The [`RequestTable`] merges the others.
//! A chunk that is due passes the [`DuplicateFilter`]. The [`BurstGate`] lets the [`SliceStreamer`] read it as far as
//! it is filled. The [`StagingDirectory`] tracks the slots.

use crate::design::depths::CHECKED_DEPTH;
use crate::model::cycle::common::{BloomPeriod, Fifo, Rare, TileBits};
use crate::model::cycle::mare::events::Events;
use crate::model::cycle::mare::home::burst_gate::{BurstGate, GateIn};
use crate::model::cycle::mare::home::duplicate_filter::DuplicateFilter;
use crate::model::cycle::mare::home::fetch_miss_queue::FetchMissQueue;
use crate::model::cycle::mare::home::request_table::RequestTable;
use crate::model::cycle::mare::home::slice_streamer::{SliceStreamer, Streamed};
use crate::model::cycle::mare::home::staging_directory::StagingDirectory;
use crate::model::cycle::mare::messages::{Due, Fetch, Staged};
use crate::model::cycle::mare::params::{low_bits, MareParams};

/// Inputs of the home in a period.
#[derive(Debug, Clone, Copy)]
pub struct HomeIn {
    /// Fetch from the network.
    pub of_net: Option<Fetch>,
    /// Fetch of this tile.
    pub own: Option<Fetch>,
    /// The output flit is done.
    pub data_ready: bool,
    /// Writes and slot updates of the staging memory.
    pub staged: Staged,
    /// Position in the Bloom filters' period.
    pub period: BloomPeriod,
}

/// Outputs of the home in a period.
#[derive(Debug, Clone, Copy, Default)]
pub struct HomeOut {
    /// The tile's own fetch is taken.
    pub own_ready: bool,
    /// A fetch from the network has left the buffer.
    pub credit: bool,
}

/// Home agent with its staging memory.
#[derive(Debug, Clone)]
pub struct HomeAgent {
    fetches: Fifo<Fetch>,
    /// The tile's own fetch has priority.
    own_first: bool,
    misses: FetchMissQueue,
    directory: StagingDirectory,
    /// Fetches for resident slices, with their slots, on their way to the table.
    passed: Fifo<(Fetch, u32)>,
    /// Fetches of `passed` that may have found the closed slot; so may the one that the table places.
    drain: Option<u32>,
    /// The chunk that is due was taken in the last period.
    taken: bool,
    table: RequestTable,
    filter: Option<DuplicateFilter>,
    gate: BurstGate,
    streamer: SliceStreamer,
    tag_width: u32,
}

impl HomeAgent {
    /// Creates an empty home.
    pub fn new(params: &MareParams) -> HomeAgent {
        HomeAgent {
            fetches: Fifo::new(params.vc_depth),
            own_first: false,
            misses: FetchMissQueue::new(params),
            directory: StagingDirectory::new(params),
            passed: Fifo::new(CHECKED_DEPTH),
            drain: None,
            taken: false,
            table: RequestTable::new(params),
            filter: params.mare.dedup.then(|| DuplicateFilter::new(params)),
            gate: BurstGate::new(params),
            streamer: SliceStreamer::new(params),
            tag_width: params.tag_width,
        }
    }

    /// Flit at the output.
    pub fn streamed(&self) -> Option<&Streamed> {
        self.streamer.out()
    }

    /// Slot that becomes free in this period.
    pub fn freed(&self) -> Option<u32> {
        self.directory.freed(|| self.drains() || self.scan_busy())
    }

    /// Slot and first flit of the burst that is read next.
    pub fn reads(&self) -> Option<(u32, u32)> {
        self.table.due().map(|due| (due.slot, self.gate.flit(due)))
    }

    /// A slice of this tag has a slot.
    pub fn knows(&self, tag: u64) -> bool {
        self.directory.knows(tag)
    }

    /// A slice of this tag has a slot, and some expected requests have not come yet.
    pub fn is_unserved(&self, tag: u64) -> bool {
        self.directory.is_unserved(tag)
    }

    /// The scanned slot still has flits to send.
    fn scan_busy(&self) -> bool {
        let slot = self.directory.scanned();
        self.table.uses(slot) || self.streamer.uses(slot)
    }

    /// A fetch that may have found the closed slot is still on its way to the table.
    fn drains(&self) -> bool {
        self.drain.is_some_and(|left| left > 0 || self.table.is_placing())
    }

    /// Advances one clock period.
    pub fn step(&mut self, input: &HomeIn, events: &mut Events) -> HomeOut {
        let part = self.part(input);
        let passes = part.is_some_and(|(_, last)| last);
        let turn = self.table.turn(self.taken);
        let own = input.own.filter(|_| self.own_first || self.fetches.is_empty());
        let comes = own.or_else(|| self.fetches.front().copied());
        let checked = self.misses.checked().copied();
        let room = self.passed.len() + usize::from(checked.is_some()) < CHECKED_DEPTH as usize;
        let accepted = comes.is_some() && self.misses.accepts(room);
        let looked = self.misses.looks_at(comes.as_ref(), room);
        let found = checked.and_then(|fetch| self.directory.find(fetch.again));
        let busy = self.directory.is_spent() && self.scan_busy();
        let drains = self.drains();
        self.note(&input.staged, (found.is_some(), busy, drains), events);

        let takes = self.table.takes(turn, events);
        let next = self.passed.front().filter(|_| takes).copied();
        let closes = self.directory.look(busy, drains);
        self.drain = match self.drain {
            _ if closes => {
                let stay = self.passed.len() - usize::from(next.is_some());
                Some(stay as u32 + u32::from(found.is_some()))
            }
            Some(0) if takes => None,
            Some(left) => Some(left - u32::from(left > 0 && next.is_some())),
            None => None,
        };
        self.directory.compare(looked.map_or(0, |fetch| self.tag(fetch.key)));
        self.misses.step(looked, found.is_some(), input.staged.publish.is_some(), events);
        self.stream(part, input, events);
        self.table.step(turn, self.taken, takes.then_some(next), events);
        if next.is_some() {
            self.passed.pop();
        }
        if let Some((fetch, found)) = checked.zip(found) {
            self.passed.push((fetch, found.slot));
            if !fetch.again {
                self.directory.asked(&found, fetch.last);
            }
        }
        self.taken = passes;
        self.stage(&input.staged);
        self.take(input, own.is_some(), accepted)
    }

    /// Counts the rare states of a period, before anything of it changes.
    fn note(&self, staged: &Staged, (found, busy, drains): (bool, bool, bool), events: &mut Events) {
        let closing = self.directory.is_closing();
        events.reach_if(closing && drains, Rare::AskerOnItsWay);
        events.reach_if(closing && !drains && busy, Rare::LateAsker);
        let first = self.misses.checked().is_some_and(|fetch| !fetch.again);
        events.reach_if(first && !found && self.directory.has_spent(), Rare::NextOfName);
        events.reach_if(staged.part.is_some() && self.streamer.reads(), Rare::ReadYields);
        events.reach_if(staged.pending && self.due().is_some() && self.dest().is_some(), Rare::AheadOfMemory);
    }

    fn tag(&self, key: u64) -> u64 {
        key & low_bits(self.tag_width)
    }

    /// Returns the chunk that is due, unless it left in the last period.
    fn due(&self) -> Option<&Due> {
        self.table.due().filter(|_| !self.taken)
    }

    /// Returns the destinations of the chunk that is due, once known.
    fn dest(&self) -> Option<TileBits> {
        match &self.filter {
            Some(filter) => filter.clear().copied(),
            None => self.due().map(|due| due.dest),
        }
    }

    /// Returns the part of the chunk that the streamer takes, and whether it is the last.
    fn part(&self, input: &HomeIn) -> Option<(Due, bool)> {
        let has_room = self.streamer.has_room(input.data_ready, input.staged.part.is_some());
        let (due, dest) = self.table.due().zip(self.dest()).filter(|_| has_room)?;
        self.gate.part(&Due { dest, ..*due })
    }

    /// Passes the chunk that is due through filter and gate to the streamer, which takes this part of it.
    fn stream(&mut self, part: Option<(Due, bool)>, input: &HomeIn, events: &mut Events) {
        let (dest, pending) = (self.dest(), input.staged.pending);
        let due = self.table.due();
        let to_gate = GateIn { due: due.filter(|_| !self.taken), dest, pending, gives: part.is_some() };
        self.gate.step(&to_gate);
        if let Some(filter) = &mut self.filter {
            filter.step(due, part.is_some_and(|(_, last)| last), input.period, events);
        }
        let chunk = part.map(|(chunk, _)| chunk);
        self.streamer.step(chunk.as_ref(), input.data_ready, input.staged.part.is_some());
    }

    /// Applies writes and slot updates of the staging memory.
    fn stage(&mut self, staged: &Staged) {
        if let Some(claim) = &staged.claim {
            self.directory.claim(claim);
        }
        self.directory.publish(staged.publish);
        self.directory.complete(staged.complete);
        if let Some((address, data)) = staged.fill {
            self.streamer.write(address, data);
        }
        if let Some(part) = &staged.part {
            self.streamer.patch(part);
        }
    }

    /// Takes fetches of the network and of the tile in turn.
    fn take(&mut self, input: &HomeIn, own: bool, accepted: bool) -> HomeOut {
        if accepted {
            self.own_first = !own;
        }
        let credit = accepted && !own;
        if credit {
            self.fetches.pop();
        }
        if let Some(fetch) = input.of_net {
            self.fetches.push(fetch);
        }
        HomeOut { own_ready: accepted && own, credit }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::design::Design;
    use crate::model::cycle::mare::home::home_agent::*;
    use crate::model::cycle::mare::home::staging_directory::Claim;

    /// Home without a window whose slice has slot 0 and is published at a cycle. Fetches come at these cycles.
    struct Bench {
        home: HomeAgent,
        publish: u32,
        fetches: Vec<(u32, Fetch)>,
        events: Events,
        cycle: u32,
    }

    impl Bench {
        fn new(publish: u32, expected: u32, fetches: &[(u32, Fetch)]) -> Bench {
            let mut config = Config::default();
            (config.mare.coalesce_window, config.mare.tree_build_cycles) = (0, 1);
            let design = Design::from_config("home", &config).unwrap();
            let params = MareParams::of(&design);
            let mut home = HomeAgent::new(&params);
            let last = params.mare.chunk_flits - 1;
            home.directory.claim(&Claim { slot: 0, tag: 5, last, expected });
            let whole = |(at, fetch): &(u32, Fetch)| (*at, Fetch { key: 5, x: 1, last, ..*fetch });
            let fetches = fetches.iter().map(whole).collect();
            Bench { home, publish, fetches, events: Events::default(), cycle: 0 }
        }

        fn step(&mut self) {
            let (cycle, period) = (self.cycle, BloomPeriod { tick: false, odd: false });
            let of_net = self.fetches.iter().find(|(at, _)| *at == cycle).map(|(_, fetch)| *fetch);
            let publish = (cycle == self.publish).then_some(0);
            let staged = Staged { publish, complete: publish, ..Staged::default() };
            let input = HomeIn { of_net, own: None, data_ready: true, staged, period };
            self.home.step(&input, &mut self.events);
            self.cycle += 1;
        }
    }

    #[test]
    fn a_repeat_does_not_pass_the_fetch_that_it_repeats_while_its_slice_is_published() {
        let first = Fetch::default();
        let again = Fetch { again: true, ..first };
        for publish in 0..40 {
            for behind in 1..6 {
                let mut bench = Bench::new(publish, 2, &[(10, first), (10 + behind, again)]);
                while bench.home.table.due().is_none() {
                    bench.step();
                    assert!(bench.cycle < 200, "published at {publish}: nothing becomes due");
                }
                let due = bench.home.table.due().unwrap();
                assert!(!due.again, "published at {publish}, repeated {behind} cycles later");
            }
        }
    }

    #[test]
    fn a_slot_is_not_freed_while_a_fetch_that_found_it_is_on_its_way() {
        let slots = 16;
        for fetched in 10..10 + 2 * slots {
            let mut bench = Bench::new(0, 1, &[(fetched, Fetch::default())]);
            let mut streamed = 0;
            while bench.home.freed().is_none() {
                streamed += u32::from(bench.home.streamed().is_some());
                bench.step();
                assert!(bench.cycle < 400, "fetched at {fetched}: the slot is not freed");
            }
            assert!(streamed > 0, "fetched at {fetched}: freed before it was read");
        }
    }
}
