//! Emits the PaD array of a tile on its own, for tests and benchmarks.

use crate::design::Design;
use crate::emit::rtl::pad::params::PadParams;
use crate::emit::rtl::pad::row::array_modules;
use crate::emit::rtl::pad::row_params::PadRowParams;
use crate::emit::rtl::sources::render;
use crate::emit::source_file::SourceFile;
use anyhow::Result;

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
    let w = PadRowParams::of(design, PadParams::of(design).slots());
    RowMemories { stations_in_block: w.stations_in_block(), sums_in_ultra: w.sums_in_ultra() }
}

/// The Verilog of [`array_modules`].
///
/// # Errors
/// If a template does not render, which is an error of this crate.
pub fn array(design: &Design, slots: u32) -> Result<Vec<SourceFile>> {
    let modules = array_modules(design, slots);
    render(design, &PadRowParams::of(design, slots), &modules, modules.clone())
}
