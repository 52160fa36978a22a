//! One row of PaD's array by itself, for who tests or measures it.

use super::core_widths::CoreWidths;
use super::pad_parts::{choice_dsp, delay, dot, dsp, row_of, scratchpad, sums, weight};
use super::pad_widths::PadWidths;
use super::rtl::render;
use super::{ModuleSpec, SourceFile};
use crate::design::Design;
use anyhow::Result;

/// A row and what it is made of, the row last, with room for `slots` contexts.
pub fn row_modules(design: &Design, slots: u32) -> Vec<ModuleSpec> {
    let w = PadWidths::of(design, slots);
    let choice = w.align_in_dsp().then(choice_dsp);
    let parts = [dot(&w), sums(&w), weight(&w), scratchpad(&w), row_of(&w)];
    [delay(), dsp()].into_iter().chain(choice).chain(parts).collect()
}

/// What the larger memories of a row are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowMemories {
    /// Stationary vectors lie in block RAM, else in LUTs.
    pub stations_in_block: bool,
    /// Sums lie in UltraRAM, else in block RAM.
    pub sums_in_ultra: bool,
}

/// What the larger memories of a design's rows are made of.
pub fn row_memories(design: &Design) -> RowMemories {
    let w = PadWidths::of(design, CoreWidths::of(design).slots());
    RowMemories { stations_in_block: w.stations_in_block(), sums_in_ultra: w.sums_in_ultra() }
}

/// The Verilog of [`row_modules`].
///
/// # Errors
/// When a template does not render, which is a slip of this crate.
pub fn row(design: &Design, slots: u32) -> Result<Vec<SourceFile>> {
    let modules = row_modules(design, slots);
    render(design, &PadWidths::of(design, slots), &modules, modules.clone())
}
