//! Flits of a slice that a range of its rows needs.

use super::design::Design;
use super::slice::flit_elements;
use std::ops::RangeInclusive;

/// Flits of a slice that contain these rows: of K, then of V, which is stored in whole blocks of
/// tokens. Ranges of K begin with a chunk.
pub fn flits_of_rows(design: &Design, (first, last): (u32, u32)) -> [RangeInclusive<u32>; 2] {
    let (config, mare) = (&design.config, &design.mare);
    let row_bits = config.pe.head_dim * config.kv.bytes_per_element * 8;
    let begin = first * row_bits / config.noc.flit_width / mare.chunk_flits * mare.chunk_flits;
    let end = ((last + 1) * row_bits).div_ceil(config.noc.flit_width) - 1;
    let (head_dim, block) = (config.pe.head_dim, flit_elements(config));
    let v_begin = mare.half_flits + begin / head_dim * head_dim;
    let v_end = mare.half_flits + (last / block + 1) * head_dim - 1;
    [begin..=end, v_begin..=v_end]
}
