//! The flit at hand: what it is by its place in its slice, and what a cycle does with it.

use crate::design::Design;

/// What a flit is, by its place in its slice.
#[derive(Debug, Clone, Copy)]
pub(super) struct SliceLayout {
    pub(super) half_flits: u32,
    pub(super) head_dim: u32,
    /// Flits of a token, and tokens of a flit, as powers of two.
    parts_log: u32,
    pub(super) subs_log: u32,
    /// Fields of a tag: where the layer begins, and its bits.
    pub(super) layer_offset: u32,
    pub(super) layer_mask: u64,
}

impl SliceLayout {
    pub(super) fn of(design: &Design, lanes: u32) -> SliceLayout {
        let head_dim = design.config.pe.head_dim;
        let layer = design.flit.kv_data.iter().find(|field| field.name == "layer");
        SliceLayout {
            half_flits: design.mare.half_flits,
            head_dim,
            parts_log: head_dim.ilog2().saturating_sub(lanes.ilog2()),
            subs_log: lanes.ilog2().saturating_sub(head_dim.ilog2()),
            layer_offset: layer.map_or(0, |field| field.offset),
            layer_mask: layer.map_or(0, |field| (1 << field.width) - 1),
        }
    }

    /// Token of a K flit; `sub` is its number where the flit has several.
    pub(super) fn token(&self, index: u32, sub: u32) -> u32 {
        index >> self.parts_log << self.subs_log | sub
    }

    pub(super) fn ends_token(&self, index: u32) -> bool {
        let parts = (1 << self.parts_log) - 1;
        index & parts == parts
    }
}

/// What a cycle does, as its registers and the flit at hand have it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Now {
    /// A flit is at hand.
    pub flit: bool,
    /// It is of V.
    pub value: bool,
    /// A K flit passes; a V flit; the flit of ones.
    pub k: bool,
    /// See `k`.
    pub v: bool,
    /// See `k`.
    pub ones: bool,
    /// In the last pass of this flit.
    pub last_pass: bool,
    /// The flit is done with.
    pub accepts: bool,
    /// Its place in the slice.
    pub(super) index: u32,
}

impl Now {
    pub(super) fn passes(&self) -> bool {
        self.k || self.v || self.ones
    }

    pub(super) fn finishes(&self) -> bool {
        self.ones && self.last_pass
    }
}
