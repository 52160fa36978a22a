//! Flits of a row, of the rows of a slice that are needed, and of a partial result.

use crate::design::design::Design;
use crate::design::mare::slice::TOKEN_SCALE_BITS;
use crate::design::pad::root::NUMBER_BITS;
use std::ops::RangeInclusive;

impl Design {
    /// Bits of a row: K of one token and KV head.
    fn row_bits(&self) -> u32 {
        self.pe.head_dim * (self.flit.data_width / self.flit.elements)
    }

    /// Flits of a row of K, a power of two; 1 where a flit has several rows.
    pub fn row_flits(&self) -> u32 {
        (self.row_bits() / self.flit.data_width).max(1)
    }

    /// Rows of K in a flit, a power of two; 1 where a row has several flits.
    pub fn flit_rows(&self) -> u32 {
        (self.flit.data_width / self.row_bits()).max(1)
    }

    /// Flits of a PART packet: one of l and m, then those of o.
    pub fn part_flits(&self) -> u32 {
        1 + (self.pe.head_dim * NUMBER_BITS).div_ceil(self.flit.data_width)
    }
}

/// Flits of a slice that contain these rows: of the scales of its tokens, in order from the first, if tokens have some; then
/// of K and of V, which is stored in whole blocks of tokens. Ranges of K begin with a chunk.
pub fn flits_of_rows(design: &Design, (first, last): (u32, u32)) -> Vec<RangeInclusive<u32>> {
    let (mare, row_bits, width) = (&design.mare, design.row_bits(), design.flit.data_width);
    let begin = first * row_bits / width / mare.chunk_flits * mare.chunk_flits;
    let end = ((last + 1) * row_bits).div_ceil(width) - 1;
    let (head_dim, block) = (design.pe.head_dim, design.flit.elements);
    let v_begin = mare.half_flits + begin / head_dim * head_dim;
    let v_end = mare.half_flits + (last / block + 1) * head_dim - 1;
    let base = mare.key_base;
    let scales = (mare.scale_flits > 0).then(|| 0..=last * TOKEN_SCALE_BITS / width);
    scales.into_iter().chain([base + begin..=base + end, base + v_begin..=base + v_end]).collect()
}
