//! Sequencer of jobs (`meshkv_pad`): a slice, K and then V, block by block; or the results of some contexts.

mod flit;

pub use flit::Now;

use super::contexts::{Context, Contexts};
use super::event_counters::Happens;
use super::rows::Rows;
use super::weight_loader::{Tokens, WeightLoader, WeightLoaderIn};
use crate::design::{Array, Design, SUMS_READ};
use crate::kernels::pad::read_state::{self, Events, State};
use crate::model::cycle::mare::{KvFlit, PartFlit};
use crate::model::cycle::reduce::Pair;
use crate::model::cycle::takv::Ask;
use flit::SliceLayout;
use std::collections::VecDeque;

/// Cycles until the last sums of a slice are written.
const SETTLE_CYCLES: u32 = 8;

/// State of the job, the array and its weights.
#[derive(Debug, Clone)]
pub struct Sequencer {
    layout: SliceLayout,
    /// A slice passes.
    run: bool,
    rows: Rows,
    loader: WeightLoader,
    /// Cycles until the last word of a query can be used, and those of a word that has just come.
    fresh: u32,
    fresh_cycles: u32,
    /// Contexts of the job in each row, and passes of a flit of K and of V.
    counts: Box<[u32]>,
    passes: [u32; 2],
    /// Widths of the stationary numbers of each KV head, as the last words with scales told: those of queries are narrow,
    /// those of weights are.
    narrow: Box<[(bool, bool)]>,
    of_job: (bool, bool),
    array: Array,
    /// Contexts of the job.
    places: Vec<Context>,
    /// Contexts whose results are due, the one being read first, and the state of that.
    due: VecDeque<Context>,
    reading: State,
    tick: u32,
    /// The cycle is for a result, not for a flit.
    turn: bool,
    tokens: Tokens,
    layer: u32,
    others: u32,
    /// The contexts of the first pass are found, in the cycle after the job's start.
    found: bool,
    /// Passes of the present flit, its token, and whether the flit of ones is due.
    pass: u32,
    sub: u32,
    ones: bool,
    block: u32,
    /// Pairs of sums requested and received, and the number of the last one of a context.
    read: u32,
    got: u32,
    last_pair: u32,
    /// Cycles since the last pass.
    rested: u32,
    rest_cycles: u32,
    overlap: bool,
    lanes: u32,
}

/// Command of the tile to its PaD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PadCommand {
    /// Four elements of a query.
    #[default]
    Query,
    /// The scales of a head, by its place in the column; they tell the widths of its KV head.
    Scales(u32, (bool, bool)),
    /// The sink of a head, which is its root's.
    Sink,
    /// A slice, or results that are due.
    Job(Ask),
}

/// Output of the sequencer in a cycle.
#[derive(Debug, Clone, Copy, Default)]
pub struct SequencerOut {
    /// The command was taken.
    pub takes: bool,
    /// Pair of numbers of a partial result.
    pub pair: Option<Pair>,
}

impl Sequencer {
    /// Creates an idle sequencer.
    pub fn new(design: &Design, contexts: &Contexts) -> Sequencer {
        let array = Array::of(design);
        Sequencer {
            layout: SliceLayout::of(design, array.lanes),
            run: false,
            rows: Rows::new(&array),
            loader: WeightLoader::new(&array),
            fresh: 0,
            fresh_cycles: array.fresh_cycles(design.pe.head_dim),
            counts: vec![0; array.rows as usize].into(),
            passes: [1; 2],
            narrow: vec![(false, false); design.model.kv_heads as usize].into(),
            of_job: (false, false),
            places: Vec::with_capacity(contexts.len()),
            due: VecDeque::with_capacity(contexts.len()),
            reading: State::None,
            tick: 0,
            turn: false,
            tokens: Tokens::default(),
            layer: 0,
            others: 0,
            found: true,
            pass: 0,
            sub: 0,
            ones: false,
            block: 0,
            read: 0,
            got: 0,
            last_pair: design.pe.head_dim / SUMS_READ,
            rested: 0,
            rest_cycles: array.rest_cycles() + array.rows,
            overlap: design.pe.overlap,
            lanes: array.lanes,
            array,
        }
    }

    /// Passes of a flit of this kind.
    fn most(&self, now: &Now) -> u32 {
        self.passes[usize::from(now.is_of_v())]
    }

