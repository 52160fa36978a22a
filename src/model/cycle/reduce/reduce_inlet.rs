//! Reduce inlet: buffers flits of partial results and passes their numbers on, one a cycle and one packet at
//! a time (`meshkv_reduce_inlet`).

use crate::model::cycle::common::{after, bits, in_turn, Fifo};
use crate::model::cycle::mare::RootFlit;

/// Buffered flits by source, and the packet being read.
#[derive(Debug, Clone)]
pub struct ReduceInlet {
    sources: Box<[Fifo<RootFlit>]>,
    head_dim: u32,
    flit_words: u32,
    /// Source being read, and the round-robin mask of those after it.
    source: usize,
    later: u64,
    busy: bool,
    /// Next number to be read, and its place in its flit.
    index: u32,
    lane: u32,
    out: Option<u32>,
    of: RootFlit,
    credit: u32,
}

impl ReduceInlet {
    /// Creates an inlet with `sources` buffers of `depth` flits.
    pub fn new(sources: u32, depth: u32, head_dim: u32, flit_width: u32) -> ReduceInlet {
        ReduceInlet {
            sources: (0..sources).map(|_| Fifo::new(depth)).collect(),
            head_dim,
            flit_words: flit_width / 32,
            source: 0,
            later: after(0),
            busy: false,
            index: 0,
            lane: 0,
            out: None,
            of: RootFlit::default(),
            credit: 0,
        }
    }

    /// Position of the next number in its packet, l before o.
    pub fn number(&self) -> Option<u32> {
        self.out
    }

    /// First flit of the number's packet.
    pub fn of(&self) -> &RootFlit {
        &self.of
    }

    /// Freed slots, a bit a source: a register.
    pub fn credit(&self) -> u32 {
        self.credit
    }

    /// The inlet holds no flit and returns no credit.
    pub fn is_still(&self) -> bool {
        !self.busy && self.out.is_none() && self.credit == 0 && self.sources.iter().all(Fifo::is_empty)
    }

    /// Advances one cycle.
    pub fn step(&mut self, flit: Option<&RootFlit>, takes: bool) {
        let waits = self.sources.iter().enumerate();
        let waits = waits.fold(0, |all, (s, of)| all | u64::from(!of.is_empty()) << s);
        let free = self.out.is_none() || takes;
        self.credit = 0;
        if takes {
            self.out = None;
        }
        if !self.busy {
            if let Some(source) = in_turn(waits, self.later) {
                (self.source, self.later, self.busy) = (source as usize, after(source), true);
                // l is next to m.
                (self.index, self.lane) = (0, 1);
            }
        } else if free && waits >> self.source & 1 == 1 {
            self.load();
        }
        if let Some(flit) = flit {
            bits(u64::from(flit.valid)).for_each(|source| self.sources[source].push(*flit));
        }
    }

    fn load(&mut self) {
        let (opens, ends) = (self.index == 0, self.index == self.head_dim);
        let flits = &mut self.sources[self.source];
        if opens {
            self.of = flits.front().copied().unwrap_or_default();
        }
        self.out = Some(self.index);
        self.index += 1;
        self.lane += 1;
        self.busy = !ends;
        if opens || ends || self.lane == self.flit_words {
            self.lane = 0;
            flits.pop();
            self.credit = 1 << self.source;
        }
    }
}
