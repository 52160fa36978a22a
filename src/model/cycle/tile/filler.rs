//! What fills a home's staging memory (`meshkv_filler`).

use super::super::decisions::{credit_gauge, k_then_v, Progress};
use super::super::home::Claim;
use super::super::parts::{lowest_free, Fifo};
use super::super::tile_shape::{low_bits, up_to, TileShape};
use super::super::transport::{Event, Events};
use crate::design::depths::{FILL_DEPTH, REQ_DEPTH, TIMEOUT_WIDTH};
use crate::model::cycle::messages::Staged;

/// A slice that is to be filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fill {
    /// Which.
    pub tag: u64,
    /// First and last flit of K that are wanted.
    pub flits: (u32, u32),
    /// Its number in external memory.
    pub number: u64,
    /// Tiles that will ask for it.
    pub expected: u32,
}

/// A burst that is asked of the memory port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Burst {
    /// Its name.
    pub id: u32,
    /// The slice's number in external memory.
    pub number: u64,
    /// First flit of the slice that is read.
    pub first: u32,
    /// Flits less one.
    pub len: u32,
}

/// A flit that the memory port has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answer {
    /// Name of its burst.
    pub id: u32,
    /// The last of it.
    pub last: bool,
    /// The memory reports an error.
    pub bad: bool,
    /// Its payload.
    pub data: u64,
}

/// A slot of the staging memory, and a burst under way.
#[derive(Debug, Clone, Copy, Default)]
struct UnderWay {
    slot: u32,
    /// Where its next flit goes.
    place: u32,
}

/// Slices to be filled, and the bursts of them.
#[derive(Debug, Clone)]
pub struct Filler {
    fills: Fifo<Fill>,
    /// Slots that are free, and that are being filled, and whose bursts have all been asked for.
    free: u64,
    filling: u64,
    issued: u64,
    /// Bursts under way, by slot.
    left: Box<[u32]>,
    /// The slot of the slice at the front.
    slot: Option<u32>,
    /// V is asked for, no more K.
    value: bool,
    /// Next flit, once some of this half are asked for.
    next: Option<u32>,
    used: u64,
    bursts: Box<[UnderWay]>,
    credits: u32,
    request: Option<Burst>,
    answer: Option<Answer>,
    patience: u64,
    bad: bool,
    broken: bool,
    burst_flits: u32,
    half_flits: u32,
    slice_flits: u32,
    head_dim: u32,
}

impl Filler {
    /// One with all slots free.
    pub fn new(shape: &TileShape) -> Filler {
        let slots = shape.mare.staging_slots;
        Filler {
            fills: Fifo::new(FILL_DEPTH),
            free: low_bits(slots),
            filling: 0,
            issued: 0,
            left: vec![0; slots as usize].into_boxed_slice(),
            slot: None,
            value: false,
            next: None,
            used: 0,
            bursts: vec![UnderWay::default(); shape.bursts as usize].into_boxed_slice(),
            credits: REQ_DEPTH,
            request: None,
            answer: None,
            patience: 0,
            bad: false,
            broken: false,
            burst_flits: shape.burst_flits,
            half_flits: shape.mare.half_flits,
            slice_flits: shape.mare.slice_flits,
            head_dim: shape.head_dim,
        }
    }

    /// There is room for another slice.
    pub fn has_room(&self) -> bool {
        self.fills.has_room()
    }

    /// What the memory port sees: a register.
    pub fn request(&self) -> Option<&Burst> {
        self.request.as_ref()
    }

    /// An answer of the memory was an error.
    pub fn error_memory(&self) -> bool {
        self.bad
    }

    /// The memory did not answer in time.
    pub fn error_timeout(&self) -> bool {
        self.broken
    }

    /// The slice that waits for a slot, and so for one of the same tag to lose its own.
    pub fn waits_for_slot(&self) -> Option<u64> {
        self.fills.front().filter(|_| self.slot.is_none()).map(|fill| fill.tag)
    }

    /// What the home is told in this period; `known` says whether a slice of the tag that waits has a slot.
    pub fn staged(&self, known: bool) -> Staged {
        Staged {
            fill: self.comes().map(|answer| (self.bursts[answer.id as usize].place, answer.data)),
            claim: self.claim(known),
            publish: self.publish(),
        }
    }

    fn claim(&self, known: bool) -> Option<Claim> {
        let fill = self.fills.front().filter(|_| self.slot.is_none() && self.free != 0 && !known)?;
        let last = (fill.flits.1 | (self.head_dim - 1)) + self.half_flits;
        Some(Claim { slot: self.free.trailing_zeros(), tag: fill.tag, last, expected: fill.expected })
    }

