//! One row of PaD's array by itself, for who tests or measures it.

use super::pad_parts::{delay, dot, dsp, row_of, scratchpad, sums, weight};
use super::pad_widths::PadWidths;
use super::rtl::render;
use super::{ModuleSpec, SourceFile};
use crate::design::Design;
use anyhow::Result;

/// A row and what it is made of, the row last, with room for `slots` contexts.
pub fn row_modules(design: &Design, slots: u32) -> Vec<ModuleSpec> {
    let w = PadWidths::of(design, slots);
    let parts = [delay(), dsp(), dot(&w), sums(&w), weight(&w), scratchpad(&w)];
    parts.into_iter().chain([row_of(&w)]).collect()
}

/// The Verilog of [`row_modules`].
///
/// # Errors
/// When a template does not render, which is a slip of this crate.
pub fn row(design: &Design, slots: u32) -> Result<Vec<SourceFile>> {
    let modules = row_modules(design, slots);
    render(design, &PadWidths::of(design, slots), &modules, modules.clone())
}
