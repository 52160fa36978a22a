//! Requester of a tile: fetches ranges of slices and receives their flits (`meshkv_requester`).

mod history;

use super::events::{Event, Events};
use super::messages::{Arrival, Command, Fetch, KvFlit};
use super::params::MareParams;
use super::reorder_fifo::ReorderFifo;
use crate::model::cycle::common::{bits, lowest_free, Rare};
use history::History;

/// Distinguishable generations of a range, one bit each.
const ALL_GENERATIONS: u32 = 0b1111;

/// Range in progress.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    command: Command,
    generation: u32,
    /// Next flit, and its place in the FIFO.
    next: u32,
    place: u32,
    /// Refresh periods since its last flit.
    age: u32,
}

/// Result of comparing a command with the ranges in flight and completed ones.
#[derive(Debug, Clone, Copy)]
struct Compared {
    /// Slots of its range.
    same: u64,
    /// Generations, one bit each, that a new range must not use.
    taken: u32,
    /// The FIFO has room for its range.
    fits: bool,
}

/// Result of a command.
#[derive(Debug, Clone, Copy)]
enum Answer {
    /// Joins the range of this slot.
    Join(usize),
    /// Opens this slot with this generation.
    Open(usize, u32),
}

/// Inputs of the requester in a period, except its command.
#[derive(Debug, Clone, Copy)]
pub struct RequesterIn {
    /// The outgoing fetch is taken.
    pub fetch_ready: bool,
    /// Arriving flit of KV_DATA.
    pub rx: Option<Arrival>,
    /// Last cycle of a refresh period of the Bloom filters.
    pub tick: bool,
    /// The PaD takes its flit.
    pub kv_ready: bool,
    /// The PaD's clock has no edge at the end of this period.
    pub apart: bool,
    /// The PaD has nothing to do; used only where stages do not overlap.
    pub compute_idle: bool,
}

/// Slots, history, outgoing fetch, and FIFO.
#[derive(Debug, Clone)]
pub struct Requester {
    slots: Box<[Slot]>,
    busy: u64,
    late: u64,
    out: Option<Fetch>,
    /// Arrived flit, and the slots of its tag and generation.
    arrived: Option<(Arrival, u64)>,
    /// Accepted from the prefetcher and not yet answered.
    command: Option<Command>,
    /// Result of its comparison in the last period.
    compared: Option<Compared>,
    history: Option<History>,
    fifo: ReorderFifo,
    idle_seen: [bool; 2],
    overlap: bool,
    retry_ticks: u32,
    tag_width: u32,
}

impl Requester {
    /// Creates a requester without ranges in progress.
    pub fn new(params: &MareParams) -> Requester {
        let mare = &params.mare;
        Requester {
            slots: vec![Slot::default(); mare.fetch_slots as usize].into_boxed_slice(),
            busy: 0,
            late: 0,
            out: None,
            arrived: None,
            command: None,
            compared: None,
            history: mare.dedup.then(|| History::new(mare.fetch_history)),
            fifo: ReorderFifo::new(mare.fifo_depth),
            idle_seen: [false; 2],
            overlap: params.overlap,
            retry_ticks: mare.retry_ticks,
            tag_width: params.tag_width,
        }
    }

    /// Outgoing fetch; its coordinates are those of the home.
    pub fn fetch(&self) -> Option<&Fetch> {
        self.out.as_ref()
    }

    /// Flit at the PaD.
    pub fn kv(&self) -> Option<&KvFlit> {
        self.fifo.out()
    }

    /// A command can be taken.
    pub fn has_room(&self) -> bool {
        self.command.is_none()
    }

    /// A range of this tag is in progress or about to be.
    pub fn is_busy_with(&self, tag: u64) -> bool {
        self.command.is_some_and(|command| command.tag == tag)
            || bits(self.busy).any(|s| self.slots[s].command.tag == tag)
    }

    /// Tag of the flit taken in this period.
    pub fn came(&self) -> Option<u64> {
        self.arriving().map(|s| self.slots[s].command.tag)
    }

    /// Returns the slot that waits for exactly the flit that has arrived.
    fn arriving(&self) -> Option<usize> {
        let (flit, named) = self.arrived?;
        bits(self.busy & named).find(|&s| self.slots[s].next == flit.index)
    }

    /// Returns the slots in progress of a key's tag and generation.
    fn named(&self, key: u64) -> u64 {
        let (tag, generation) = self.split(key);
        let named = |s: &usize| self.slots[*s].command.tag == tag && self.slots[*s].generation == generation;
        bits(self.busy).filter(named).fold(0, |set, s| set | 1 << s)
    }

