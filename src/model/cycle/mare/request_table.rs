//! Table of open requests (`meshkv_request_table`).

use super::events::{Event, Events};
use super::messages::{Due, Fetch};
use super::params::{up_to, MareParams};
use crate::model::cycle::common::{
    after, bits, in_turn, lowest, lowest_free, only, union, without, TileBits,
};

/// Range of a slice requested by some tiles.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    key: u64,
    first: u32,
    last: u32,
    next: u32,
    slot: u32,
    dest: TileBits,
    mask: u64,
    /// Remaining cycles of window and tree.
    count: u32,
}

/// Table entry for a fetch.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Joins this request.
    Join(usize),
    /// Opens this request.
    Open(usize),
}

/// What the table does with a fetch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    place: Place,
    /// Requests that must leave before the fetch's: those for the range of a repeat.
    older: u64,
}

/// Activity of the table in a period.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Turn {
    /// Entry whose next chunk becomes due.
    serves: Option<usize>,
    /// This side writes the destination sets, so no fetch is accepted.
    pub(super) writes: bool,
}

/// Entries, their windows, and the chunk that is due.
#[derive(Debug, Clone)]
pub(super) struct RequestTable {
    entries: Box<[Entry]>,
    valid: u64,
    again: u64,
    /// Entries with a running counter.
    counting: u64,
    /// Entries whose counter has run down.
    waited: u64,
    /// Requests with a repeated fetch: they leave after all those of `before`.
    waits: u64,
    /// Requests that any of `waits` waits for.
    before: u64,
    /// Round-robin masks: windows to end next, and requests to stream next.
    closes_later: u64,
    serves_later: u64,
    due: Option<Due>,
    window: u32,
    tree: u32,
    dedup: bool,
    multicast: bool,
    chunk_flits: u32,
    cols: u32,
}

impl RequestTable {
    pub(super) fn new(params: &MareParams) -> RequestTable {
        let mare = &params.mare;
        RequestTable {
            entries: vec![Entry::default(); mare.request_entries as usize].into_boxed_slice(),
            valid: 0,
            again: 0,
            counting: 0,
            waited: 0,
            waits: 0,
            before: 0,
            closes_later: 0,
            serves_later: 0,
            due: None,
            window: mare.coalesce_window,
            tree: mare.tree_cycles,
            dedup: mare.dedup,
            multicast: params.multicast,
            chunk_flits: mare.chunk_flits,
            cols: params.cols,
        }
    }

    pub(super) fn due(&self) -> Option<&Due> {
        self.due.as_ref()
    }

    /// A slot still has flits to send.
    pub(super) fn uses(&self, slot: u32) -> bool {
        self.due.as_ref().is_some_and(|due| due.slot == slot)
            || bits(self.valid).any(|e| self.entries[e].slot == slot)
    }

    /// Chooses the chunk that is due next. `ready`: the present one is passed on.
    pub(super) fn turn(&self, ready: bool) -> Turn {
        let ripe = self.valid & self.waited & !self.held();
        if ripe == 0 || (self.due.is_some() && !ready) {
            return Turn::default();
        }
        let serves = in_turn(ripe, self.serves_later).map(|e| e as usize);
        let ends = |e: usize| self.chunk(&self.entries[e]).1;
        Turn { serves, writes: !self.multicast && serves.is_some_and(ends) }
    }

    /// Returns the last flit of an entry's next chunk, and whether it is the entry's last.
    fn chunk(&self, entry: &Entry) -> (u32, bool) {
        up_to(entry.next, entry.last, self.chunk_flits)
    }

    /// Requests that wait for others to leave.
    fn held(&self) -> u64 {
        if self.before == 0 {
            0
        } else {
            self.waits
        }
    }

    /// Returns the entry for a fetch, if there is room.
    pub(super) fn place(&self, fetch: &Fetch) -> Option<Placed> {
        let same = if self.window > 0 || self.dedup { self.same(fetch) } else { 0 };
        let open = bits(same).find(|&e| self.window > 0 && self.entries[e].count > self.tree);
        let place = open.map(Place::Join).or_else(|| {
            let vacant = lowest_free(self.valid, self.entries.len() as u32)?;
            Some(Place::Open(vacant as usize))
        })?;
        let older =
            if self.dedup && fetch.again { same & !self.held() & !open.map_or(0, |e| 1 << e) } else { 0 };
        Some(Placed { place, older })
    }

    fn same(&self, fetch: &Fetch) -> u64 {
        let same = |e: &usize| {
            let entry = &self.entries[*e];
            entry.key == fetch.key && entry.first == fetch.first && entry.last == fetch.last
        };
        bits(self.valid).filter(same).fold(0, |set, e| set | 1 << e)
    }

    /// Advances one clock period. `fetch` is taken in, with its entry and the slot of its slice. `ready`: the
    /// chunk that is due is passed on.
    pub(super) fn step(
        &mut self,
        turn: Turn,
        ready: bool,
        fetch: Option<(Fetch, Placed, u32)>,
        events: &mut Events,
    ) {
        let closes = self.closing();
        self.count_down(closes);
        if ready {
            self.due = None;
        }
        let leaves = turn.serves.filter(|&e| self.serve(e));
        self.waits = self.held();
        if let Some((fetch, placed, slot)) = fetch {
            let tile = (fetch.y * self.cols + fetch.x) as usize;
            let entry = match placed.place {
                Place::Join(e) => {
                    events.count(Event::Merge);
                    self.join(e, &fetch, tile);
                    e
                }
                Place::Open(e) => {
                    events.count(Event::Open);
                    self.open(e, &fetch, slot, tile);
                    e
                }
            };
            if placed.older != 0 {
                self.waits |= 1 << entry;
                self.before |= placed.older;
            }
        }
        if let Some(e) = leaves {
            self.leave(e);
        }
    }

