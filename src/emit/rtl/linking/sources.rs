//! Verilog from templates and values, one module a file.

use crate::design::{Array, Design};
use crate::emit::rtl::board;
use crate::emit::rtl::linking::link::{link, Module};
use crate::emit::rtl::linking::render::Renderer;
use crate::emit::rtl::pad::row::Rows;
use crate::emit::rtl::spec::module::ModuleSpec;
use crate::emit::rtl::spec::names::TOP;
use crate::emit::source_file::SourceFile;
use anyhow::Result;

/// The array of a tile.
const ARRAY: &str = "meshkv_pad_array";

/// Sources and headers of all modules of a design, each module after those it instantiates.
///
/// # Errors
/// If a template does not render, which is an error of this crate.
pub(in crate::emit) fn emit(design: &Design) -> Result<(Vec<ModuleSpec>, Vec<SourceFile>)> {
    let all = linked(design, &[&[TOP], board::roots(design)].concat())?;
    let files = all.iter().map(|m| SourceFile { path: m.spec.path(), text: m.text.clone() }).collect();
    Ok((all.into_iter().map(|m| m.spec).collect(), files))
}

/// Every module of the design, each after those it instantiates: the top comes last.
///
/// # Panics
/// If a template does not render, which is an error of this crate.
pub fn modules(design: &Design) -> Vec<ModuleSpec> {
    emit(design).expect("templates of this program render").0
}

/// Sources of one module and of all it instantiates.
///
/// # Errors
/// If there is no module of this name.
pub fn emit_block(design: &Design, name: &str) -> Result<Vec<SourceFile>> {
    Ok(linked(design, &[name])?.into_iter().map(source).collect())
}

/// The array of a tile alone, with `slots` contexts a row, and all it instantiates: for tests and benchmarks.
///
/// # Errors
/// If a template does not render, which is an error of this crate.
pub fn array(design: &Design, slots: u32) -> Result<(Vec<ModuleSpec>, Vec<SourceFile>)> {
    let all = link(&Renderer::new(design, &Rows::of(design, slots))?, &[ARRAY])?;
    Ok(all.into_iter().map(|m| (m.spec.clone(), source(m))).unzip())
}

/// The modules of `roots` and of all that they instantiate.
fn linked(design: &Design, roots: &[&str]) -> Result<Vec<Module>> {
    link(&Renderer::new(design, &Rows::of(design, Array::of(design).row_slots()))?, roots)
}

fn source(module: Module) -> SourceFile {
    SourceFile { path: module.spec.path(), text: module.text }
}
