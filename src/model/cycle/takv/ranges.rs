//! Ranges of a slice, which are asked for one after the other: scales of its tokens, K, V.

use crate::design::Mare;
use crate::kernels::takv::k_then_v::Region;

/// Places of the ranges in a slice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranges {
    key_base: u32,
    half_flits: u32,
    head_dim: u32,
}

impl Ranges {
    pub(super) fn new(mare: &Mare, head_dim: u32) -> Ranges {
        Ranges { key_base: mare.key_base, half_flits: mare.half_flits, head_dim }
    }

    /// The range with which slices begin.
    pub(super) fn first(&self) -> Region {
        if self.key_base > 0 {
            Region::Scales
        } else {
            Region::Keys
        }
    }

    /// First and last flit of a range, of a slice whose flits of K `first` to `last` are needed.
    pub(super) fn of(&self, region: Region, (first, last): (u32, u32)) -> (u32, u32) {
        let (base, block) = (self.key_base, self.head_dim - 1);
        match region {
            // A flit of scales has those of as many tokens as this many flits of K.
            Region::Scales => (0, last / (self.head_dim / 4)),
            Region::Keys => (base + first, base + last),
            // V lies in blocks of one flit per dim. Any token of a block needs all its flits.
            Region::Values => {
                let base = base + self.half_flits;
                (base + (first & !block), base + (last | block))
            }
        }
    }
}
