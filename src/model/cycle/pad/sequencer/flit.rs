//! Present flit: its meaning by position in the slice, and its progress in a cycle.

use crate::design::Design;

/// Layout of a slice: half, token and layer by position and tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct SliceLayout {
    /// The first flit of K, and of V.
    key_base: u32,
    pub(super) value_base: u32,
    pub(super) head_dim: u32,
    /// Flits of a token, and tokens of a flit, as powers of two.
    parts_log: u32,
    pub(super) subs_log: u32,
    /// Offset and mask of the layer in a tag.
    pub(super) layer_offset: u32,
    pub(super) layer_mask: u64,
}

impl SliceLayout {
    pub(super) fn of(design: &Design, lanes: u32) -> SliceLayout {
        let head_dim = design.pe.head_dim;
        let layer = design.flit.tag_fields().iter().find(|field| field.name == "layer");
        SliceLayout {
            key_base: design.mare.key_base,
            value_base: design.mare.key_base + design.mare.half_flits,
            head_dim,
            parts_log: head_dim.ilog2().saturating_sub(lanes.ilog2()),
            subs_log: lanes.ilog2().saturating_sub(head_dim.ilog2()),
            layer_offset: layer.map_or(0, |field| field.offset),
            layer_mask: layer.map_or(0, |field| (1 << field.width) - 1),
        }
    }

    /// A flit has scales of tokens.
    pub(super) fn has_scales(&self, index: u32) -> bool {
        index < self.key_base
    }

    /// Token of a K flit; `sub` is its number where the flit has several.
    pub(super) fn token(&self, index: u32, sub: u32) -> u32 {
        (index - self.key_base) >> self.parts_log << self.subs_log | sub
    }

    pub(super) fn ends_token(&self, index: u32) -> bool {
        let parts = (1 << self.parts_log) - 1;
        (index - self.key_base) & parts == parts
    }
}

/// Activity of a cycle, from the registers and the present flit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Now {
    /// A flit is present.
    pub flit: bool,
    /// The flit is of V.
    pub value: bool,
    /// A K flit passes; a V flit; the flit of ones.
    pub k: bool,
    /// See `k`.
    pub v: bool,
    /// See `k`.
    pub ones: bool,
    /// Last pass of this flit.
    pub last_pass: bool,
    /// The flit is done.
    pub accepts: bool,
    /// Position in the slice.
    pub(super) index: u32,
}

impl Now {
    pub(super) fn passes(&self) -> bool {
        self.k || self.v || self.ones
    }

    /// What passes, or would, is of V.
    pub(super) fn is_of_v(&self) -> bool {
        self.value || self.ones
    }

    pub(super) fn finishes(&self) -> bool {
        self.ones && self.last_pass
    }
}
