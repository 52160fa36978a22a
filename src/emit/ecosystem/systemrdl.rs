//! The registers in SystemRDL 2.0, `sw/meshkv_registers.rdl`, beside the C header.

use super::register_map::{arguments, registers};
use crate::design::Design;
use crate::emit::source_file::SourceFile;
use crate::emit::templates::Templates;
use anyhow::{Context as _, Result};
use std::sync::LazyLock;
use tera::Context;

const TEMPLATE: [(&str, &str); 1] =
    [("registers.rdl", include_str!("../../../templates/ecosystem/registers.rdl.tera"))];

pub(super) fn emit(design: &Design) -> Result<SourceFile> {
    static PARSED: LazyLock<Templates> = LazyLock::new(|| Templates::parse(TEMPLATE));
    let mut context = Context::new();
    context.insert("name", &design.name);
    context.insert("arguments", &arguments(design));
    context.insert("registers", &registers(design));
    let text = PARSED.render(TEMPLATE[0].0, &context).context("template registers.rdl")?;
    Ok(SourceFile { path: "sw/meshkv_registers.rdl".to_owned(), text })
}
