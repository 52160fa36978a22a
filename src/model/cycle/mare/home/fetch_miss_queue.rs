//! Queue of misses: fetches whose slices are not resident yet (`meshkv_fetch_miss_queue`).

use crate::design::depths::EXTRA_MISSES;
use crate::model::cycle::common::{Fifo, Rare};
use crate::model::cycle::mare::events::{Event, Events};
use crate::model::cycle::mare::messages::Fetch;
use crate::model::cycle::mare::params::MareParams;

/// Queue of misses, which wait in a ring.
#[derive(Debug, Clone)]
pub(in crate::model::cycle::mare) struct FetchMissQueue {
    ring: Fifo<Fetch>,
    parked: u32,
    /// Waiting fetches that the current sweep has still to check.
    left: u32,
    /// A slice has become resident since the last sweep.
    news: bool,
    /// Fetch that was looked up in the last period, and whether a sweep did so.
    checked: Option<(Fetch, bool)>,
    depth: u32,
}

impl FetchMissQueue {
    pub(in crate::model::cycle::mare) fn new(params: &MareParams) -> FetchMissQueue {
        let depth = params.cols * params.rows + EXTRA_MISSES;
        FetchMissQueue { ring: Fifo::new(depth), parked: 0, left: 0, news: false, checked: None, depth }
    }

    /// An arriving fetch can be looked up. `room`: it can be passed on afterwards.
    pub(in crate::model::cycle::mare) fn accepts(&self, room: bool) -> bool {
        room && self.left == 0 && !self.news && self.parked < self.depth - 1
    }

    /// Returns the fetch that was looked up in the last period.
    pub(in crate::model::cycle::mare) fn checked(&self) -> Option<&Fetch> {
        self.checked.as_ref().map(|(fetch, _)| fetch)
    }

    /// Returns the fetch that is looked up: a waiting one during a sweep, else the arriving one.
    pub(in crate::model::cycle::mare) fn looks_at(&self, comes: Option<&Fetch>, room: bool) -> Option<Fetch> {
        if self.left > 0 {
            self.ring.front().filter(|_| room).copied()
        } else {
            comes.filter(|_| self.accepts(room)).copied()
        }
    }

    /// Advances one clock period. `looked` is the fetch that is looked up. `resident`: the slice of the one
    /// before is.
    pub(in crate::model::cycle::mare) fn step(
        &mut self,
        looked: Option<Fetch>,
        resident: bool,
        published: bool,
        events: &mut Events,
    ) {
        let (sweeps, waiting) = (self.left > 0, self.parked);
        let begins = self.news && !sweeps && self.checked.is_none();
        if sweeps && looked.is_some() {
            self.ring.pop();
            self.left -= 1;
        }
        events.reach_if(self.parked == self.depth - 1, Rare::QueueFull);
        match self.checked.take() {
            Some((_, true)) if resident => {
                self.parked -= 1;
                events.reach(Rare::SweepFinds);
            }
            Some((fetch, true)) => {
                self.ring.push(fetch);
                events.reach(Rare::SweepKeeps);
            }
            // The original of a repeated fetch is parked already, or its data has been sent.
            Some((fetch, false)) if !resident && !fetch.again => {
                events.count(Event::Park);
                events.reach(Rare::Parked);
                self.ring.push(fetch);
                self.parked += 1;
            }
            Some((_, false)) if !resident => events.reach(Rare::RepeatForgotten),
            _ => {}
        }
        if begins {
            self.left = waiting;
        }
        self.news = published || (self.news && !begins);
        self.checked = looked.map(|fetch| (fetch, sweeps));
    }
}
