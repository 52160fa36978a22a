//! New tokens at their home (`meshkv_new_token`), and on their way to external memory (`meshkv_write_port`).

use crate::design::depths::TOKEN_DEPTH;
use crate::design::{Append, Design};
use crate::model::cycle::common::{credit_gauge, Fifo};

/// Wishes of the filler in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Flit of the token's K that is to be made.
    pub key: Option<u32>,
    /// That flit is written in this period.
    pub key_taken: bool,
    /// Element of V for all lanes of the next flit.
    pub value: Option<u32>,
    /// The token is no longer needed.
    pub done: bool,
}

/// K and V of a new token. Of flits only the first four elements are modelled.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// Words taken: one that names the token, K and V.
    at: u32,
    credits: u32,
    passed: Option<u64>,
    words: Box<[u64]>,
    /// Word of the flit that is made next.
    part: u32,
    ready: bool,
    flit: u64,
    parts: u32,
    key_words: u32,
}

impl NewToken {
    /// Creates an empty one.
    pub fn new(design: &Design, append: &Append) -> NewToken {
        NewToken {
            at: 0,
            credits: TOKEN_DEPTH,
            passed: None,
            words: vec![0; append.words as usize].into(),
            part: 0,
            ready: false,
            flit: 0,
            parts: design.flit.data_width / 64,
            key_words: design.config.pe.head_dim / 4,
        }
    }

    /// Word to the memory port: a register.
    pub fn passed(&self) -> Option<u64> {
        self.passed
    }

    /// All words of the token are here.
    pub fn is_here(&self) -> bool {
        self.at as usize == self.words.len() + 1
    }

    /// The flit of K that the filler wants is there.
    pub fn has_key(&self) -> bool {
        self.ready
    }

    /// First four elements of the flit.
    pub fn flit(&self) -> u64 {
        self.flit
    }

    /// A word is taken in this period.
    pub fn takes(&self) -> bool {
        !self.is_here() && self.credits > 0
    }

    /// Advances one clock period; `word` only if it is taken.
    pub fn step(&mut self, word: Option<u64>, wanted: &Wanted, credit: bool) {
        let builds = wanted.key.filter(|_| !self.ready && !wanted.key_taken);
        if let Some(element) = wanted.value {
            let word = self.words[(self.key_words + element / 4) as usize];
            self.flit = (word >> (16 * (element % 4)) & 0xffff) * 0x0001_0001_0001_0001;
        } else if let Some(number) = builds.filter(|_| self.part == 0) {
            self.flit = self.words[(number * self.parts) as usize];
        }
        let last = self.part + 1 == self.parts;
        self.ready = (self.ready || builds.is_some() && last) && !wanted.key_taken;
        if builds.is_some() {
            self.part = if last { 0 } else { self.part + 1 };
        }
        (_, self.credits) = credit_gauge(self.credits, word.is_some(), credit);
        self.passed = word;
        if let Some(word) = word {
            if let Some(place) = self.at.checked_sub(1) {
                self.words[place as usize] = word;
            }
        }
        self.at = if wanted.done { 0 } else { self.at + u32::from(word.is_some()) };
    }
}

/// Queues of the tiles of a memory port, and the register towards its writer.
#[derive(Debug, Clone)]
pub struct WritePort {
    queues: Box<[Fifo<u64>]>,
    /// Tile whose token has begun, and its words to come.
    holds: usize,
    left: u32,
    credits: u32,
    word: Option<u64>,
    credit: Option<usize>,
    words: u32,
}

impl WritePort {
    /// Creates an idle port for `tiles` tiles.
    pub fn new(append: &Append, tiles: usize) -> WritePort {
        WritePort {
            queues: (0..tiles).map(|_| Fifo::new(TOKEN_DEPTH)).collect(),
            holds: 0,
            left: 0,
            credits: append.write_depth,
            word: None,
            credit: None,
            words: append.words + 1,
        }
    }

    /// Word to the writer: a register.
    pub fn word(&self) -> Option<u64> {
        self.word
    }

    /// Words wait here.
    pub fn is_busy(&self) -> bool {
        self.word.is_some() || self.left > 0 || self.queues.iter().any(|queue| !queue.is_empty())
    }

    /// A word of a tile, counted from the west, has left its queue: a register.
    pub fn credit(&self, tile: usize) -> bool {
        self.credit == Some(tile)
    }

    /// Advances one clock period. `words` come from the tiles.
    pub fn step(&mut self, words: impl Iterator<Item = Option<u64>>, credit: bool) {
        let first = self.queues.iter().position(|queue| !queue.is_empty());
        let next = match self.left {
            0 => first,
            _ => Some(self.holds).filter(|&tile| !self.queues[tile].is_empty()),
        };
        let (takes, credits) = credit_gauge(self.credits, next.is_some(), credit);
        let granted = next.filter(|_| takes);
        self.word = granted.and_then(|tile| self.queues[tile].front().copied());
        if let Some(tile) = granted {
            self.queues[tile].pop();
            self.left = if self.left == 0 { self.words - 1 } else { self.left - 1 };
            self.holds = tile;
        }
        self.credit = granted;
        self.credits = credits;
        for (queue, word) in self.queues.iter_mut().zip(words) {
            if let Some(word) = word {
                queue.push(word);
            }
        }
    }
}
