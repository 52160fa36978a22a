//! One row of PaD's array by itself, for who tests or measures it.

use super::pad_parts::{delay, dot, dsp, row_of, scratchpad, sums, weight};
use super::pad_widths::PadWidths;
use super::render::Renderer;
use super::{ModuleSpec, SourceFile};
use crate::design::Design;
use anyhow::Result;
use std::collections::BTreeMap;

macro_rules! template {
    ($name:literal) => {
        ($name, include_str!(concat!("../../templates/rtl/", $name, ".tera")))
    };
}

const TEMPLATES: &[(&str, &str)] = &[
    template!("module.v"),
    template!("meshkv_delay.v"),
    template!("meshkv_dot.v"),
    template!("meshkv_dsp.v"),
    template!("meshkv_row.v"),
    template!("meshkv_scratchpad.v"),
    template!("meshkv_sums.v"),
    template!("meshkv_weight.v"),
];

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
    let renderer = Renderer::new(TEMPLATES, modules.clone())?;
    let source = format!("{}.toml", design.name);
    let values = BTreeMap::from([("octave".to_owned(), PadWidths::octave().into())]);
    modules
        .iter()
        .map(|module| {
            let text = renderer.verilog(module, &source, &values)?;
            Ok(SourceFile { path: format!("rtl/{}.v", module.name), text })
        })
        .collect()
}
