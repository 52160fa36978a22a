//! Memories of a design, as synthesis maps them.

use crate::design::{staged_bits, ultra_blocks, Array, Design, Pages};
use crate::emit::rtl::pad::row::Rows;
use crate::emit::rtl::reduce::root;

/// Beats for which the reader of queries has places: 8 KiB of 64 bytes each, about what a link of 12 GB/s carries in the 0.7 us
/// that it takes to read memory of a host.
pub(in crate::emit::rtl) const QUERY_PLACES: u32 = 128;

/// Types of the larger memories of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowMemories {
    /// Stationary vectors lie in block RAM, else in LUTs.
    pub stations_in_block: bool,
    /// Sums lie in UltraRAM, else in block RAM.
    pub sums_in_ultra: bool,
}

/// Types of the larger memories of a design's rows.
pub fn row_memories(design: &Design) -> RowMemories {
    let rows = Rows::of(design, Array::of(design).row_slots());
    RowMemories { stations_in_block: rows.stations_in_block(), sums_in_ultra: rows.sums_in_ultra() }
}

/// UltraRAMs of all tiles, reduce roots, controllers and the front of a design.
pub fn ultra_rams(design: &Design) -> u64 {
    // Synthesis leaves out blocks that no slot reaches.
    let staged = design.mare.staging_slots * design.mare.slice_flits;
    let staging = ultra_blocks(staged_bits(design.configuration()), staged);
    let array = Array::of(design);
    let tile = staging + array.rows * Rows::of(design, array.row_slots()).ultra_rams();
    let tokens = design.append.map_or(0, |append| append.ultra_rams());
    let pages = design.pages.as_ref().map_or(0, Pages::ultra_rams);
    let column = root::ultra_rams(design) + tokens + pages;
    let queue = ultra_blocks(design.flit.data_width, QUERY_PLACES);
    let front = if row_memories(design).stations_in_block { queue } else { 0 };
    design.mesh.tiles() as u64 * u64::from(tile) + u64::from(design.mesh.cols() * column + front)
}
