//! Instances of modules, and the wires between them, from the modules' own headers.
//!
//! `instance(module="meshkv_x", name="u_x")` connects every parameter and every port of `meshkv_x` to the object of
//! the same name in the scope. Exceptions are listed, one a line: `params="WIDTH=BUS_WIDTH;..."`,
//! `ports="s_valid=a & b;..."`. With `each="t"` the other ports are the t-th parts of packed ones.
//! A parameter set to nothing (`TREE=`) keeps its default; with `own="all"` so does each that its parent module lacks or
//! has with another value. So a new port of a module changes no template that only passes it through.
//!
//! `wires()` declares the outputs of all modules that are instantiated and that are no ports of the parent module.
//! `of` lists the modules, `but` what is declared by hand, names or `prefix*`; `inputs="too"` adds their inputs.

use crate::emit::rtl::linking::known::Known;
use crate::emit::rtl::linking::marker::Marker;
use crate::emit::rtl::spec::module::{Dir, ModuleSpec};
use anyhow::{bail, Context as _, Result};
use std::collections::HashMap;

/// Ports that all instances share.
const SHARED: [&str; 4] = ["clk", "rst", "pe_clk", "pe_rst"];

/// The instance that replaces a mark in module `parent`.
pub(in crate::emit::rtl) fn instance(marker: &Marker, parent: &ModuleSpec, known: &Known) -> Result<String> {
    let module = known.module(marker.text("module"))?;
    let (params, ports) = (listed(marker.text("params"))?, listed(marker.text("ports"))?);
    if let Some(name) = params.keys().find(|name| module.param(name).is_none()) {
        bail!("{} has no parameter {name}", module.name);
    }
    if let Some(name) = ports.keys().find(|name| module.port(name).is_none()) {
        bail!("{} has no port {name}", module.name);
    }
    let own = !marker.text("own").is_empty();
    let each = marker.text("each");
    let port = |name: &str, width: &str| match ports.get(name) {
        Some(expr) => (*expr).to_owned(),
        None if each.is_empty() || SHARED.contains(&name) => name.to_owned(),
        None if width == "1" => format!("{name}[{each}]"),
        None if width.chars().all(|c| c.is_alphanumeric() || c == '_') => {
            format!("{name}[{each}*{width}+:{width}]")
        }
        None => format!("{name}[{each}*({width})+:{width}]"),
    };
    let of_params = module
        .params
        .iter()
        .filter(|p| !own || parent.param(&p.name).is_some_and(|a| a.literal == p.literal))
        .map(|p| (p.name.as_str(), (*params.get(p.name.as_str()).unwrap_or(&p.name.as_str())).to_owned()))
        .filter(|(_, value)| !value.is_empty());
    let of_ports = module.ports.iter().map(|p| (p.name.as_str(), port(&p.name, &p.width.expr)));
    let pad = " ".repeat(marker.number("indent").unwrap_or(4));
    let params = connections(&pad, &of_params.collect::<Vec<_>>());
    let ports = connections(&pad, &of_ports.collect::<Vec<_>>());
    let params = if params.is_empty() { String::new() } else { format!(" #(\n{params}\n{pad})") };
    Ok(format!("{}{params} {} (\n{ports}\n{pad});", module.name, marker.text("name")))
}

/// The declarations that replace a mark in module `parent`.
pub(in crate::emit::rtl) fn wires(marker: &Marker, parent: &ModuleSpec, known: &Known) -> Result<String> {
    let but: Vec<_> = marker.text("but").split_whitespace().collect();
    let told =
        |name: &str| but.iter().any(|b| b.strip_suffix('*').map_or(*b == name, |p| name.starts_with(p)));
    let too = !marker.text("inputs").is_empty();
    let mut seen: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for instance in marker.named("of", &parent.instances) {
        for port in &known.module(instance)?.ports {
            let name = port.name.as_str();
            let inner = (too || port.dir == Dir::Output) && parent.port(name).is_none();
            if inner && !told(name) && !seen.contains(&name) {
                seen.push(name);
                lines.push(format!("wire {} {name};", port.width.range()).replace("  ", " "));
            }
        }
    }
    Ok(lines.join("\n    "))
}

/// Splits `a=b;c=d` into pairs.
fn listed(text: &str) -> Result<HashMap<&str, &str>> {
    let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| part.split_once('=').with_context(|| format!("no = in {part}"))).collect()
}

/// Named connections, a line each, aligned.
fn connections(pad: &str, pairs: &[(&str, String)]) -> String {
    let width = pairs.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = pairs.iter().map(|(name, to)| format!("{pad}    .{name:width$}({to})"));
    lines.collect::<Vec<_>>().join(",\n")
}
