//! Rows of the array (`meshkv_pad_row`), seen by the sequencer: the latency of ops and weights through them.

use crate::design::{Array, SECOND_SUM};
use crate::model::cycle::common::{DelayLine, Fifo, LONGEST};

/// Cycles from a READ's place in the order of dots to its sums.
const DOT_TO_SUM: u32 = 4 + SECOND_SUM;

/// Operations in flight.
#[derive(Debug, Clone)]
pub struct Rows {
    /// Rows or pairs of rows that an op passes.
    stages: u32,
    /// Rows that have an op in the same cycle.
    together: u32,
    /// Cycles from an op to its dot, the registers between the rows apart.
    to_dot: u32,
    /// Cycles from a token's dot to its weight in the scratchpad.
    to_weight: u32,
    tails: DelayLine,
    tokens: Fifo<u32>,
    sums: DelayLine,
}

impl Rows {
    /// Creates the rows of an idle array.
    pub fn new(array: &Array) -> Rows {
        Rows {
            stages: array.stages(),
            together: if array.is_packed() { 2 } else { 1 },
            to_dot: array.align_cycles() + array.dot_cycles(),
            to_weight: array.weight_cycles(),
            tails: DelayLine::default(),
            tokens: Fifo::new(LONGEST),
            sums: DelayLine::default(),
        }
    }

    /// Token whose last weight has reached the scratchpad of the last row.
    pub fn done(&self) -> Option<u32> {
        self.tokens.front().copied().filter(|_| self.tails.comes())
    }

    /// A requested sum arrives.
    pub fn sum_comes(&self) -> bool {
        self.sums.comes()
    }

    /// Nothing in flight returns.
    pub fn is_still(&self) -> bool {
        self.tails.is_empty() && self.sums.is_empty()
    }

    /// Advances one cycle. `tail`: the last operation of a token is sent. `read`: a sum is requested from a
    /// row.
    pub fn step(&mut self, tail: Option<u32>, read: Option<u32>) {
        if self.tails.comes() {
            self.tokens.pop();
        }
        self.tails.step(tail.is_some(), self.stages + self.to_dot + self.to_weight);
        self.sums.step(read.is_some(), read.unwrap_or(0) / self.together + self.to_dot + DOT_TO_SUM);
        if let Some(token) = tail {
            self.tokens.push(token);
        }
    }
}