    /// Returns the entry whose window ends. A window ends only when the home will soon have time for the
    /// request: two requests with closed windows keep it busy.
    fn closing(&mut self) -> Option<usize> {
        if self.window == 0 {
            return None;
        }
        let (mut open, mut ending) = (0, 0);
        for e in bits(self.counting) {
            let entry = &self.entries[e];
            open |= u64::from(entry.count > self.tree) << e;
            ending |= u64::from(entry.count == self.tree + 1) << e;
        }
        ending &= !self.held();
        if (self.valid & !open).count_ones() > 1 {
            return None;
        }
        let closes = in_turn(ending, self.closes_later)?;
        self.closes_later = after(closes);
        Some(closes as usize)
    }

    /// Counts down the window, then the cycles to build the tree. One counter serves both.
    fn count_down(&mut self, closes: Option<usize>) {
        for e in bits(self.counting) {
            let entry = &mut self.entries[e];
            if self.window > 0 && entry.count == self.tree + 1 && closes != Some(e) {
                continue;
            }
            entry.count -= 1;
            if entry.count == 0 {
                self.counting &= !(1 << e);
                self.waited |= 1 << e;
            }
        }
    }

    /// Makes the next chunk of an entry due. Returns true if it was the last.
    fn serve(&mut self, e: usize) -> bool {
        self.serves_later = after(e as u32);
        let (last, ends) = self.chunk(&self.entries[e]);
        let again = self.again >> e & 1 == 1;
        let entry = &mut self.entries[e];
        // Without multicast, each requester gets its own copy: the whole range, one requester after the
        // other.
        let copy = match lowest(&entry.dest) {
            Some(tile) if !self.multicast => only(tile),
            _ => entry.dest,
        };
        let Entry { key, next: first, slot, mask, .. } = *entry;
        self.due = Some(Due { key, first, last, slot, dest: copy, mask, again });
        let whole = ends && copy == entry.dest;
        entry.next = last + 1;
        if !self.multicast && ends {
            entry.next = entry.first;
            entry.dest = without(&entry.dest, &copy);
        }
        whole
    }

    fn join(&mut self, e: usize, fetch: &Fetch, tile: usize) {
        let entry = &mut self.entries[e];
        entry.dest = union(&entry.dest, &only(tile));
        entry.mask |= fetch.mask;
        self.again |= u64::from(fetch.again) << e;
    }

    fn open(&mut self, e: usize, fetch: &Fetch, slot: u32, tile: usize) {
        let Fetch { key, mask, first, last, again, .. } = *fetch;
        let count = self.window + self.tree;
        self.entries[e] = Entry { key, first, last, next: first, slot, dest: only(tile), mask, count };
        self.valid |= 1 << e;
        self.again = self.again & !(1 << e) | u64::from(again) << e;
        if count > 0 {
            self.counting |= 1 << e;
        } else {
            self.waited |= 1 << e;
        }
    }

    fn leave(&mut self, e: usize) {
        self.valid &= !(1 << e);
        self.waited &= !(1 << e);
        self.before &= !(1 << e);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::design::Design;

    /// Fetches come at these cycles from these tiles. Returns the tiles in the order in which their chunks become
    /// due.
    fn order(fetches: &[(u32, u32, bool)]) -> Vec<u64> {
        let mut config = Config::default();
        (config.mare.coalesce_window, config.mare.tree_build_cycles) = (1, 2);
        let design = Design::from_config("order", &config).unwrap();
        let mut table = RequestTable::new(&MareParams::of(&design));
        let (mut events, mut dues, mut last) = (Events::default(), Vec::new(), None);
        for cycle in 0..200 {
            let fetch = fetches.iter().find(|(at, ..)| *at == cycle).map(|&(_, x, again)| {
                let fetch =
                    Fetch { key: 5, x, last: 3 * design.mare.chunk_flits - 1, again, ..Default::default() };
                (fetch, table.place(&fetch).unwrap(), 0)
            });
            let ready = cycle > 40 && cycle % 4 == 0;
            table.step(table.turn(ready), ready, fetch, &mut events);
            let due = table.due().map(|due| (due.dest[0], due.first));
            dues.extend(due.filter(|_| due != last).map(|(dest, _)| dest));
            last = due;
        }
        assert_eq!((table.valid, table.before), (0, 0));
        dues
    }

    #[test]
    fn first_fetches_of_a_range_stream_in_rotation() {
        assert_eq!(order(&[(0, 0, false), (10, 1, false)]), [1, 2, 1, 2, 1, 2]);
    }

    #[test]
    fn a_repeat_leaves_after_every_earlier_request_for_its_range() {
        assert_eq!(order(&[(0, 0, false), (10, 1, false), (20, 1, true)]), [1, 2, 1, 2, 1, 2, 2, 2, 2]);
        // The request that it joins waits as well, but not for itself, and later ones wait only if they repeat.
        assert_eq!(order(&[(0, 0, false), (10, 1, false), (11, 0, true)]), [1, 1, 1, 3, 3, 3]);
        assert_eq!(order(&[(0, 0, false), (1, 0, true)]), [1, 1, 1]);
    }
}