    /// Computes what this cycle does with the present flit.
    pub fn look(&self, flit: Option<&KvFlit>) -> Now {
        let index = flit.map_or(0, |flit| flit.index);
        let mut now =
            Now { flit: flit.is_some(), value: index >= self.layout.value_base, index, ..Now::default() };
        if !self.run {
            return now;
        }
        let open = self.found && !self.ones && now.flit && !self.turn;
        let scales = self.layout.has_scales(index);
        now.ones = self.ones && !self.turn;
        now.k = open && !now.value && !scales && self.fresh == 0;
        now.v = open && now.value && self.loader.is_ready();
        now.last_pass = self.pass + 1 >= self.most(&now);
        let last_sub = self.sub + 1 == 1 << self.layout.subs_log;
        now.accepts = now.last_pass && (now.v || now.k && last_sub) || now.flit && scales;
        now
    }

    /// Nothing happens before another flit arrives; used where stages do not overlap.
    pub fn is_idle(&self, now: &Now) -> bool {
        self.has_rested() && !now.flit && !self.ones && self.loader.is_at_rest()
    }

    /// Nothing changes before an input arrives.
    pub fn is_still(&self) -> bool {
        !self.run
            && self.reading == State::None
            && self.fresh == 0
            && self.has_rested()
            && self.loader.is_still()
            && self.rows.is_still()
    }

    /// Activity of the stages, a bit each: K passes, V or ones pass, a flit waits, weights are loaded,
    /// results are read.
    pub fn state(&self, now: &Now) -> u32 {
        let reads = matches!(self.reading, State::Read | State::Wait);
        let bits = [now.k, now.v || now.ones, now.flit, self.loader.is_loading(), reads];
        bits.iter().rev().fold(0, |all, &bit| all << 1 | u32::from(bit))
    }

    /// Events of this cycle, with a bit for each row that passes. `room`: there is room for the pair requested now.
    pub fn happens(&self, now: &Now, room: bool) -> (Happens, u32) {
        let due = self.run && !self.ones;
        let happens = Happens {
            accepts: now.accepts,
            k: now.k,
            v: now.v,
            ones: now.ones,
            flit: now.flit,
            starves: due && !now.flit,
            awaits: due && now.flit && now.value && !self.loader.is_ready(),
            reads: self.turn && room,
        };
        let mut passing = 0;
        if now.passes() {
            passing = self.passing(now);
        }
        (happens, passing)
    }

    /// Rows that have a context in this pass, a bit each.
    fn passing(&self, now: &Now) -> u32 {
        let (narrow_k, narrow_v) = self.of_job;
        let alone = self.array.is_packed() && !if now.is_of_v() { narrow_v } else { narrow_k };
        let row = |(r, &count): (usize, &u32)| {
            let before = if alone && r % 2 == 1 { self.counts[r - 1] } else { 0 };
            u32::from((before..before + count).contains(&self.pass)) << r
        };
        self.counts.iter().enumerate().map(row).sum()
    }

    fn has_rested(&self) -> bool {
        self.rested == self.rest_cycles && self.reading == State::None
    }

    /// Advances one cycle. `room`: there is room for the pair requested now.
    pub fn step(
        &mut self,
        now: &Now,
        command: Option<&PadCommand>,
        room: bool,
        contexts: &Contexts,
    ) -> SequencerOut {
        let (mut starts, mut out) = (None, SequencerOut::default());
        if !self.run {
            let free = |ask: &Ask| !ask.close || self.reading == State::None;
            match command {
                Some(PadCommand::Query | PadCommand::Sink) => out.takes = true,
                Some(&PadCommand::Scales(head, narrow)) => {
                    out.takes = true;
                    self.narrow[contexts.kv_head(head) as usize] = narrow;
                }
                Some(PadCommand::Job(ask)) if (self.overlap || self.has_rested()) && free(ask) => {
                    (out.takes, starts) = (true, Some(ask));
                }
                _ => {}
            }
        }
        self.fresh =
            if out.takes && starts.is_none() { self.fresh_cycles } else { self.fresh.saturating_sub(1) };
        let sum = self.rows.sum_comes();
        out.pair = sum.then(|| Pair { first: self.got == 0, of: self.result() });
        let reads = self.turn && room;
        let finishes = now.finishes();
        let slice = starts.filter(|ask| !ask.close);
        self.loader.step(&WeightLoaderIn {
            done: self.rows.done(),
            finishes,
            starts: slice.map(|ask| Tokens { first: ask.rows.0, last: ask.rows.1 }),
            contexts: self.passes[1],
        });
        let row = self.due.front().map_or(0, |of| of.row);
        self.rows.step(self.tail(now), reads.then_some(row));
        self.rested = if now.passes() { 0 } else { (self.rested + 1).min(self.rest_cycles) };
        self.found |= !self.places.iter().any(|of| self.due.contains(of));
        self.turns(now, reads);
        self.advance(finishes, reads, sum, starts.is_some_and(|ask| ask.close));
        self.pass(now);
        if let Some(ask) = starts {
            self.begin(ask, contexts);
        }
        out
    }

