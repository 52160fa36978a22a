//! Renders templates and values to Verilog; a missing value is an error.

use crate::emit::rtl::instance::Instance;
use crate::emit::rtl::module::{Dir, ModuleSpec};
use anyhow::{Context as _, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use tera::{Context, Tera};

/// A port as the header template prints it.
#[derive(Serialize)]
struct PortLine {
    decl: String,
    doc: &'static str,
    group: &'static str,
}

/// Formats ports with ranges and names aligned, as in code written by hand.
fn port_lines(module: &ModuleSpec) -> Vec<PortLine> {
    let range = |expr: &str| match expr.parse::<u32>() {
        Ok(1) => String::new(),
        Ok(n) => format!("[{}:0]", n - 1),
        Err(_) => format!("[{expr}-1:0]"),
    };
    let ranges: Vec<String> = module.ports.iter().map(|p| range(&p.width.expr)).collect();
    let range_width = ranges.iter().map(String::len).max().unwrap_or(0);
    module
        .ports
        .iter()
        .zip(ranges)
        .map(|(p, range)| {
            let dir = match p.dir {
                Dir::Input => "input  wire",
                Dir::Output => "output wire",
            };
            let gap = if range_width > 0 { " " } else { "" };
            let decl = format!("{dir}{gap}{range:range_width$} {}", p.name);
            PortLine { decl, doc: p.doc, group: p.group }
        })
        .collect()
}

/// Templates of modules, by name.
pub(super) struct Renderer {
    tera: Tera,
}

impl Renderer {
    /// Makes a renderer whose templates may instantiate `modules`.
    pub(super) fn new(templates: &Tera, modules: Vec<ModuleSpec>) -> Renderer {
        let mut tera = templates.clone();
        tera.register_function("instance", Instance { modules });
        Renderer { tera }
    }

    /// Renders one Verilog file: header from `module`, body from the template of the same block and name.
    /// `values` are the names the body may use.
    pub(super) fn verilog(
        &self,
        module: &ModuleSpec,
        source: &str,
        values: &BTreeMap<String, tera::Value>,
    ) -> Result<String> {
        let name = format!("{}/{}.v", module.block.name(), module.name);
        let mut context = Context::from_serialize(values)?;
        let body = self.tera.render(&name, &context).with_context(|| format!("template {name}"))?;
        context.insert("module", module);
        context.insert("ports", &port_lines(module));
        context.insert("source", source);
        context.insert("body", body.trim_end());
        let text = self.tera.render("module.v", &context).with_context(|| format!("header of {name}"))?;
        Ok(text.trim_start().to_owned())
    }
}
