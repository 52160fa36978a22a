//! Registers of a column controller.

use super::held::Held;
use super::lookup::Lookup;
use super::pipeline::{At, Item};
use crate::design::{Append, Descriptor};
use crate::kernels::takv::descriptor_state::State;
use crate::model::cycle::common::Fifo;
use crate::model::cycle::takv::{BusWord, TokenGroup};

/// Stages of the pipeline.
pub(super) const STAGES: usize = 6;

/// Column controller.
#[derive(Debug, Clone)]
pub(in crate::model::cycle) struct ColumnController {
    pub(super) x: u32,
    pub(super) descriptors: Fifo<Descriptor>,
    pub(super) state: State,
    /// Next stream to be collected, and rows collected so far.
    pub(super) stream: u32,
    pub(super) spread: u32,
    /// Streams with a descriptor of another mapping than one tile per head since they were closed.
    pub(super) scattered: Box<[bool]>,
    /// Some stream of the descriptor is scattered: all rows of the column are asked for its results.
    pub(super) gathers: bool,
    pub(super) group: u32,
    pub(super) turn: u32,
    pub(super) at: At,
    /// The round that ends is the last.
    pub(super) ends: bool,
    /// Heads of this column in the round, by their places: a close names them.
    pub(super) closing: u64,
    /// Stage 1 first.
    pub(super) stages: [Item; STAGES],
    /// Tiles that request the slice of stage 6, counted over the pieces so far.
    pub(super) askers: u32,
    /// Tile of each logical home, if homes can swap.
    pub(super) places: Option<Box<[usize]>>,
    pub(super) word: Option<BusWord>,
    /// New tokens, if the cache can be appended to.
    pub(super) tokens: Option<Tokens>,
    /// The table of pages, and the stages that look a page up, if there is one.
    pub(super) pages: Option<Lookup>,
    pub(super) credits: u32,
    pub(super) rotation: u32,
    /// Turns of a lap.
    pub(super) lap: u32,
    /// Rows that hold segments, where slices have homes of their own.
    pub(super) held: Option<Held>,
    /// Tiles keep jobs; by row, words said to it since; and whether tiles have as many slices as they can.
    pub(super) barred: bool,
    /// Rows whose homes have got a new token since tiles keep jobs.
    pub(super) grown: u32,
    pub(super) cols: usize,
    pub(super) said: Box<[u32]>,
    pub(super) full: bool,
}

/// New tokens that a controller keeps until their slices are announced.
#[derive(Debug, Clone)]
pub(super) struct Tokens {
    /// Words of all tokens, by stream and KV head.
    pub(super) kept: Box<[u64]>,
    /// Words of the present token that went.
    pub(super) told: u32,
    /// Periods that its slice has been in the last stage, up to the two in which its words are read.
    pub(super) ripe: u32,
    /// Words of a token, less the one that names it.
    pub(super) words: u32,
    group_words: u32,
    /// Groups of a token.
    groups: u32,
    /// Groups that came since they began to.
    came: u32,
    /// The slice has been in the last stage for a period; its token is here, though others are not.
    settled: bool,
    pub(super) ready: bool,
}

impl Tokens {
    pub(super) fn new(append: &Append) -> Tokens {
        let kept = vec![0; (append.groups * append.group_words) as usize].into();
        Tokens {
            kept,
            told: 0,
            ripe: 0,
            words: append.words,
            group_words: append.group_words,
            groups: append.token_groups,
            came: 0,
            settled: false,
            ready: false,
        }
    }

    /// Keeps words that come together, if they do. `more`: such words come or will.
    pub(super) fn hear(&mut self, group: Option<&TokenGroup>, more: bool) {
        if let Some(group) = group {
            self.keep(group);
        }
        self.came = if more { group.map_or(self.came, |group| group.group + 1) } else { 0 };
    }

    /// Place of a word of a token among all that are kept.
    pub(super) fn place(&self, token: u32, word: u32) -> usize {
        (token * self.groups * self.group_words + word) as usize
    }

    fn keep(&mut self, group: &TokenGroup) {
        let words = self.group_words as usize;
        let at = group.group as usize * words;
        self.kept[at..at + words].copy_from_slice(&group.words[..words]);
    }

    /// Advances one clock period: the pipeline advances, a token is being told, a word of it goes. `waits` is the number
    /// of the token of the slice that may be told, by stream and KV head.
    pub(super) fn go_on(&mut self, (advances, tells, goes): (bool, bool, bool), waits: Option<u32>) {
        let waits = waits.filter(|_| !advances);
        self.ready = self.settled && waits.is_some_and(|token| self.came >= (token + 1) * self.groups);
        self.settled = waits.is_some();
        self.told = if advances { 0 } else { self.told + u32::from(goes) };
        self.ripe = if tells { (self.ripe + 1).min(2) } else { 0 };
    }
}
