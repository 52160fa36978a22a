//! The part of the documentation page that describes modules: parameters, ports, instances.

use super::doc_page::cell;
use super::module::{Dir, ModuleSpec, ParamSpec, PortSpec};
use serde::Serialize;

/// What the page says of one module.
#[derive(Serialize)]
pub(super) struct ModuleSection {
    name: &'static str,
    summary: String,
    params: Vec<ParamRow>,
    ports: Vec<PortRow>,
}

#[derive(Serialize)]
struct ParamRow {
    name: &'static str,
    value: String,
    doc: String,
}

#[derive(Serialize)]
struct PortRow {
    name: String,
    dir: Dir,
    bits: u32,
    /// Empty where it would only repeat `bits`.
    expr: String,
    doc: String,
    group: String,
}

/// The section of one module.
pub(super) fn module_section(module: &ModuleSpec) -> ModuleSection {
    let param = |p: &ParamSpec| ParamRow { name: p.name, value: p.literal.clone(), doc: cell(p.doc) };
    ModuleSection {
        name: module.name,
        summary: module.summary.join("\n").trim().to_owned(),
        params: module.params.iter().map(param).collect(),
        ports: module.ports.iter().map(port_row).collect(),
    }
}

fn port_row(port: &PortSpec) -> PortRow {
    let repeats = port.width.expr == port.width.bits.to_string();
    PortRow {
        name: port.name.clone(),
        dir: port.dir,
        bits: port.width.bits,
        expr: if repeats { String::new() } else { cell(&port.width.expr) },
        doc: cell(if port.doc.is_empty() { usual_meaning(&port.name) } else { port.doc }),
        group: cell(port.group),
    }
}

/// What a name means wherever it stands: the sources say it once, a table is read by itself.
fn usual_meaning(port: &str) -> &'static str {
    match port {
        "clk" => return "Clock.",
        "rst" => return "Reset: synchronous, active high.",
        _ if !(port.starts_with("rx_") || port.starts_with("tx_")) => return "",
        _ => {}
    }
    match port.rsplit('_').next() {
        Some("valid") => "One-hot: the virtual channel of the flit.",
        Some("dest") => "Destination of the flit.",
        Some("head") => "Header fields of the flit.",
        Some("data") => "Payload of the flit.",
        Some("credit") => "One pulse a slot freed, one bit a virtual channel.",
        _ => "",
    }
}

/// What instantiates what, drawn from the top; a module is drawn where it is used.
pub(super) fn instance_tree(modules: &[ModuleSpec]) -> String {
    let mut lines = Vec::new();
    if let Some(top) = modules.len().checked_sub(1) {
        lines.push(modules[top].name.to_owned());
        draw_below(modules, top, "", &mut lines);
    }
    lines.join("\n")
}

fn draw_below(modules: &[ModuleSpec], parent: usize, indent: &str, lines: &mut Vec<String>) {
    let children = &modules[parent].instances;
    for (i, child) in children.iter().enumerate() {
        let (branch, below) =
            if i + 1 < children.len() { ("├── ", "│   ") } else { ("└── ", "    ") };
        lines.push(format!("{indent}{branch}{child}"));
        // Only earlier modules are looked up, so that the drawing always ends.
        if let Some(index) = modules[..parent].iter().position(|m| m.name == *child) {
            draw_below(modules, index, &format!("{indent}{below}"), lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::module::ModuleBuilder;

    #[test]
    fn instance_tree_starts_at_the_top() {
        let modules = [
            ModuleBuilder::new("meshkv_fifo", &[]).build(),
            ModuleBuilder::new("meshkv_router", &[]).instances(&["meshkv_fifo"]).build(),
            ModuleBuilder::new("meshkv_mesh", &[]).instances(&["meshkv_fifo", "meshkv_router"]).build(),
        ];
        let tree = "meshkv_mesh\n├── meshkv_fifo\n└── meshkv_router\n    └── meshkv_fifo";
        assert_eq!(instance_tree(&modules), tree);
    }

    #[test]
    fn usual_names_are_explained_only_where_they_are_usual() {
        assert_eq!(usual_meaning("rx_n_data"), "Payload of the flit.");
        assert_eq!(usual_meaning("stat_data"), "");
    }
}
