//! Ring of fetches whose slices are not resident yet (`meshkv_fetch_park`).

use super::events::{Event, Events};
use super::messages::Fetch;
use super::params::MareParams;
use crate::design::depths::PARKED_MORE;
use crate::model::cycle::common::Fifo;

/// Ring of waiting fetches.
#[derive(Debug, Clone)]
pub(super) struct FetchPark {
    ring: Fifo<Fetch>,
    parked: u32,
    /// Waiting fetches that the current sweep has still to check.
    left: u32,
    /// A slice has become resident since the last sweep.
    news: bool,
    depth: u32,
}

impl FetchPark {
    pub(super) fn new(params: &MareParams) -> FetchPark {
        let depth = params.cols * params.rows + PARKED_MORE;
        FetchPark { ring: Fifo::new(depth), parked: 0, left: 0, news: false, depth }
    }

    /// Returns the fetch to check: a waiting one during a sweep, else the arriving one.
    pub(super) fn looks_at<'a>(&'a self, comes: Option<&'a Fetch>) -> Option<&'a Fetch> {
        if self.left > 0 {
            self.ring.front()
        } else {
            comes.filter(|_| !self.news)
        }
    }

    /// Advances one clock period. `looked` is the checked fetch, with whether its slice is resident and
    /// whether the table takes it. Returns true if the arriving fetch is taken.
    pub(super) fn step(
        &mut self,
        looked: Option<(Fetch, bool, bool)>,
        published: bool,
        events: &mut Events,
    ) -> bool {
        let sweeps = self.left > 0;
        let mut accepted = false;
        let waiting = self.parked;
        if let Some((fetch, resident, taken)) = looked {
            if sweeps {
                self.sweep(fetch, resident, taken);
            } else if resident {
                accepted = taken;
            } else {
                accepted = self.put(&fetch, events);
            }
        }
        if !sweeps && self.news {
            self.left = waiting;
        }
        self.news = published || (self.news && sweeps);
        accepted
    }

    /// Releases a waiting fetch, or moves it to the end of the ring.
    fn sweep(&mut self, fetch: Fetch, resident: bool, taken: bool) {
        if resident && !taken {
            return;
        }
        self.ring.pop();
        self.left -= 1;
        if resident {
            self.parked -= 1;
        } else {
            self.ring.push(fetch);
        }
    }

    /// Parks an arriving fetch, or drops a repeated one. Returns false if it must wait outside.
    fn put(&mut self, fetch: &Fetch, events: &mut Events) -> bool {
        // The original of a repeated fetch is parked already, or its data has been sent.
        if fetch.again {
            return true;
        }
        if self.parked >= self.depth - 1 {
            return false;
        }
        events.count(Event::Park);
        self.ring.push(*fetch);
        self.parked += 1;
        true
    }
}
