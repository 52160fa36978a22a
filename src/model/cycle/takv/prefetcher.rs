//! Prefetcher: fetches a tile's slices chunk by chunk (`meshkv_prefetcher`).

use crate::design::depths::ASK_DEPTH;
use crate::design::Mapping;
use crate::kernels::takv::k_then_v::{self, Progress};
use crate::model::cycle::common::Fifo;
use crate::model::cycle::mare::{up_to, Command, MareParams};

/// Job of a tile, from the column controller: a slice to fetch and process, or results to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ask {
    /// Partial results are due.
    pub close: bool,
    /// Tag of the slice.
    pub tag: u64,
    /// Column and row of its home now.
    pub home: (u32, u32),
    /// Heads of the tile that need it.
    pub mask: u64,
    /// First and last flit of K that are needed.
    pub flits: (u32, u32),
    /// First stream that attends.
    pub stream: u32,
    /// Number of streams.
    pub streams: u32,
    /// First and last token.
    pub rows: (u32, u32),
    /// Mapping of heads to tiles.
    pub mapping: Mapping,
    /// Rows from the home up to this one, round the column.
    pub lag: u32,
}

/// Slice at the front, and its progress.
#[derive(Debug, Clone)]
pub struct Prefetcher {
    asks: Fifo<Ask>,
    told: bool,
    /// Its first fetch is sent; its first flit has arrived; all of it is requested.
    asked: bool,
    opened: bool,
    all: bool,
    /// No range of its tag was in progress in the last period.
    clear: bool,
    /// K is requested completely; V follows.
    value: bool,
    /// Next flit, once part of this half is requested.
    next: Option<u32>,
    chunk_flits: u32,
    half_flits: u32,
    head_dim: u32,
}

impl Prefetcher {
    /// Creates an idle prefetcher.
    pub fn new(params: &MareParams) -> Prefetcher {
        Prefetcher {
            asks: Fifo::new(ASK_DEPTH),
            told: false,
            asked: false,
            opened: false,
            all: false,
            clear: false,
            value: false,
            next: None,
            chunk_flits: params.mare.chunk_flits,
            half_flits: params.mare.half_flits,
            head_dim: params.head_dim,
        }
    }

    /// There is room for another slice.
    pub fn has_room(&self) -> bool {
        self.asks.has_room()
    }

    /// Job for the PaD.
    pub fn job(&self) -> Option<&Ask> {
        self.asks.front().filter(|_| !self.told)
    }

    /// Tag of the slice at the front.
    pub fn tag(&self) -> Option<u64> {
        self.asks.front().map(|ask| ask.tag)
    }

    /// Command for the requester.
    pub fn command(&self) -> Option<Command> {
        let ask = self.asks.front().filter(|ask| !ask.close && !self.all)?;
        // Chunks after the first wait for its first flit. From then on the home keeps the slice until this
        // tile has requested all of it.
        if !(if self.asked { self.opened } else { self.clear }) {
            return None;
        }
        let (next, last, _) = self.chunk(ask);
        let half = if self.value { self.half_flits } else { 0 };
        let (x, y) = ask.home;
        let (first, last, patient) = (next + half, last + half, !self.asked);
        Some(Command { tag: ask.tag, x, y, mask: ask.mask, first, last, patient })
    }

    /// Returns the first and last flit of the next chunk in its half, and whether it ends the half.
    fn chunk(&self, ask: &Ask) -> (u32, u32, bool) {
        // V lies in blocks of one flit per dim. Any token of a block needs all its flits.
        let (first, last) = match self.value {
            true => (ask.flits.0 & !(self.head_dim - 1), ask.flits.1 | (self.head_dim - 1)),
            false => ask.flits,
        };
        let next = self.next.unwrap_or(first);
        let (last, ends) = up_to(next, last, self.chunk_flits);
        (next, last, ends)
    }

    /// Advances one clock period. `accepted`: the requester took the command. `told`: the PaD took the job.
    /// `came` is the tag of an arrived flit. `tag_busy`: a range of the tag of the slice is in progress.
    pub fn step(
        &mut self,
        asked: Option<Ask>,
        accepted: bool,
        told: bool,
        came: Option<u64>,
        tag_busy: bool,
    ) {
        self.clear = !tag_busy && !self.asks.is_empty();
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
        let asked = k_then_v::rule(progress, accepted.then_some(ends), self.told, ask.close || self.all);
        if accepted {
            self.asked = true;
            self.next = Some(last + 1);
        }
        self.all |= asked.last;
        self.value = asked.progress.value;
        self.next = self.next.filter(|_| asked.progress.begun);
        if asked.done {
            (self.told, self.asked, self.opened, self.all) = (false, false, false, false);
            self.clear = false;
            self.asks.pop();
        }
    }
}
