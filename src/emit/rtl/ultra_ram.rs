//! UltraRAMs of a design, counted as synthesis maps its memories.

use crate::design::{ultra_blocks, Design};
use crate::emit::rtl::pad::params::PadParams;
use crate::emit::rtl::pad::row_params::PadRowParams;
use crate::emit::rtl::reduce::params::ReduceParams;

/// UltraRAMs of all tiles, reduce roots and controllers of a design.
pub fn ultra_rams(design: &Design) -> u64 {
    // Synthesis leaves out blocks that no slot reaches.
    let staged = design.mare.staging_slots * design.mare.slice_flits;
    let staging = ultra_blocks(design.config.noc.flit_width, staged);
    let row = PadRowParams::of(design, PadParams::of(design).slots()).ultra_rams();
    let tile = staging + design.config.pe.array_rows * row;
    let root = ReduceParams::of(design).ultra_rams();
    let tokens = design.append.map_or(0, |append| append.ultra_rams());
    design.mesh.tiles() as u64 * u64::from(tile) + u64::from(design.mesh.cols() * (root + tokens))
}
