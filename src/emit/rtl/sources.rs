//! Verilog from modules, templates and values, one module a file.

use super::module::ModuleSpec;
use super::modules::modules;
use super::pad::params::PadParams;
use super::pad::row_params::PadRowParams;
use super::render::Renderer;
use super::values::values;
use super::{board, common, device, fabric, mare, network, pad, reduce, takv};
use crate::design::Design;
use crate::emit::source_file::SourceFile;
use crate::emit::templates;
use anyhow::Result;
use std::sync::LazyLock;
use tera::Tera;

/// Header, parameters and ports of every module.
const MODULE: (&str, &str) = ("module.v", include_str!("../../../templates/rtl/module.v.tera"));

/// Bodies of all modules, block by block.
const TEMPLATES: [&[(&str, &str)]; 9] = [
    common::TEMPLATES,
    network::TEMPLATES,
    mare::TEMPLATES,
    takv::TEMPLATES,
    reduce::TEMPLATES,
    pad::TEMPLATES,
    fabric::TEMPLATES,
    board::TEMPLATES,
    device::TEMPLATES,
];

/// Sources of all modules of a design.
pub(in crate::emit) fn emit(design: &Design) -> Result<Vec<SourceFile>> {
    let modules = modules(design);
    render(design, &PadRowParams::of(design, PadParams::of(design).slots()), &modules, modules.clone())
}

/// Sources of one module and of all it instantiates.
///
/// # Panics
/// If there is no module of this name.
pub fn emit_block(design: &Design, name: &str) -> Result<Vec<SourceFile>> {
    let known = modules(design);
    let mut wanted = vec![name];
    for at in 0.. {
        let Some(name) = wanted.get(at) else { break };
        let module = known.iter().find(|m| m.name == *name).unwrap_or_else(|| panic!("no module {name}"));
        let new: Vec<_> = module.instances.iter().copied().filter(|i| !wanted.contains(i)).collect();
        wanted.extend(new);
    }
    let parts: Vec<_> = known.iter().filter(|m| wanted.contains(&m.name)).cloned().collect();
    render(design, &PadRowParams::of(design, PadParams::of(design).slots()), &parts, known)
}

/// Renders `parts`, whose bodies may instantiate `known` modules; `row` sets the rows of PaD.
pub(super) fn render(
    design: &Design,
    row: &PadRowParams,
    parts: &[ModuleSpec],
    known: Vec<ModuleSpec>,
) -> Result<Vec<SourceFile>> {
    static PARSED: LazyLock<Tera> =
        LazyLock::new(|| templates::parse(TEMPLATES.concat().into_iter().chain([MODULE])));
    let renderer = Renderer::new(&PARSED, known);
    let source = format!("{}.toml", design.name);
    let values = values(design, row)?;
    parts
        .iter()
        .map(|module| {
            let text = renderer.verilog(module, &source, &values)?;
            Ok(SourceFile { path: module.path(), text })
        })
        .collect()
}
