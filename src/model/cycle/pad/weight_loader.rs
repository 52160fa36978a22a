//! Weight loader: makes the weights of a block stationary, one context of each row after the other. A block
//! starts once all its logits are present and one of two buffers is free.

use crate::design::Array;
use crate::kernels::pad::load_state::{self, Events, State};
use crate::model::cycle::common::DelayLine;

/// Token range of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// First token that counts.
    pub first: u32,
    /// Last token that counts.
    pub last: u32,
}

/// Inputs of the loader in a cycle.
#[derive(Debug, Clone, Copy, Default)]
pub struct WeightLoaderIn {
    /// Token whose weight has reached the scratchpad.
    pub done: Option<u32>,
    /// The last operation of a block passes.
    pub finishes: bool,
    /// Tokens of a slice that begins.
    pub starts: Option<Tokens>,
    /// Passes of a flit of V: contexts that are loaded one after the other.
    pub contexts: u32,
}

/// State of loading, and of the two buffers.
#[derive(Debug, Clone)]
pub struct WeightLoader {
    lanes: u32,
    /// Cycles from the load of the last context to its first use, and from the last use to the next load.
    load_cycles: u32,
    /// Cycles from the first use of a block's weights on until those of the next may be loaded.
    load_gap: u32,
    free_cycles: u32,
    state: State,
    /// Contexts that have not started, of those that follow one another.
    left: u32,
    count: u32,
    /// Buffers in use, and those whose weights are loaded.
    ahead: u32,
    ready: u32,
    /// Last token whose weight has arrived.
    seen: Option<u32>,
    block: u32,
    tokens: Tokens,
    freed: DelayLine,
}

impl WeightLoader {
    /// Creates an idle loader.
    pub fn new(array: &Array) -> WeightLoader {
        WeightLoader {
            lanes: array.lanes,
            load_cycles: array.load_cycles(),
            load_gap: array.load_gap(),
            free_cycles: array.free_cycles(),
            state: State::Idle,
            left: 0,
            count: 0,
            ahead: 0,
            ready: 0,
            seen: None,
            block: 0,
            tokens: Tokens::default(),
            freed: DelayLine::default(),
        }
    }

    /// A block's weights are loaded.
    pub fn is_ready(&self) -> bool {
        self.ready > 0
    }

    /// Weights are in flight.
    pub fn is_loading(&self) -> bool {
        matches!(self.state, State::Load | State::Rest)
    }

    /// Nothing happens before more logits arrive.
    pub fn is_at_rest(&self) -> bool {
        self.state == State::Idle || self.state == State::Wait && !self.begins()
    }

    /// The loader is idle and waits for nothing.
    pub fn is_still(&self) -> bool {
        self.state == State::Idle && self.freed.is_empty() && self.count == 0
    }

    fn is_last_block(&self) -> bool {
        self.block == self.tokens.last / self.lanes
    }

    fn begins(&self) -> bool {
        let end = self.block * self.lanes + self.lanes - 1;
        let target = if self.is_last_block() { self.tokens.last } else { end };
        self.state == State::Wait && self.seen.is_some_and(|token| token >= target) && self.ahead < 2
    }

    /// Advances one cycle.
    pub fn step(&mut self, input: &WeightLoaderIn) {
        let begins = self.begins();
        let loads = self.state == State::Load && self.count == 0;
        let over = self.state == State::Rest && self.count == 0;
        let frees = self.freed.comes();
        self.freed.step(input.finishes, self.free_cycles);
        self.seen = input.done.or(self.seen);
        self.ahead = self.ahead + u32::from(begins) - u32::from(frees);
        self.ready = self.ready + u32::from(over) - u32::from(input.finishes);
        self.count = self.count.saturating_sub(1);
        let last = loads && self.left == 1;
        let starts = input.starts.is_some();
        let events = Events { starts, begins, loads, last, over, ends: self.is_last_block() };
        self.state = load_state::rule(self.state, &events);
        if begins {
            self.left = input.contexts;
        }
        if loads {
            self.left -= 1;
            self.count = if last { self.load_cycles } else { self.lanes - 1 };
        }
        if over {
            self.count = self.load_gap;
            self.block += 1;
        }
        if let Some(tokens) = input.starts {
            (self.block, self.seen) = (tokens.first / self.lanes, None);
            self.tokens = tokens;
        }
    }
}
