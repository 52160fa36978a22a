//! Sizes of a slice and of its halves, in flits.

use crate::config::Config;

/// Segments of a layer at the longest context: ceil(T / P).
pub fn segments(config: &Config) -> u32 {
    config.model.max_tokens.div_ceil(config.kv.segment_tokens)
}

/// Flits of one slice: P rows of K, then V of the same tokens.
///
/// V is stored transposed, in blocks of as many tokens as a flit has elements. A block has `head_dim` flits,
/// one a dimension, so that a flit of either half meets one stationary vector. The last block is padded.
pub fn slice_flits(config: &Config) -> u32 {
    2 * half_flits(config)
}

/// Flits of either half of a slice: those of V. K takes as many, or fewer where the last block of V is not
/// full.
pub fn half_flits(config: &Config) -> u32 {
    config.kv.segment_tokens.div_ceil(flit_elements(config)) * config.pe.head_dim
}

/// Elements of a flit (E), equal to the tokens of a block of V.
pub fn flit_elements(config: &Config) -> u32 {
    config.noc.flit_width / (8 * config.kv.format.bytes())
}
