//! New token of the slice that a home fills: part of `meshkv_filler`.

use super::burst::Answer;
use super::new_token::{NewToken, Wanted};
use crate::model::cycle::mare::MareParams;

/// Elements of a flit that the model has.
const MODELLED: u32 = 4;

/// State of the slice that takes a new token.
#[derive(Debug, Clone)]
pub(super) struct Patch {
    /// A slice takes its token.
    pub(super) active: bool,
    pub(super) slot: u32,
    /// K of the token is in its place.
    pub(super) patched: bool,
    /// By burst: its next flit of V.
    pub(super) at: Box<[u32]>,
    /// Last flit of the token's K.
    last: u32,
    /// Flit of K that is made.
    key: u32,
    /// All of K, and all of V are requested.
    all: (bool, bool),
    /// Bursts of K in flight, and those that have flits of the last block of V.
    keys: u64,
    values: u64,
    /// The answer of this period is of that block.
    overlays: bool,
    row_flits: u32,
    lanes: u32,
    block: u32,
}

impl Patch {
    pub(super) fn new(params: &MareParams) -> Patch {
        Patch {
            active: false,
            slot: 0,
            patched: false,
            at: vec![0; params.bursts as usize].into(),
            last: 0,
            key: 0,
            all: (false, false),
            keys: 0,
            values: 0,
            overlays: false,
            row_flits: params.row_flits,
            lanes: params.head_dim / params.row_flits,
            block: params.head_dim - 1,
        }
    }

    fn wants_key(&self, token: &NewToken) -> bool {
        self.active && token.is_here() && self.all.0 && self.keys == 0 && !self.patched
    }

    /// Flit of the slice at which one of the token is written, in a period without a flit from memory.
    pub(super) fn written(&self, token: &NewToken) -> Option<u32> {
        let first = self.last & !(self.row_flits - 1);
        (self.wants_key(token) && token.has_key()).then_some(first + self.key)
    }

    /// Returns a flit of this period from memory with the element of the token in it, if it has one.
    pub(super) fn overlaid(&self, data: u64, token: &NewToken) -> u64 {
        let lane = self.last / self.row_flits % self.lanes;
        if !self.overlays || lane >= MODELLED {
            return data;
        }
        let mask = 0xffff << (16 * lane);
        data & !mask | token.flit() & mask
    }

    fn is_over(&self) -> bool {
        self.active && self.all.1 && self.values == 0
    }

    /// The flit that arrives is of the last block of V.
    fn hits(&self, answer: Option<&Answer>) -> Option<u32> {
        let id = answer.map(|answer| answer.id).filter(|id| self.values >> id & 1 == 1)?;
        let at = self.at[id as usize];
        (at & !self.block == self.last & !self.block).then_some(at & self.block)
    }

    /// Wishes in this period: `came` says that a flit from memory is written, `answer` is the next one.
    pub(super) fn wanted(
        &self,
        token: &NewToken,
        came: bool,
        broken: bool,
        answer: Option<&Answer>,
    ) -> Wanted {
        Wanted {
            key: self.wants_key(token).then_some(self.key),
            key_taken: !came && self.written(token).is_some(),
            value: self.hits(answer),
            done: self.is_over() || broken,
        }
    }

    /// Advances one clock period, before the bursts of the period.
    pub(super) fn go_on(&mut self, wanted: &Wanted, broken: bool, answer: Option<&Answer>) {
        if self.is_over() || broken {
            self.active = false;
        }
        if wanted.key_taken {
            self.patched |= self.key + 1 == self.row_flits;
            self.key += 1;
        }
        self.overlays = wanted.value.is_some();
        if let Some(answer) = answer {
            self.at[answer.id as usize] += 1;
        }
    }

    /// A slice with a new token gets a slot; `last` is its last flit of K.
    pub(super) fn begin(&mut self, slot: u32, last: u32) {
        (self.active, self.slot, self.patched) = (true, slot, false);
        (self.last, self.key, self.all) = (last, 0, (false, false));
    }

    /// A burst is requested: of V or K, the last of its half; its last flit.
    pub(super) fn asked(&mut self, id: u32, (value, ends): (bool, bool), finish: u32) {
        let last = self.last | self.block;
        if value {
            self.values |= u64::from(finish | self.block == last) << id;
            self.all.1 |= ends;
        } else {
            self.keys |= 1 << id;
            self.all.0 |= ends;
        }
    }

    /// The last flit of a burst is written.
    pub(super) fn answered(&mut self, id: u32) {
        self.keys &= !(1 << id);
        self.values &= !(1 << id);
    }
}