    fn split(&self, key: u64) -> (u64, u32) {
        let generation = (key >> self.tag_width) as u32;
        (key & !(u64::from(generation) << self.tag_width), generation)
    }

    /// Advances one clock period. Returns true if the command was taken.
    pub fn step(&mut self, comes: Option<&Command>, input: RequesterIn, events: &mut Events) -> bool {
        let arrives = self.arriving();
        let named = input.rx.map(|flit| (flit, self.named(flit.key)));
        let (taken, command) = (comes.filter(|_| self.has_room()), self.command);
        let compared = command.as_ref().map(|command| self.compare(command));
        let free = self.out.is_none();
        let answer = self.compared.filter(|_| free).and_then(|met| self.answer(&met, arrives));
        let retry = (free && answer.is_none() && self.late != 0).then(|| self.late.trailing_zeros() as usize);
        events.count_if(command.is_some() && answer.is_none(), Event::CommandWaits);
        events.count_if(self.arrived.is_some() && arrives.is_none(), Event::Duplicate);
        if let Some(met) = self.compared.filter(|_| free) {
            self.note(&met, answer, arrives, events);
        }
        if let Some((flit, named)) = self.arrived.filter(|_| arrives.is_none()) {
            events.reach(self.duplicate(flit.index, named));
        }
        let hold = !self.overlap && self.busy != 0;

        self.idle_seen = [input.compute_idle, self.idle_seen[0]];
        if input.fetch_ready {
            self.out = None;
        }
        if free {
            self.out = match (command, answer, retry) {
                (Some(command), Some(answer), _) => Some(self.outgoing(&command, answer)),
                (.., Some(s)) => Some(self.repeated(s)),
                _ => None,
            };
        }
        if input.tick {
            self.grow_old();
        }
        let put = arrives.map(|s| self.take(s, events));
        if let Some(s) = retry {
            events.count(Event::Retry);
            events.reach(Rare::Retried);
            self.slots[s].age = 0;
            self.late &= !(1 << s);
        }
        let reserve = match (command, answer) {
            (Some(command), Some(answer)) => self.accept(&command, answer, events),
            _ => 0,
        };
        let edge = (!input.apart).then_some(input.kv_ready);
        self.fifo.step(reserve, put, hold, edge);
        events.reach_if(self.fifo.room() == 0, Rare::FifoFull);
        self.arrived = named;
        self.compared = compared.filter(|_| answer.is_none());
        self.command = taken.copied().or(command.filter(|_| answer.is_none()));
        taken.is_some()
    }

    /// Clocks the PaD's side alone.
    pub fn kv_edge(&mut self, takes: bool) {
        self.fifo.read_edge(takes);
    }

    /// Compares the command with all ranges in progress or remembered.
    fn compare(&self, command: &Command) -> Compared {
        let same = |s: &usize| {
            let of = &self.slots[*s].command;
            (of.tag, of.first, of.last) == (command.tag, command.first, command.last)
        };
        Compared {
            same: bits(self.busy).filter(same).fold(0, |set, s| set | 1 << s),
            taken: self.taken(command),
            fits: command.last - command.first < self.fifo.room(),
        }
    }

    /// Chooses the result of the compared command, if it can be accepted.
    fn answer(&self, met: &Compared, arrives: Option<usize>) -> Option<Answer> {
        // In progress without a flit so far, including this period: another head may join.
        let waiting = |s: &usize| self.slots[*s].next == self.slots[*s].command.first && arrives != Some(*s);
        if let Some(s) = bits(self.busy & met.same).find(waiting) {
            return Some(Answer::Join(s));
        }
        let may_open = self.overlap || (self.idle_seen[1] && self.fifo.is_free() && self.busy == 0);
        if !met.fits || !may_open {
            return None;
        }
        let slots = self.slots.len() as u32;
        let vacant = lowest_free(self.busy, slots)?;
        if self.history.as_ref().is_some_and(|history| history.is_crowded(slots)) {
            return None;
        }
        let generation = (met.taken != ALL_GENERATIONS).then(|| met.taken.trailing_ones())?;
        Some(Answer::Open(vacant as usize, generation))
    }

