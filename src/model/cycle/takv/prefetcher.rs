//! Prefetcher: fetches a tile's slices chunk by chunk (`meshkv_prefetcher`).

use crate::design::depths::ASK_DEPTH;
use crate::design::Mapping;
use crate::kernels::takv::k_then_v::{self, Progress, Region};
use crate::model::cycle::common::Fifo;
use crate::model::cycle::mare::{up_to, Command, MareParams};
use crate::model::cycle::takv::ranges::Ranges;

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
    /// The range that is requested.
    region: Region,
    /// Next flit, once part of this range is requested.
    next: Option<u32>,
    chunk_flits: u32,
    ranges: Ranges,
}

impl Prefetcher {
    /// Creates an idle prefetcher.
    pub fn new(params: &MareParams) -> Prefetcher {
        let ranges = Ranges::new(&params.mare, params.head_dim);
        Prefetcher {
            asks: Fifo::new(ASK_DEPTH),
            told: false,
            asked: false,
            opened: false,
            all: false,
            clear: false,
            region: ranges.first(),
            next: None,
            chunk_flits: params.mare.chunk_flits,
            ranges,
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
        let (first, last, _) = self.chunk(ask);
        let ((x, y), patient) = (ask.home, !self.asked);
        Some(Command { tag: ask.tag, x, y, mask: ask.mask, first, last, patient })
    }

    /// Returns the first and last flit of the next chunk, and whether it ends its range.
    fn chunk(&self, ask: &Ask) -> (u32, u32, bool) {
        let (first, last) = self.ranges.of(self.region, ask.flits);
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
        let progress = Progress { begun: self.next.is_some(), region: self.region };
        let (asks, skips) = (accepted.then_some(ends), ask.close || self.all);
        let asked = k_then_v::rule(self.ranges.first(), progress, asks, self.told, skips);
        if accepted {
            self.asked = true;
            self.next = Some(last + 1);
        }
        self.all |= asked.last;
        self.region = asked.progress.region;
        self.next = self.next.filter(|_| asked.progress.begun);
        if asked.done {
            (self.told, self.asked, self.opened, self.all) = (false, false, false, false);
            self.clear = false;
            self.asks.pop();
        }
    }
}
