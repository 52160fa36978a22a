//! Reduce inlet: buffers flits of partial results and passes their numbers on, l alone, then several of o a cycle,
//! one packet at a time (`meshkv_reduce_inlet`).

use crate::model::cycle::common::{after, bits, in_turn, Fifo};
use crate::model::cycle::mare::RootFlit;

/// Numbers of a packet that leave in the same cycle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Beat {
    /// It is l.
    pub first: bool,
    /// They are the last of o.
    pub last: bool,
}

/// Buffered flits by source, the next packet's first flit, and the packet being read.
#[derive(Debug, Clone)]
pub struct ReduceInlet {
    /// First flits of packets, and the number of other flits, by source.
    headers: Box<[Fifo<RootFlit>]>,
    held: Box<[u32]>,
    /// Beats of a packet, and of a flit.
    beats: u32,
    flit_beats: u32,
    /// Source whose turn it is, and the round-robin mask of those after it.
    turn: usize,
    later: u64,
    picked: bool,
    header: Option<RootFlit>,
    /// Source being read, and the next beat, while there is one.
    source: usize,
    beat: Option<u32>,
    out: Option<Beat>,
    credit: u32,
}

impl ReduceInlet {
    /// Creates an inlet with `sources` buffers of `depth` flits. A packet has `beats` beats of o, a flit
    /// `flit_beats`.
    pub fn new(sources: u32, depth: u32, beats: u32, flit_beats: u32) -> ReduceInlet {
        ReduceInlet {
            headers: (0..sources).map(|_| Fifo::new(depth)).collect(),
            held: vec![0; sources as usize].into(),
            beats,
            flit_beats,
            turn: 0,
            later: after(0),
            picked: false,
            header: None,
            source: 0,
            beat: None,
            out: None,
            credit: 0,
        }
    }

    /// First flit of the next packet.
    pub fn header(&self) -> Option<&RootFlit> {
        self.header.as_ref()
    }

    /// Numbers of a packet are still to leave, but for those at the output.
    pub fn is_busy(&self) -> bool {
        self.beat.is_some()
    }

    /// Numbers at the output: a register.
    pub fn beat(&self) -> Option<Beat> {
        self.out
    }

    /// Freed slots, a bit a source: a register.
    pub fn credit(&self) -> u32 {
        self.credit
    }

    /// The inlet holds no flit and returns no credit.
    pub fn is_still(&self) -> bool {
        let rests = !self.picked && self.header.is_none() && self.beat.is_none() && self.out.is_none();
        rests && self.credit == 0 && self.headers.iter().all(Fifo::is_empty)
    }

    /// Advances one cycle. `starts`: the numbers of the next packet follow.
    pub fn step(&mut self, flit: Option<&RootFlit>, starts: bool) {
        let waits = self.headers.iter().enumerate();
        let waits = waits.fold(0, |all, (s, of)| all | u64::from(!of.is_empty()) << s);
        let picks = !self.picked && self.header.is_none();
        self.credit = 0;
        self.out = None;
        self.load();
        if starts {
            self.out = Some(Beat { first: true, last: false });
            (self.source, self.beat, self.header) = (self.turn, Some(0), None);
            self.credit |= 1 << self.turn;
        }
        if std::mem::take(&mut self.picked) {
            self.header = self.headers[self.turn].front().copied();
            self.headers[self.turn].pop();
        }
        if let Some(source) = in_turn(waits, self.later).filter(|_| picks) {
            (self.turn, self.later, self.picked) = (source as usize, after(source), true);
        }
        if let Some(flit) = flit {
            bits(u64::from(flit.valid)).for_each(|source| {
                if flit.part.first {
                    self.headers[source].push(*flit);
                } else {
                    self.held[source] += 1;
                }
            });
        }
    }

    /// Passes a beat on, if its flit is there.
    fn load(&mut self) {
        let Some(beat) = self.beat.filter(|_| self.held[self.source] > 0) else { return };
        let last = beat + 1 == self.beats;
        self.out = Some(Beat { first: false, last });
        self.beat = (!last).then_some(beat + 1);
        if (beat + 1).is_multiple_of(self.flit_beats) {
            self.held[self.source] -= 1;
            self.credit = 1 << self.source;
        }
    }
}
