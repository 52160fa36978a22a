//! What a tile fetches, chunk by chunk (`meshkv_prefetcher`).

use super::super::decisions::{k_then_v, Progress};
use super::super::parts::Fifo;
use super::super::tile_shape::{up_to, TileShape};
use crate::design::depths::ASK_DEPTH;
use crate::model::cycle::messages::Command;

/// What the column controller asks of a tile, and what computes is told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ask {
    /// Partial results are due.
    pub close: bool,
    /// The slice.
    pub tag: u64,
    /// Where its home is now.
    pub home: (u32, u32),
    /// Heads of the tile that want it.
    pub mask: u64,
    /// First and last flit of K that are wanted.
    pub flits: (u32, u32),
    /// First stream that attends.
    pub stream: u32,
    /// How many.
    pub streams: u32,
    /// First and last token.
    pub rows: (u32, u32),
    /// Mapping, as a descriptor numbers it.
    pub mapping: u32,
    /// Rows from the home up to this one, round the column.
    pub lag: u32,
}

/// The slice at the front, and how far it has got.
#[derive(Debug, Clone)]
pub struct Prefetcher {
    asks: Fifo<Ask>,
    told: bool,
    /// Its first fetch is out; some of it has come; all of it is asked for.
    asked: bool,
    opened: bool,
    all: bool,
    /// V is asked for, no more K.
    value: bool,
    /// Next flit, once some of this half are asked for.
    next: Option<u32>,
    chunk_flits: u32,
    half_flits: u32,
    head_dim: u32,
}

impl Prefetcher {
    /// One that has been asked for nothing.
    pub fn new(shape: &TileShape) -> Prefetcher {
        Prefetcher {
            asks: Fifo::new(ASK_DEPTH),
            told: false,
            asked: false,
            opened: false,
            all: false,
            value: false,
            next: None,
            chunk_flits: shape.mare.chunk_flits,
            half_flits: shape.mare.half_flits,
            head_dim: shape.head_dim,
        }
    }

    /// There is room for another slice.
    pub fn has_room(&self) -> bool {
        self.asks.has_room()
    }

    /// What computes is told.
    pub fn job(&self) -> Option<&Ask> {
        self.asks.front().filter(|_| !self.told)
    }

    /// The slice whose first chunk would be asked for next, if nothing of its tag is on its way.
    pub fn opens(&self) -> Option<u64> {
        self.asks.front().filter(|ask| !ask.close && !self.all && !self.asked).map(|ask| ask.tag)
    }

    /// The command for the requester; `tag_busy` says whether a range of that slice is on its way.
    pub fn command(&self, tag_busy: bool) -> Option<Command> {
        let ask = self.asks.front().filter(|ask| !ask.close && !self.all)?;
        // After the first chunk the others wait until it begins to come: then the slice stays there.
        if !(if self.asked { self.opened } else { !tag_busy }) {
            return None;
        }
        let (next, last, _) = self.chunk(ask);
        let half = if self.value { self.half_flits } else { 0 };
        let (x, y) = ask.home;
        let (first, last, patient) = (next + half, last + half, !self.asked);
        Some(Command { tag: ask.tag, x, y, mask: ask.mask, first, last, patient })
    }

    /// First and last flit of the next chunk in its half, and whether it is the last of that.
    fn chunk(&self, ask: &Ask) -> (u32, u32, bool) {
        // V lies in blocks of a flit for each dim, of which all are needed for any of their tokens.
        let (first, last) = match self.value {
            true => (ask.flits.0 & !(self.head_dim - 1), ask.flits.1 | (self.head_dim - 1)),
            false => ask.flits,
        };
        let next = self.next.unwrap_or(first);
        let (last, ends) = up_to(next, last, self.chunk_flits);
        (next, last, ends)
    }

    /// Passes a period: `accepted` if the requester took the command, `told` if computes took the job; `came`
    /// is the tag of a flit that has come.
    pub fn step(&mut self, asked: Option<Ask>, accepted: bool, told: bool, came: Option<u64>) {
        if let Some(ask) = self.asks.front().copied() {
            self.go_on(&ask, accepted, told, came);
        }
        if let Some(ask) = asked {
            self.asks.push(ask);
        }
    }

    fn go_on(&mut self, ask: &Ask, accepted: bool, told: bool, came: Option<u64>) {
        let (_, last, ends) = self.chunk(ask);
        self.told |= told;
        self.opened |= self.asked && came == Some(ask.tag);
        let progress = Progress { begun: self.next.is_some(), value: self.value };
        let asked = k_then_v(progress, accepted.then_some(ends), self.told, ask.close || self.all);
        if accepted {
            self.asked = true;
            self.next = Some(last + 1);
        }
        self.all |= asked.last;
        self.value = asked.progress.value;
        self.next = self.next.filter(|_| asked.progress.begun);
        if asked.done {
            (self.told, self.asked, self.opened, self.all) = (false, false, false, false);
            self.asks.pop();
        }
    }
}
