//! New tokens at their home (`meshkv_new_token`), and on their way to external memory (`meshkv_write_port`).

use crate::design::{Append, Design};
use crate::model::cycle::common::{credit_gauge, Fifo};

/// Wishes of the filler in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The slice is here: the token is written into it.
    pub token: bool,
    /// The token is not needed.
    pub drop: bool,
}

/// Part of a token that is written into a flit: a word of K, or an element of V, four times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TokenPart {
    /// It is of V.
    pub(super) value: bool,
    /// Number of the word or element.
    pub(super) number: u32,
    pub(super) data: u64,
}

/// K and V of a new token.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// Words taken: one that names the token, K and V.
    at: u32,
    credits: u32,
    passed: Option<u64>,
    words: Box<[u64]>,
    /// Next part, of V or K.
    value: bool,
    number: u32,
    part: Option<TokenPart>,
    key_words: u32,
    head_dim: u32,
}

impl NewToken {
    /// Creates an empty one.
    pub fn new(design: &Design, append: &Append) -> NewToken {
        NewToken {
            at: 0,
            credits: append.token_depth,
            passed: None,
            words: vec![0; append.words as usize].into(),
            value: false,
            number: 0,
            part: None,
            key_words: design.config.pe.head_dim / 4,
            head_dim: design.config.pe.head_dim,
        }
    }

    /// Word to the memory port: a register.
    pub fn passed(&self) -> Option<u64> {
        self.passed
    }

    /// Part that is written: a register.
    pub(super) fn part(&self) -> Option<&TokenPart> {
        self.part.as_ref()
    }

    /// All words of the token are here.
    fn is_here(&self) -> bool {
        self.at as usize == self.words.len() + 1
    }

    /// A word is taken in this period.
    pub fn takes(&self) -> bool {
        !self.is_here() && self.credits > 0
    }

    /// Number of parts of K or of V.
    fn parts(&self) -> u32 {
        if self.value {
            self.head_dim
        } else {
            self.key_words
        }
    }

    /// The last part is given in this period.
    pub fn is_done(&self, wanted: &Wanted) -> bool {
        wanted.token && self.is_here() && self.value && self.number + 1 == self.parts()
    }

    /// Advances one clock period; `word` only if it is taken.
    pub fn step(&mut self, word: Option<u64>, wanted: &Wanted, credit: bool) {
        let done = self.is_done(wanted);
        self.part = (wanted.token && self.is_here()).then(|| self.next_part());
        if self.part.is_some() {
            self.number += 1;
            if self.number == self.parts() {
                (self.value, self.number) = (!self.value, 0);
            }
        }
        (_, self.credits) = credit_gauge(self.credits, word.is_some(), credit);
        self.passed = word;
        if let Some(word) = word {
            if let Some(place) = self.at.checked_sub(1) {
                self.words[place as usize] = word;
            }
        }
        self.at = if done || wanted.drop { 0 } else { self.at + u32::from(word.is_some()) };
    }

    fn next_part(&self) -> TokenPart {
        let (value, number) = (self.value, self.number);
        let data = match value {
            true => {
                let word = self.words[(self.key_words + number / 4) as usize];
                (word >> (16 * (number % 4)) & 0xffff) * 0x0001_0001_0001_0001
            }
            false => self.words[number as usize],
        };
        TokenPart { value, number, data }
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
    /// There is one tile: its words and its credits pass.
    direct: bool,
}

impl WritePort {
    /// Creates an idle port for `tiles` tiles.
    pub fn new(append: &Append, tiles: usize) -> WritePort {
        WritePort {
            queues: (0..tiles).map(|_| Fifo::new(append.token_depth)).collect(),
            holds: 0,
            left: 0,
            credits: append.write_depth,
            word: None,
            credit: None,
            words: append.words + 1,
            direct: append.direct,
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
    pub fn step(&mut self, mut words: impl Iterator<Item = Option<u64>>, credit: bool) {
        if self.direct {
            (self.word, self.credit) = (words.next().flatten(), credit.then_some(0));
            return;
        }
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
