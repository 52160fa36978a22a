//! New tokens at their home (`meshkv_new_token`), and on their way to external memory (`meshkv_write_port`).

use crate::design::{word_elements, Append, Design};
use crate::kernels::cells::credit_counter;
use crate::model::cycle::common::Fifo;

/// Wishes of the filler in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The flits that the next part overwrites are in the staging memory.
    pub token: bool,
    /// The token is not needed.
    pub drop: bool,
}

/// Which part of a token: its scales, a word of K or an element of V.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::model::cycle::takv) struct PartName {
    /// Its scales.
    pub(in crate::model::cycle::takv) scales: bool,
    /// It is of V.
    pub(in crate::model::cycle::takv) value: bool,
    /// Number of the word or element.
    pub(in crate::model::cycle::takv) number: u32,
}

/// Part of a token that is written into a flit: scales twice, a word of K, or an element of V over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model::cycle::takv) struct TokenPart {
    pub(in crate::model::cycle::takv) name: PartName,
    pub(in crate::model::cycle::takv) data: u64,
}

/// K and V of a new token. Words of the next token take the places of words that are no longer needed.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// Words taken of the token that comes: one that names the token, K and V.
    at: u32,
    /// A token is here with all its words.
    full: bool,
    credits: u32,
    passed: Option<u64>,
    words: Box<[u64]>,
    /// Next part.
    next: PartName,
    part: Option<TokenPart>,
    /// Tokens have scales, which are the last word and the first part.
    scaled: bool,
    key_words: u32,
    head_dim: u32,
    /// Elements of a word.
    elements: u32,
}

impl NewToken {
    /// Creates an empty one.
    pub fn new(design: &Design, append: &Append) -> NewToken {
        NewToken {
            at: 0,
            full: false,
            credits: append.token_depth,
            passed: None,
            words: vec![0; append.words as usize].into(),
            next: PartName { scales: design.pe.has_token_scales(), ..PartName::default() },
            part: None,
            scaled: design.pe.has_token_scales(),
            key_words: append.row_words,
            head_dim: design.pe.head_dim,
            elements: word_elements(design.pe.format),
        }
    }

    /// Word to the memory port: a register.
    pub fn passed(&self) -> Option<u64> {
        self.passed
    }

    /// Part that is written: a register.
    pub(in crate::model::cycle::takv) fn part(&self) -> Option<&TokenPart> {
        self.part.as_ref()
    }

    /// The next part.
    pub(in crate::model::cycle::takv) fn next(&self) -> PartName {
        self.next
    }

    /// A word is taken in this period.
    pub fn takes(&self) -> bool {
        let spent = !self.next.scales && self.at <= self.from() && self.from() > 0;
        (!self.full || spent) && self.credits > 0
    }

    /// Number of parts of K or of V.
    fn parts(&self) -> u32 {
        if self.next.value {
            self.head_dim
        } else {
            self.key_words
        }
    }

    /// Word of the next part; those before are no longer needed.
    fn from(&self) -> u32 {
        match self.next {
            PartName { scales: true, .. } => self.words.len() as u32 - 1,
            PartName { value: true, number, .. } => self.key_words + number / self.elements,
            PartName { number, .. } => number,
        }
    }

    /// The last part is given in this period.
    pub fn is_done(&self, wanted: &Wanted) -> bool {
        wanted.token && self.full && self.next.value && self.next.number + 1 == self.parts()
    }

    /// Advances one clock period; `word` only if it is taken.
    pub fn step(&mut self, word: Option<u64>, wanted: &Wanted, credit: bool) {
        let done = self.is_done(wanted);
        self.part = (wanted.token && self.full).then(|| self.next_part());
        if self.part.is_some() {
            self.next = self.behind();
        }
        (_, self.credits) = credit_counter::rule(self.credits, word.is_some(), credit);
        self.passed = word;
        let mut ends = false;
        if let Some(word) = word {
            if let Some(place) = self.at.checked_sub(1) {
                self.words[place as usize] = word;
            }
            ends = self.at as usize == self.words.len();
            self.at = if ends { 0 } else { self.at + 1 };
        }
        self.full = (ends || self.full && !done) && !wanted.drop;
    }

    /// The part behind the next one.
    fn behind(&self) -> PartName {
        let PartName { scales, value, number } = self.next;
        match (scales, number + 1 == self.parts()) {
            (true, _) => PartName::default(),
            (false, false) => PartName { number: number + 1, ..self.next },
            (false, true) => PartName { scales: self.scaled && value, value: !value, number: 0 },
        }
    }

    fn next_part(&self) -> TokenPart {
        let (name, word) = (self.next, self.words[self.from() as usize]);
        let data = match name {
            PartName { scales: true, .. } => word & 0xffff_ffff | word << 32,
            PartName { value: true, number, .. } => {
                // As often as the word has elements.
                let (bits, one) = match self.elements {
                    4 => (16, 0x0001_0001_0001_0001),
                    _ => (8, 0x0101_0101_0101_0101),
                };
                (word >> (bits * (number % self.elements)) & ((1 << bits) - 1)) * one
            }
            PartName { .. } => word,
        };
        TokenPart { name, data }
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
        let first = self.queues.iter().position(|queue| !queue.has_room());
        let next = match self.left {
            0 => first,
            _ => Some(self.holds).filter(|&tile| !self.queues[tile].is_empty()),
        };
        let (takes, credits) = credit_counter::rule(self.credits, next.is_some(), credit);
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

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::model::cycle::takv::memory::new_token::*;

    #[test]
    fn a_token_that_has_come_in_part_keeps_no_other_from_the_port() {
        let mut config = Config::default();
        (config.kv.append, config.memory.tiles_per_port) = (true, Some(2));
        let design = Design::from_config("port", &config).unwrap();
        let append = design.append.expect("it appends");
        let mut port = WritePort::new(&append, 2);
        let words = u64::from(append.words) + 1;
        let mut come = Vec::new();
        for cycle in 0..3 * words {
            // The other words of the first tile's token wait somewhere else, for the token of the second.
            let first = (cycle < 5).then_some(cycle);
            let second = (cycle < words).then_some(1_000 + cycle);
            let credit = port.word().is_some();
            port.step([first, second].into_iter(), credit);
            come.extend(port.word());
        }
        assert_eq!(come, (1_000..1_000 + words).collect::<Vec<_>>());
    }
}
