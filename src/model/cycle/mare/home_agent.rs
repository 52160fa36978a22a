//! Home agent of the slices in a tile's staging memory (`meshkv_home_agent`): fetches in, slices out.
//!
//! Fetches of slices that are not resident wait in the [`FetchPark`]. The [`RequestTable`] merges the others.
//! A chunk that is due passes the [`DuplicateFilter`], and the [`SliceStreamer`] reads it. The
//! [`StagingDirectory`] tracks the slots.

use super::duplicate_filter::DuplicateFilter;
use super::events::{Event, Events};
use super::fetch_park::FetchPark;
use super::messages::{Fetch, Staged};
use super::params::{low_bits, MareParams};
use super::request_table::RequestTable;
use super::slice_streamer::{SliceStreamer, Streamed};
use super::staging_directory::StagingDirectory;
use crate::model::cycle::common::{BloomPeriod, Fifo};

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
    park: FetchPark,
    directory: StagingDirectory,
    table: RequestTable,
    filter: Option<DuplicateFilter>,
    streamer: SliceStreamer,
    tag_width: u32,
}

impl HomeAgent {
    /// Creates an empty home.
    pub fn new(params: &MareParams) -> HomeAgent {
        HomeAgent {
            fetches: Fifo::new(params.vc_depth),
            own_first: false,
            park: FetchPark::new(params),
            directory: StagingDirectory::new(params),
            table: RequestTable::new(params),
            filter: params.mare.dedup.then(|| DuplicateFilter::new(params)),
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
        self.directory.freed(|| self.scan_busy())
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

    /// Advances one clock period.
    pub fn step(&mut self, input: &HomeIn, events: &mut Events) -> HomeOut {
        let has_room = self.streamer.has_room(input.data_ready);
        let passes = match &self.filter {
            Some(filter) => filter.clear().is_some() && has_room,
            None => self.table.due().is_some() && has_room,
        };
        let turn = self.table.turn(passes);
        let own = input.own.filter(|_| self.own_first || self.fetches.is_empty());
        let comes = own.or_else(|| self.fetches.front().copied());
        let looked = self.park.looks_at(comes.as_ref()).copied();
        let found = looked.and_then(|fetch| self.directory.find(self.tag(fetch.key), fetch.again));
        let fetch = looked.filter(|_| found.is_some());
        let place = fetch.filter(|_| !turn.writes).and_then(|fetch| self.table.place(&fetch));
        events.count_if(fetch.is_some() && place.is_none(), Event::Blocked);

        let busy = self.directory.is_spent() && self.scan_busy();
        self.directory.look(busy);
        let judged = looked.map(|looked| (looked, found.is_some(), place.is_some()));
        let accepted = self.park.step(judged, input.staged.publish.is_some(), events);
        self.stream(passes, input, events);
        let goes_in = fetch.zip(place).zip(found);
        if let Some(((fetch, _), found)) = goes_in.filter(|((fetch, _), _)| !fetch.again) {
            self.directory.asked(&found, fetch.last);
        }
        let goes_in = goes_in.map(|((fetch, place), found)| (fetch, place, found.slot));
        self.table.step(turn, passes, goes_in, events);
        self.stage(&input.staged);
        self.take(input, own.is_some(), accepted)
    }

    fn tag(&self, key: u64) -> u64 {
        key & low_bits(self.tag_width)
    }

    /// Passes the chunk that is due through the filter to the streamer.
    fn stream(&mut self, passes: bool, input: &HomeIn, events: &mut Events) {
        let due = self.table.due();
        let mut chunk = due.filter(|_| passes).copied();
        if let Some(filter) = &mut self.filter {
            if let (Some(chunk), Some(clear)) = (&mut chunk, filter.clear()) {
                chunk.dest = *clear;
            }
            filter.step(due, passes, input.period, events);
        }
        self.streamer.step(chunk.as_ref(), input.data_ready);
    }

    /// Applies writes and slot updates of the staging memory.
    fn stage(&mut self, staged: &Staged) {
        if let Some(claim) = &staged.claim {
            self.directory.claim(claim);
        }
        if let Some(slot) = staged.publish {
            self.directory.publish(slot);
        }
        if let Some((address, data)) = staged.fill {
            self.streamer.write(address, data);
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