    /// Counts the rare states of a command that was compared.
    fn note(&self, met: &Compared, answer: Option<Answer>, arrives: Option<usize>, events: &mut Events) {
        let first = |s: &usize| self.slots[*s].next == self.slots[*s].command.first;
        let joins = matches!(answer, Some(Answer::Join(_)));
        let late = arrives.is_some_and(|s| met.same >> s & 1 == 1 && first(&s));
        events.reach_if(joins, Rare::Joins);
        events.reach_if(late && !joins, Rare::JoinTooLate);
        let slots = self.slots.len() as u32;
        match answer {
            Some(Answer::Open(_, 1)) => events.reach(Rare::Generation1),
            Some(Answer::Open(_, 2)) => events.reach(Rare::Generation2),
            Some(Answer::Open(_, 3)) => events.reach(Rare::Generation3),
            Some(_) => {}
            None => {
                let crowded = self.history.as_ref().is_some_and(|history| history.is_crowded(slots));
                events.reach_if(!met.fits, Rare::FifoShort);
                events.reach_if(lowest_free(self.busy, slots).is_none(), Rare::SlotsBusy);
                events.reach_if(crowded, Rare::HistoryFull);
                events.reach_if(met.taken == ALL_GENERATIONS, Rare::GenerationsUsed);
            }
        }
    }

    /// The bin of a flit that no slot waits for; `named` are the slots of its tag and generation.
    fn duplicate(&self, index: u32, named: u64) -> Rare {
        let mut named = bits(self.busy & named).map(|s| &self.slots[s]);
        let covers = |slot: &&Slot| (slot.command.first..=slot.command.last).contains(&index);
        match named.find(covers) {
            None => Rare::DuplicateOver,
            Some(slot) if index < slot.next => Rare::DuplicateBehind,
            Some(_) => Rare::FlitAhead,
        }
    }

    /// Generations, one bit each, that a new range must not use.
    fn taken(&self, command: &Command) -> u32 {
        let on_their_way = bits(self.busy).fold(0, |taken, s| {
            let (slot, of) = (&self.slots[s], &self.slots[s].command);
            let overlaps = of.tag == command.tag && command.first <= of.last && of.first <= command.last;
            taken | u32::from(overlaps) << slot.generation
        });
        on_their_way | self.history.as_ref().map_or(0, |history| history.overlapped(command))
    }

    fn outgoing(&self, command: &Command, answer: Answer) -> Fetch {
        let (generation, again) = match answer {
            Answer::Join(s) => (self.slots[s].generation, true),
            Answer::Open(_, generation) => (generation, false),
        };
        self.fetch_of(command, generation, again)
    }

    fn repeated(&self, s: usize) -> Fetch {
        self.fetch_of(&self.slots[s].command, self.slots[s].generation, true)
    }

    fn fetch_of(&self, of: &Command, generation: u32, again: bool) -> Fetch {
        let key = of.tag | u64::from(generation) << self.tag_width;
        Fetch { key, mask: of.mask, x: of.x, y: of.y, first: of.first, last: of.last, again }
    }

    /// Ages everything in progress or remembered by one refresh period.
    fn grow_old(&mut self) {
        if let Some(history) = &mut self.history {
            history.tick();
        }
        for s in bits(self.busy & !self.late) {
            let slot = &mut self.slots[s];
            // The first chunk of a slice may be missing for long.
            if slot.command.patient && slot.next == slot.command.first {
                continue;
            }
            slot.age += 1;
            if slot.age == self.retry_ticks {
                self.late |= 1 << s;
            }
        }
    }

    /// Moves the arrived flit to its place in the FIFO.
    fn take(&mut self, s: usize, events: &mut Events) -> (u32, KvFlit) {
        events.count(Event::Flit);
        let (flit, _) = self.arrived.expect("a slot waits for the flit that has arrived");
        let slot = &mut self.slots[s];
        let place = slot.place;
        let (tag, mask) = (slot.command.tag, slot.command.mask);
        slot.next += 1;
        slot.place = self.fifo.next(place);
        slot.age = 0;
        events.reach_if(self.late >> s & 1 == 1, Rare::LateFlit);
        self.late &= !(1 << s);
        if flit.index == slot.command.last {
            self.busy &= !(1 << s);
            let range = (slot.command.first, slot.command.last);
            if let Some(history) = &mut self.history {
                history.note(tag, slot.generation, range);
            }
        }
        (place, KvFlit { tag, index: flit.index, mask, data: flit.data })
    }

    /// Accepts a command. Returns the number of places it reserves.
    fn accept(&mut self, command: &Command, answer: Answer, events: &mut Events) -> u32 {
        match answer {
            Answer::Join(s) => {
                events.count(Event::Join);
                self.slots[s].command.mask |= command.mask;
                0
            }
            Answer::Open(s, generation) => {
                events.count(Event::Fetch);
                let (next, place) = (command.first, self.fifo.place());
                self.slots[s] = Slot { command: *command, generation, next, place, age: 0 };
                self.busy |= 1 << s;
                command.last - command.first + 1
            }
        }
    }
}
