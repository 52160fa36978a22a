//! New token of the slice that a home fills: part of `meshkv_filler`.

use crate::model::cycle::mare::{MareParams, Part};
use crate::model::cycle::takv::memory::new_token::{PartName, TokenPart};

/// Bits of a flit that the model has.
const MODELLED_BITS: u32 = 64;

/// State of the slice that takes a new token.
#[derive(Debug, Clone)]
pub(in crate::model::cycle::takv) struct Patch {
    /// A slice takes its token.
    pub(in crate::model::cycle::takv) active: bool,
    pub(in crate::model::cycle::takv) slot: u32,
    /// All flits of the slice are here.
    whole: bool,
    /// The last burst of its K, while it is under way; and that it is here.
    key: Option<u32>,
    key_here: bool,
    /// The same of scales.
    scales: Option<u32>,
    scales_here: bool,
    /// The token is in its place.
    patched: bool,
    /// Last flit of the token's K.
    last: u32,
    row_flits: u32,
    lanes: u32,
    /// Elements of a flit that the model has, those of a word.
    modelled: u32,
    block: u32,
    /// First flit of K, and of V.
    key_base: u32,
    value_base: u32,
    /// Tokens of a flit of scales.
    scales_of_flit: u32,
    slice_flits: u32,
    burst_flits: u32,
}

impl Patch {
    pub(in crate::model::cycle::takv) fn new(params: &MareParams) -> Patch {
        Patch {
            active: false,
            slot: 0,
            whole: false,
            key: None,
            key_here: false,
            scales: None,
            scales_here: false,
            patched: false,
            last: 0,
            row_flits: params.row_flits,
            lanes: params.head_dim / params.row_flits,
            modelled: params.word_elements,
            block: params.head_dim - 1,
            key_base: params.mare.key_base,
            value_base: params.mare.key_base + params.mare.half_flits,
            scales_of_flit: params.scales_of_flit,
            slice_flits: params.mare.slice_flits,
            burst_flits: params.burst_flits,
        }
    }

    /// True if the flits that the next part of the token overwrites are in the staging memory: for K the last burst of K,
    /// for V the whole slice. A token whose K takes more than a burst waits for the whole slice, too.
    pub(in crate::model::cycle::takv) fn wants_token(&self, next: PartName) -> bool {
        let here = match next {
            PartName { scales: true, .. } => self.scales_here,
            PartName { value, .. } if value || self.row_flits > self.burst_flits => self.whole,
            PartName { .. } => self.key_here,
        };
        self.active && here && !self.patched
    }

    /// A burst is not to be read yet: a part of the token is to be written there or before.
    pub(in crate::model::cycle::takv) fn is_pending(&self, slot: u32, flit: u32, next: PartName) -> bool {
        let next = match next {
            PartName { scales: true, .. } => self.scales_at(),
            PartName { value: true, number, .. } => (self.last & !self.block | number) + self.value_base,
            PartName { .. } => (self.last & !(self.row_flits - 1)) + self.key_base,
        };
        let burst = |flit: u32| flit / self.burst_flits;
        self.active && !self.patched && self.slot == slot && burst(flit) >= burst(next)
    }

    /// The row of the token in its slice.
    fn row(&self) -> u32 {
        self.last / self.row_flits
    }

    /// The flit of the token's scales.
    fn scales_at(&self) -> u32 {
        self.row() / self.scales_of_flit
    }

    /// The last burst of K of the slice in a slot is requested, or that of its scales.
    pub(in crate::model::cycle::takv) fn ask(&mut self, slot: u32, id: u32, of_scales: bool) {
        if self.active && self.slot == slot {
            if of_scales {
                self.scales = Some(id);
            } else {
                self.key = Some(id);
            }
        }
    }

    /// The last beat of a burst comes.
    pub(in crate::model::cycle::takv) fn hear(&mut self, id: u32) {
        if self.key == Some(id) {
            (self.key, self.key_here) = (None, true);
        }
        if self.scales == Some(id) {
            (self.scales, self.scales_here) = (None, true);
        }
    }

    /// The slice has its token.
    pub(in crate::model::cycle::takv) fn is_over(&self) -> bool {
        self.active && self.patched
    }

    /// Returns where a part of the token is written, with the elements that the model has.
    pub(in crate::model::cycle::takv) fn place(&self, part: &TokenPart) -> Part {
        let (at, lane, lanes) = match part.name {
            // Four bytes, each a lane.
            PartName { scales: true, .. } => (self.scales_at(), self.row() % self.scales_of_flit * 4, 4),
            PartName { value: true, number, .. } => {
                let flit = (self.last & !self.block | number) + self.value_base;
                (flit, self.row() % self.lanes, 1)
            }
            PartName { number, .. } => {
                let (lane, first) = (number * self.modelled, self.last & !(self.row_flits - 1));
                (first + self.key_base + lane / self.lanes, lane % self.lanes, self.modelled)
            }
        };
        let bits = MODELLED_BITS / self.modelled;
        let mask = match lane < self.modelled {
            true => (u64::MAX >> (64 - bits * lanes)) << (bits * lane),
            false => 0,
        };
        Part { address: self.slot * self.slice_flits + at, mask, data: part.data }
    }

    /// Advances one clock period. `ends`: its slice is published. `whole`: all flits of the slice in its slot are here.
    pub(in crate::model::cycle::takv) fn go_on(&mut self, ends: bool, whole: bool, done: bool) {
        self.whole = self.active && whole;
        self.patched |= done;
        self.active &= !ends;
    }

    /// A slice with a new token gets a slot; `last` is its last flit of K.
    pub(in crate::model::cycle::takv) fn begin(&mut self, slot: u32, last: u32) {
        (self.active, self.slot, self.patched, self.last) = (true, slot, false, last);
        (self.key, self.key_here) = (None, false);
        (self.scales, self.scales_here) = (None, false);
    }
}
