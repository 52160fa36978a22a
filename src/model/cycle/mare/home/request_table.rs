//! Table of open requests (`meshkv_request_table`).

use crate::kernels::mare::coalescing_window::{self, Wait};
use crate::model::cycle::common::{
    after, bits, in_turn, lowest, lowest_free, only, union, without, Rare, TileBits,
};
use crate::model::cycle::mare::events::{Event, Events};
use crate::model::cycle::mare::messages::{Due, Fetch};
use crate::model::cycle::mare::params::{up_to, MareParams};

/// Bins of joins, by the cycles since the request was opened.
const JOINS: [Rare; 8] = [
    Rare::JoinAt1,
    Rare::JoinAt2,
    Rare::JoinAt3,
    Rare::JoinAt4,
    Rare::JoinAt5,
    Rare::JoinAt6,
    Rare::JoinAt7,
    Rare::JoinLater,
];

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

/// Fetch that was compared with all entries and is to be placed.
#[derive(Debug, Clone, Copy)]
struct Placing {
    fetch: Fetch,
    slot: u32,
    /// Entries of its range, some of which may have left since.
    same: u64,
    /// The one that it joins: its window was open when they were compared.
    open: Option<usize>,
}

/// Activity of the table in a period.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::model::cycle::mare) struct Turn {
    /// Entry whose next chunk becomes due.
    serves: Option<usize>,
    /// This side writes the destination sets, so no fetch is placed.
    writes: bool,
}