    /// The answer that is written. After a time-out none is.
    fn comes(&self) -> Option<&Answer> {
        self.answer.as_ref().filter(|_| !self.broken)
    }

    /// A slice is whole when all of its bursts have been asked for and none is left under way.
    fn publish(&self) -> Option<u32> {
        if self.broken {
            // Nothing is awaited any more: what is claimed is given out as it is.
            return (self.slot.is_none() && self.filling != 0).then(|| self.filling.trailing_zeros());
        }
        let slot = self.comes().filter(|answer| answer.last).map(|a| self.bursts[a.id as usize].slot)?;
        let whole = self.issued >> slot & 1 == 1 && self.left[slot as usize] == 1;
        (whole && !(self.slot == Some(slot) && self.sends().is_some())).then_some(slot)
    }

    /// The name of the burst that is asked for in this period.
    fn sends(&self) -> Option<u32> {
        let may = self.slot.is_some() && self.credits > 0 && !self.broken;
        lowest_free(self.used, self.bursts.len() as u32).filter(|_| may)
    }

    /// Passes a period in which the home was told `staged`; `freed` is a slot that has come free.
    pub fn step(
        &mut self,
        (fill, staged, freed): (Option<Fill>, &Staged, Option<u32>),
        answer: Option<Answer>,
        credit: bool,
        events: &mut Events,
    ) {
        let (sends, idle) = (self.sends(), self.used == 0);
        let waits = self.waits_for_slot().is_some() && staged.claim.is_none();
        events.count_if(waits, Event::FillWaits);
        events.count_if(staged.fill.is_some(), Event::Fill);
        events.count_if(staged.publish.is_some(), Event::Slice);
        self.request = None;
        let came = self.comes().copied();
        let gone = self.broken && self.slot.is_some();
        let publishes = staged.publish;
        if let Some(answer) = &came {
            self.take(answer);
        }
        let done = sends.is_some_and(|id| self.ask(id)) || gone;
        (_, self.credits) = credit_gauge(self.credits, sends.is_some(), credit);
        if done {
            (self.slot, self.value, self.next) = (None, false, None);
            self.fills.pop();
        }
        self.filling &= !publishes.map_or(0, |slot| 1 << slot);
        self.free |= freed.map_or(0, |slot| 1 << slot);
        if let Some(claim) = &staged.claim {
            self.slot = Some(claim.slot);
            self.filling |= 1 << claim.slot;
            self.free &= !(1 << claim.slot);
            self.issued &= !(1 << claim.slot);
        }
        if let Some(fill) = fill {
            self.fills.push(fill);
        }
        self.wait(idle, came.is_some());
        self.answer = answer;
    }

    /// Writes a flit that has come.
    fn take(&mut self, answer: &Answer) {
        let burst = &mut self.bursts[answer.id as usize];
        burst.place += 1;
        self.bad |= answer.bad;
        if answer.last {
            self.left[burst.slot as usize] -= 1;
            self.used &= !(1 << answer.id);
        }
    }

    /// Asks for the next burst of the slice at the front, under this name; true if it was its last.
    fn ask(&mut self, id: u32) -> bool {
        let fill = *self.fills.front().expect("a slice that has a slot stands at the front");
        let slot = self.slot.expect("it has a slot");
        let (first, last) = match self.value {
            true => (fill.flits.0 & !(self.head_dim - 1), fill.flits.1 | (self.head_dim - 1)),
            false => fill.flits,
        };
        let next = self.next.unwrap_or(first);
        let (finish, ends) = up_to(next, last, self.burst_flits);
        let from = if self.value { next + self.half_flits } else { next };
        self.request = Some(Burst { id, number: fill.number, first: from, len: finish - next });
        self.bursts[id as usize] = UnderWay { slot, place: slot * self.slice_flits + from };
        self.used |= 1 << id;
        self.left[slot as usize] += 1;
        let progress = Progress { begun: self.next.is_some(), value: self.value };
        let asked = k_then_v(progress, Some(ends), true, false);
        self.next = asked.progress.begun.then_some(finish + 1);
        self.issued |= u64::from(asked.last) << slot;
        self.value = asked.progress.value;
        asked.done
    }

    /// Nothing is awaited for ever.
    fn wait(&mut self, idle: bool, came: bool) {
        self.broken |= self.patience == low_bits(TIMEOUT_WIDTH);
        self.patience = if idle || came { 0 } else { (self.patience + 1) & low_bits(TIMEOUT_WIDTH) };
    }
}
