//! The memory of sums of a reduce root.

use crate::design::{index_bits, ultra_blocks, Design};

/// Words of the deepest memory that costs half a look-up table a bit.
const LUT_WORDS: u32 = 32;

/// Words of a block RAM of 72 bits.
const BLOCK_WORDS: u32 = 512;

/// Bits of a sum without those that count tokens: 36 below the point, 17 of a value, the sign.
const SUM_BITS: u32 = 54;

/// Bits of a sum of a design.
pub(in crate::emit::rtl) fn sum_width(design: &Design) -> u32 {
    SUM_BITS + index_bits(design.model.max_tokens)
}

/// Words of the memory of sums.
fn words(design: &Design) -> u32 {
    design.model.max_streams * design.heads.most() * design.pe.head_dim / design.pe.root_lanes
}

/// Type of the memory.
///
/// All sums of a word are read at once, so the words decide. A look-up table holds two bits of 32 words, a block RAM
/// 512 words of 72 bits, an UltraRAM 4096: one replaces two block RAMs or more.
pub(super) fn style(design: &Design) -> &'static str {
    match words(design) {
        words if words <= LUT_WORDS => "distributed",
        words if words <= BLOCK_WORDS => "block",
        _ => "ultra",
    }
}

/// UltraRAMs of a root.
pub(in crate::emit::rtl) fn ultra_rams(design: &Design) -> u32 {
    match style(design) {
        "ultra" => ultra_blocks(design.pe.root_lanes * sum_width(design), words(design)),
        _ => 0,
    }
}
