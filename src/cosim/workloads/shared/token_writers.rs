//! Writers of new tokens, played behind the memory ports of a fabric: they take words by credits and make whole tokens of
//! them.

use crate::cosim::dut::group_pins;
use crate::cosim::dut::pins::Pins;
use crate::cosim::memory::Memory;
use crate::design::{self, Append, Design};

group_pins! {
    /// Input of new tokens, and the write that follows.
    TokenPins { token_valid token_group token_data desc_append }
}

group_pins! {
    /// Output of new tokens for external memory, by port.
    WritePins { write_valid write_data write_credit writes_wait }
}

/// A new token of a KV head, as a port gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cosim::workloads) struct TokenWrite {
    pub(in crate::cosim::workloads) port: usize,
    /// Number of the slice in external memory, and place of the token in it.
    pub(in crate::cosim::workloads) number: u64,
    pub(in crate::cosim::workloads) row: u32,
    /// K, then V.
    pub(in crate::cosim::workloads) words: Vec<u64>,
}

/// A writer at every port.
#[derive(Debug)]
pub(in crate::cosim::workloads) struct TokenWriters {
    /// Words of a token, and beats that write one.
    words: usize,
    beats: u64,
    memory: design::Memory,
    /// By memory port: words of a token so far, and the word whose credit returns next.
    messages: Vec<Vec<u64>>,
    credits: Vec<bool>,
    /// Words wait in some port.
    busy: bool,
}

impl TokenWriters {
    /// Writers at all ports of a design, without a word.
    pub(in crate::cosim::workloads) fn new(append: Append, design: &Design) -> TokenWriters {
        let ports = design.memory.ports as usize;
        TokenWriters {
            words: append.words as usize,
            beats: append.beats.into(),
            memory: design.memory,
            messages: vec![Vec::new(); ports],
            credits: vec![false; ports],
            busy: false,
        }
    }

    /// Returns the credits of words that came.
    pub(in crate::cosim::workloads) fn present(&mut self, pins: &mut Pins, at: &WritePins) {
        for (port, credit) in self.credits.iter_mut().enumerate() {
            pins.set(at.write_credit, port, u64::from(std::mem::take(credit)));
        }
    }

    /// Takes the words of a period, and puts the tokens that they end into `done`. Their writes take bandwidth from the
    /// reads of the port. True if there was a word.
    pub(in crate::cosim::workloads) fn observe(
        &mut self,
        pins: &Pins,
        at: &WritePins,
        memory: &mut Memory,
        done: &mut Vec<TokenWrite>,
    ) -> bool {
        let mut moved = false;
        self.busy = (0..self.messages.len()).any(|port| pins.get(at.writes_wait, port) == 1);
        for (port, message) in self.messages.iter_mut().enumerate() {
            if pins.get(at.write_valid, port) == 0 {
                continue;
            }
            moved = true;
            self.credits[port] = true;
            message.push(pins.get(at.write_data, port));
            if message.len() > self.words {
                let mut words = std::mem::take(message);
                let first = words.remove(0);
                memory.spend(port, self.memory.address_of(first >> 16), self.beats);
                done.push(TokenWrite { port, number: first >> 16, row: first as u32 & 0xffff, words });
            }
        }
        moved
    }

    /// Words wait in some port.
    pub(in crate::cosim::workloads) fn are_busy(&self) -> bool {
        self.busy
    }

    /// Tokens that have come in part.
    pub(in crate::cosim::workloads) fn begun(&self) -> usize {
        self.messages.iter().filter(|words| !words.is_empty()).count()
    }
}