    /// Token whose last operation is sent.
    fn tail(&self, now: &Now) -> Option<u32> {
        let ends = now.k && now.last_pass && self.layout.ends_token(now.index);
        ends.then(|| self.layout.token(now.index, self.sub))
    }

    /// Header of the packet of the results being read.
    fn result(&self) -> PartFlit {
        let of = self.due.front().copied().unwrap_or_default();
        let Context { stream, head, .. } = of;
        PartFlit { others: self.others, layer: self.layer, stream, head, ..PartFlit::default() }
    }

    /// Decides whether the next cycle is for a result: if no flit waits, and in every other one else. A packet must not
    /// take long: the root waits for it.
    fn turns(&mut self, now: &Now, reads: bool) {
        let ends = reads && self.read == self.last_pair;
        let free = !self.run || !now.flit || self.tick % 2 == 1;
        self.turn = self.reading == State::Read && !ends && free;
    }

    /// Advances the state, and the results in flight. `closes`: a job begins that reads results.
    fn advance(&mut self, finishes: bool, reads: bool, sum: bool, closes: bool) {
        let (last_read, got_all) = (self.read == self.last_pair, sum && self.got == self.last_pair);
        if sum {
            self.got = if got_all { 0 } else { self.got + 1 };
        }
        if reads {
            self.read = if last_read { 0 } else { self.read + 1 };
        }
        if self.run && finishes && self.block == self.tokens.last / self.lanes {
            self.run = false;
        }
        let events = Events {
            closes,
            settled: self.tick == SETTLE_CYCLES - 1,
            some_due: !self.due.is_empty(),
            read_all: reads && last_read,
            got_all,
            some_left: self.due.len() > 1,
        };
        if self.reading == State::Wait && got_all {
            self.due.pop_front();
        }
        self.reading = read_state::rule(self.reading, &events);
        self.tick = (self.tick + 1) % SETTLE_CYCLES;
    }

    /// Counts a pass of the present flit.
    fn pass(&mut self, now: &Now) {
        if !now.passes() {
            return;
        }
        self.pass = if now.last_pass { 0 } else { self.pass + 1 };
        if !now.last_pass {
            return;
        }
        if now.k {
            self.sub = (self.sub + 1) & ((1 << self.layout.subs_log) - 1);
        }
        if now.v && (now.index - self.layout.value_base) % self.layout.head_dim + 1 == self.layout.head_dim {
            self.ones = true;
        }
        if now.ones {
            self.ones = false;
            self.block += 1;
        }
    }

    /// Begins a job.
    fn begin(&mut self, ask: &Ask, contexts: &Contexts) {
        self.counts.fill(0);
        self.places.clear();
        for of in contexts.wanted(ask) {
            self.counts[of.row as usize] += 1;
            self.places.push(of);
        }
        if !ask.close {
            self.of_job = self.narrow[contexts.kv_head_of(ask) as usize];
        }
        let (keys, values) = self.of_job;
        self.passes = [keys, values].map(|narrow| self.array.passes(&self.counts, narrow).max(1));
        self.tokens = Tokens { first: ask.rows.0, last: ask.rows.1 };
        self.block = ask.rows.0 / self.lanes;
        self.found = false;
        self.run = !ask.close;
        if ask.close {
            self.layer = (ask.tag >> self.layout.layer_offset & self.layout.layer_mask) as u32;
            // A close has no home: its word says how many there are.
            self.others = ask.lag;
            self.due.extend(&self.places);
            self.tick = 0;
        }
    }
}
