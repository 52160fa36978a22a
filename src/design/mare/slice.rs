//! Sizes of a slice and of its parts, in flits.

use crate::config::{Config, KvScales};

/// Chunks that fit a requester's FIFO at once: one is read while two are in flight.
const CHUNKS_IN_FIFO: u32 = 3;
/// Least flit width with a deep FIFO by default: it is in block RAM, where depth is free.
const WIDE_FLIT: u32 = 512;
/// Default FIFO depth in flits: for wide flits, and for others as in the paper.
const FIFO_DEPTHS: (u32, u32) = (96, 48);
/// Bits of the scales of a token: one of its K and one of its V, in FP16.
pub const TOKEN_SCALE_BITS: u32 = 32;

/// Segments of a layer at the longest context: ceil(T / P).
pub fn segments(config: &Config) -> u32 {
    config.model.max_tokens.div_ceil(config.kv.segment_tokens)
}

/// Flits of one slice: the scales of its tokens, where they have some, P rows of K, then V of the same tokens.
///
/// V is stored transposed, in blocks of as many tokens as a flit has elements. A block has `head_dim` flits,
/// one a dimension, so that a flit of either half meets one stationary vector. The last block is padded.
pub fn slice_flits(config: &Config) -> u32 {
    key_base(config) + 2 * half_flits(config)
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

/// Flits of the scales of a slice's tokens: none where tokens have no scales.
pub fn scale_flits(config: &Config) -> u32 {
    match config.kv.scales_of_format() {
        KvScales::Token => (config.kv.segment_tokens * TOKEN_SCALE_BITS).div_ceil(config.noc.flit_width),
        _ => 0,
    }
}

/// Longest burst. A slice takes many bursts, so that the tiles of a port take turns.
pub const MOST_BURST_FLITS: u32 = 16;

/// The first flit of K in a slice: the scales before it fill whole chunks, and bursts of any length.
pub fn key_base(config: &Config) -> u32 {
    scale_flits(config).next_multiple_of(chunk_flits(config).max(MOST_BURST_FLITS))
}

/// Flits of a requester's FIFO: `pad.fifo_depth`, or the default for the flit width.
pub fn fifo_depth(config: &Config) -> u32 {
    let (wide, narrow) = FIFO_DEPTHS;
    config.pad.fifo_depth.unwrap_or(if is_wide(config.noc.flit_width) { wide } else { narrow })
}

/// True for flits of 512 bits or more: their FIFO is in block RAM, where depth is free.
pub fn is_wide(flit_width: u32) -> bool {
    flit_width >= WIDE_FLIT
}

/// Flits of a chunk: the largest power of two that divides half a slice and fits the FIFO three times.
pub fn chunk_flits(config: &Config) -> u32 {
    let (fifo_depth, half_flits) = (fifo_depth(config), half_flits(config));
    let fits = |chunk: &u32| CHUNKS_IN_FIFO * chunk <= fifo_depth && half_flits.is_multiple_of(*chunk);
    (0..16).map(|log| 1 << log).filter(fits).max().unwrap_or(1)
}
