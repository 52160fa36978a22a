//! New token of the slice that a home fills: part of `meshkv_filler`.

use super::new_token::TokenPart;
use crate::model::cycle::mare::{MareParams, Part};

/// Elements of a flit that the model has.
const MODELLED: u32 = 4;

/// Slices that take new tokens: one that does, and the next.
#[derive(Debug, Clone)]
pub(super) struct Patch {
    /// A slice takes its token.
    active: bool,
    slot: u32,
    /// Another has its slot: that, and its last flit of K.
    next: Option<(u32, u32)>,
    /// All flits of the slice are here.
    whole: bool,
    /// The token is in its place.
    patched: bool,
    /// Last flit of the token's K.
    last: u32,
    row_flits: u32,
    lanes: u32,
    block: u32,
    half_flits: u32,
    slice_flits: u32,
}

impl Patch {
    pub(super) fn new(params: &MareParams) -> Patch {
        Patch {
            active: false,
            slot: 0,
            next: None,
            whole: false,
            patched: false,
            last: 0,
            row_flits: params.row_flits,
            lanes: params.head_dim / params.row_flits,
            block: params.head_dim - 1,
            half_flits: params.mare.half_flits,
            slice_flits: params.mare.slice_flits,
        }
    }

    /// Another slice with a new token gets no slot.
    pub(super) fn is_full(&self) -> bool {
        self.next.is_some()
    }

    /// The slice in this slot waits for its token.
    pub(super) fn holds(&self, slot: u32) -> bool {
        self.active && self.slot == slot || self.next.is_some_and(|(next, _)| next == slot)
    }

    /// Slot of the slice that takes its token.
    pub(super) fn slot(&self) -> u32 {
        self.slot
    }

    /// The token is to be written.
    pub(super) fn wants_token(&self) -> bool {
        self.active && self.whole && !self.patched
    }

    /// The slice has its token.
    pub(super) fn is_over(&self) -> bool {
        self.active && self.patched
    }

    /// Returns where a part of the token is written, with the elements that the model has.
    pub(super) fn place(&self, part: &TokenPart) -> Part {
        let (at, lane, lanes) = match part.value {
            true => {
                let flit = (self.last & !self.block | part.number) + self.half_flits;
                (flit, self.last / self.row_flits % self.lanes, 1)
            }
            false => {
                let lane = part.number * MODELLED;
                ((self.last & !(self.row_flits - 1)) + lane / self.lanes, lane % self.lanes, MODELLED)
            }
        };
        let mask = match lane < MODELLED {
            true => (u64::MAX >> (64 - 16 * lanes)) << (16 * lane),
            false => 0,
        };
        Part { address: self.slot * self.slice_flits + at, mask, data: part.data }
    }

    /// Advances one clock period. `ends`: its slice is published. `whole`: all flits of the slice in its slot are here.
    /// `done`: the last part of the token is given. `broken`: memory is given up.
    pub(super) fn go_on(&mut self, ends: bool, whole: bool, done: bool, broken: bool) {
        let stays = self.active && !ends;
        self.whole = stays && whole;
        self.patched = (self.patched || done) && stays;
        self.active = stays;
        if !stays {
            if let Some((slot, last)) = self.next.take() {
                (self.active, self.slot, self.last) = (true, slot, last);
            }
        }
        if broken {
            (self.active, self.next) = (false, None);
        }
    }

    /// A slice with a new token gets a slot; `last` is its last flit of K.
    pub(super) fn begin(&mut self, slot: u32, last: u32) {
        self.next = Some((slot, last));
    }
}