/// Entries, their windows, and the chunk that is due.
#[derive(Debug, Clone)]
pub(in crate::model::cycle::mare) struct RequestTable {
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
    /// There were such requests in the last period, or one has begun to wait.
    holds: bool,
    /// Fetch that was compared in the last period.
    placing: Option<Placing>,
    /// Entry that is opened next.
    vacant: Option<usize>,
    /// Entry that is read next.
    turn: Option<usize>,
    /// At most one request was closed in the last period.
    few: bool,
    /// One closed in the last period.
    closed: bool,
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
    pub(in crate::model::cycle::mare) fn new(params: &MareParams) -> RequestTable {
        let mare = &params.mare;
        RequestTable {
            entries: vec![Entry::default(); mare.request_entries as usize].into_boxed_slice(),
            valid: 0,
            again: 0,
            counting: 0,
            waited: 0,
            waits: 0,
            before: 0,
            holds: false,
            placing: None,
            vacant: None,
            turn: None,
            few: true,
            closed: false,
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

    pub(in crate::model::cycle::mare) fn due(&self) -> Option<&Due> {
        self.due.as_ref()
    }

    /// A slot still has flits to send.
    pub(in crate::model::cycle::mare) fn uses(&self, slot: u32) -> bool {
        self.due.as_ref().is_some_and(|due| due.slot == slot)
            || bits(self.valid).any(|e| self.entries[e].slot == slot)
    }

    /// Reads the chunk that is due next. `ready`: the present one leaves.
    pub(in crate::model::cycle::mare) fn turn(&self, ready: bool) -> Turn {
        let serves = self.turn.filter(|_| self.due.is_none() || ready);
        let ends = |e: usize| self.chunk(&self.entries[e]).1;
        Turn { serves, writes: !self.multicast && serves.is_some_and(ends) }
    }

    /// Returns the last flit of an entry's next chunk, and whether it is the entry's last.
    fn chunk(&self, entry: &Entry) -> (u32, bool) {
        up_to(entry.next, entry.last, self.chunk_flits)
    }

    /// Requests that wait for others to leave.
    fn held(&self) -> u64 {
        if self.holds {
            self.waits
        } else {
            0
        }
    }

    /// A fetch is to be placed.
    pub(in crate::model::cycle::mare) fn is_placing(&self) -> bool {
        self.placing.is_some()
    }

    /// The next fetch can be compared: there is none before it, or that is placed.
    pub(in crate::model::cycle::mare) fn takes(&self, turn: Turn, events: &mut Events) -> bool {
        let blocked = self.placing.is_some() && self.place(turn).is_none();
        events.count_if(blocked, Event::Blocked);
        events.reach_if(blocked && self.vacant.is_none(), Rare::TableFull);
        !blocked
    }

    /// Returns the entry of the fetch that is to be placed, if there is room.
    fn place(&self, turn: Turn) -> Option<Place> {
        let placing = self.placing.as_ref().filter(|_| !turn.writes)?;
        // Copies for each requester may delay it, so that the window has ended meanwhile.
        let open = if self.multicast { placing.open } else { self.open(placing.same & self.valid) };
        open.map(Place::Join).or(self.vacant.map(Place::Open))
    }

    /// Returns which of some entries can still be joined.
    fn open(&self, entries: u64) -> Option<usize> {
        bits(entries).find(|&e| self.window > 0 && self.wait(e, false).in_window)
    }

    /// Returns the outcome of a period for an open request, whose window may end or not.
    fn wait(&self, e: usize, may_close: bool) -> Wait {
        coalescing_window::rule(self.entries[e].count, self.tree, None, may_close)
    }

    fn same(&self, fetch: &Fetch) -> u64 {
        if self.window == 0 && !self.dedup {
            return 0;
        }
        let same = |e: &usize| {
            let entry = &self.entries[*e];
            entry.key == fetch.key && entry.first == fetch.first && entry.last == fetch.last
        };
        bits(self.valid).filter(same).fold(0, |set, e| set | 1 << e)
    }

    /// Advances one clock period. `comes` is set if a fetch can be compared, with the one that comes and the
    /// slot of its slice. `ready`: the chunk that is due leaves.
    pub(in crate::model::cycle::mare) fn step(
        &mut self,
        turn: Turn,
        ready: bool,
        comes: Option<Option<(Fetch, u32)>>,
        events: &mut Events,
    ) {
        let place = self.place(turn);
        let spare = self.spare();
        let held = self.held();
        let chosen = self.choose();
        let may_join = comes.flatten().and_then(|(fetch, _)| self.open(self.same(&fetch)));
        let closes = self.closing(events);
        let valid = self.valid;
        self.count_down(closes);
        if ready {
            self.due = None;
        }
        let leaves = turn.serves.filter(|&e| self.serve(e, events));
        self.holds = self.before != 0;
        self.waits = held;
        if let Some((place, placing)) = place.zip(self.placing) {
            self.put(place, &placing, valid & !held, events);
        }
        if self.vacant.is_none() || matches!(place, Some(Place::Open(_))) {
            self.vacant = spare;
        }
        if let Some(comes) = comes {
            // The request that was opened in this cycle is compared as well.
            self.placing = comes.map(|(fetch, slot)| {
                let same = self.same(&fetch);
                let opened = match place {
                    Some(Place::Open(e)) if self.window > 0 && same >> e & 1 == 1 => Some(e),
                    _ => None,
                };
                Placing { fetch, slot, same, open: may_join.or(opened) }
            });
        }
        self.turn = if self.turn.is_some() { self.turn.filter(|_| turn.serves.is_none()) } else { chosen };
        if let Some(e) = leaves {
            self.leave(e);
        }
    }

    /// Returns the free entry after the one that is opened next.
    fn spare(&self) -> Option<usize> {
        let offered = self.vacant.map_or(0, |e| 1 << e);
        lowest_free(self.valid | offered, self.entries.len() as u32).map(|e| e as usize)
    }

    /// Chooses the entry that is read next, while there is none.
    fn choose(&mut self) -> Option<usize> {
        // A repeat that joins a request which has just closed may make it wait.
        let repeat = self.placing.filter(|placing| self.dedup && self.multicast && placing.fetch.again);
        let joined = repeat.and_then(|placing| placing.open).map_or(0, |e| 1 << e);
        let ripe = self.valid & self.waited & !self.held() & !joined;
        if self.turn.is_some() || ripe == 0 {
            return None;
        }
        let chosen = in_turn(ripe, self.serves_later)?;
        self.serves_later = after(chosen);
        Some(chosen as usize)
    }

    /// Places a fetch. `orders` are the entries that a repeat may have to wait for.
    fn put(&mut self, place: Place, placing: &Placing, orders: u64, events: &mut Events) {
        let Placing { fetch, slot, same, .. } = placing;
        let tile = (fetch.y * self.cols + fetch.x) as usize;
        let (entry, joined) = match place {
            Place::Join(e) => {
                events.count(Event::Merge);
                events.reach(self.joins_at(e));
                events.reach_if(fetch.again, Rare::RepeatJoins);
                self.join(e, fetch, tile);
                (e, 1 << e)
            }
            Place::Open(e) => {
                events.count(Event::Open);
                self.enter(e, fetch, *slot, tile);
                (e, 0)
            }
        };
        let older = if self.dedup && fetch.again { same & orders & !joined } else { 0 };
        if older != 0 {
            self.waits |= 1 << entry;
            self.before |= older;
            self.holds = true;
            events.reach(Rare::RepeatWaits);
        }
    }

    /// The bin of a fetch that joins a request in this cycle.
    fn joins_at(&self, e: usize) -> Rare {
        match self.entries[e].count {
            count if count <= self.tree => Rare::JoinClosed,
            count if count == self.tree + 1 => Rare::JoinLast,
            count => JOINS[((self.window + self.tree - count) as usize).clamp(1, JOINS.len()) - 1],
        }
    }

    /// Returns the entry whose window ends. A window ends only when the home will soon have time for the
    /// request: two requests with closed windows keep it busy.
    fn closing(&mut self, events: &mut Events) -> Option<usize> {
        if self.window == 0 {
            return None;
        }
        let (mut open, mut ending) = (0, 0);
        for e in bits(self.counting) {
            open |= u64::from(self.wait(e, false).in_window) << e;
            ending |= u64::from(self.entries[e].count == self.tree + 1) << e;
        }
        ending &= !self.held();
        let few = std::mem::replace(&mut self.few, (self.valid & !open).count_ones() <= 1);
        let may = !std::mem::replace(&mut self.closed, false) && few;
        events.reach_if(ending != 0 && !may, Rare::WindowHeld);
        let closes = in_turn(ending, self.closes_later).filter(|_| may)?;
        self.closed = true;
        self.closes_later = after(closes);
        Some(closes as usize)
    }

    /// Counts down the window, then the cycles to build the tree. One counter serves both.
    fn count_down(&mut self, closes: Option<usize>) {
        for e in bits(self.counting) {
            let next = self.wait(e, closes == Some(e)).next;
            self.entries[e].count = next;
            if next == 0 {
                self.counting &= !(1 << e);
                self.waited |= 1 << e;
            }
        }
    }

    /// Makes the next chunk of an entry due. Returns true if it was the last.
    fn serve(&mut self, e: usize, events: &mut Events) -> bool {
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
        events.reach_if(ends && !whole, Rare::EachACopy);
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

    fn enter(&mut self, e: usize, fetch: &Fetch, slot: u32, tile: usize) {
        let Fetch { key, mask, first, last, again, .. } = *fetch;
        let count = coalescing_window::rule(0, self.tree, Some(self.window + self.tree), false).next;
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
    use crate::config::Config;
    use crate::design::Design;
    use crate::model::cycle::mare::home::request_table::*;

    /// Fetches come at these cycles from these tiles, and a chunk that is due may leave at some cycles. Returns the
    /// tiles in the order in which their chunks become due, and whether one of them repeats.
    fn dues(fetches: &[(u32, u32, bool)], leaves: impl Fn(u32) -> bool) -> Vec<(u64, bool)> {
        let mut config = Config::default();
        (config.mare.coalesce_window, config.mare.tree_build_cycles) = (1, 2);
        let design = Design::from_config("order", &config).unwrap();
        let mut table = RequestTable::new(&MareParams::of(&design));
        let (mut events, mut dues, mut last) = (Events::default(), Vec::new(), None);
        for cycle in 0..200 {
            let fetch = fetches.iter().find(|(at, ..)| *at == cycle).map(|&(_, x, again)| {
                let fetch =
                    Fetch { key: 5, x, last: 3 * design.mare.chunk_flits - 1, again, ..Default::default() };
                (fetch, 0)
            });
            let ready = leaves(cycle);
            let turn = table.turn(ready);
            assert!(table.takes(turn, &mut events));
            table.step(turn, ready, Some(fetch), &mut events);
            let due = table.due().map(|due| (due.dest[0], due.again, due.first));
            dues.extend(due.filter(|_| due != last).map(|(dest, again, _)| (dest, again)));
            last = due;
        }
        assert_eq!((table.valid, table.before), (0, 0));
        dues
    }

    /// The order if nothing leaves before all have come.
    fn order(fetches: &[(u32, u32, bool)]) -> Vec<u64> {
        let dues = dues(fetches, |cycle| cycle > 40 && cycle % 4 == 0);
        dues.into_iter().map(|(dest, _)| dest).collect()
    }

    #[test]
    fn a_fetch_right_behind_another_for_its_range_joins_it() {
        assert_eq!(order(&[(0, 0, false), (1, 1, false)]), [3, 3, 3]);
    }

    #[test]
    fn a_repeat_that_comes_as_a_window_closes_leaves_after_what_it_repeats() {
        for (second, repeat) in (1..16).flat_map(|second| (1..8).map(move |more| (second, second + more))) {
            let fetches = [(0, 0, false), (second, 1, false), (repeat, 0, true)];
            let found = dues(&fetches, |cycle| cycle % 8 == 0);
            let repeats = found.iter().position(|&(_, again)| again);
            let late = &found[repeats.expect("the repeat is answered")..];
            let of_first = |&&(dest, again): &&(u64, bool)| dest & 1 == 1 && !again;
            assert_eq!(late.iter().filter(of_first).count(), 0, "{fetches:?}: {found:?}");
        }
    }

    #[test]
    fn first_fetches_of_a_range_stream_in_rotation() {
        // A chunk is due and the next one chosen when the second request comes.
        assert_eq!(order(&[(0, 0, false), (10, 1, false)]), [1, 1, 2, 1, 2, 2]);
    }

    #[test]
    fn a_repeat_leaves_after_every_earlier_request_for_its_range() {
        assert_eq!(order(&[(0, 0, false), (10, 1, false), (20, 1, true)]), [1, 1, 2, 1, 2, 2, 2, 2, 2]);
        // The request that it joins waits as well, but not for itself, and later ones wait only if they repeat.
        assert_eq!(order(&[(0, 0, false), (10, 1, false), (11, 0, true)]), [1, 1, 1, 3, 3, 3]);
        assert_eq!(order(&[(0, 0, false), (1, 0, true)]), [1, 1, 1]);
    }
}
