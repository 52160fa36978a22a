//! The function `instance` of the templates: instances of modules.
//!
//! `instance(module="meshkv_x", name="u_x")` connects every parameter and every port of `meshkv_x` to the object of
//! the same name in the scope. Exceptions are listed, one a line: `params="WIDTH=BUS_WIDTH;..."`,
//! `ports="s_valid=a & b;..."`. With `each="t"` the other ports are the t-th parts of packed ones.
//! A parameter set to nothing (`TREE=`) keeps its default. So a new port of a module changes no template that only
//! passes it through.

use crate::emit::rtl::module::ModuleSpec;
use std::collections::HashMap;
use tera::{Function, Result, Value};

/// Ports that all instances share.
const SHARED: [&str; 4] = ["clk", "rst", "pe_clk", "pe_rst"];

/// The function `instance` of the templates.
pub(super) struct Instance {
    /// Every module of the design.
    pub(super) modules: Vec<ModuleSpec>,
}

impl Function for Instance {
    fn call(&self, args: &HashMap<String, Value>) -> Result<Value> {
        let text = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or_default();
        let module = text("module");
        let known = self.modules.iter().find(|m| m.name == module);
        let module = known.ok_or_else(|| tera::Error::msg(format!("no module {module}")))?;
        let indent = args.get("indent").and_then(Value::as_u64).unwrap_or(4) as usize;
        let (params, ports) = (listed(text("params"))?, listed(text("ports"))?);
        if let Some(name) = params.keys().find(|n| !module.params.iter().any(|p| p.name == **n)) {
            return Err(tera::Error::msg(format!("{} has no parameter {name}", module.name)));
        }
        if let Some(name) = ports.keys().find(|n| !module.ports.iter().any(|p| p.name == **n)) {
            return Err(tera::Error::msg(format!("{} has no port {name}", module.name)));
        }
        let each = text("each");
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
            .map(|p| (p.name.to_owned(), (*params.get(p.name).unwrap_or(&p.name)).to_owned()))
            .filter(|(_, value)| !value.is_empty());
        let of_ports = module.ports.iter().map(|p| (p.name.clone(), port(&p.name, &p.width.expr)));
        let pad = " ".repeat(indent);
        let params = connections(&pad, &of_params.collect::<Vec<_>>());
        let ports = connections(&pad, &of_ports.collect::<Vec<_>>());
        let params = if params.is_empty() { String::new() } else { format!(" #(\n{params}\n{pad})") };
        Ok(format!("{}{params} {} (\n{ports}\n{pad});", module.name, text("name")).into())
    }

    fn is_safe(&self) -> bool {
        true
    }
}

/// Splits `a=b;c=d` into pairs.
fn listed(text: &str) -> Result<HashMap<&str, &str>> {
    let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| part.split_once('=').ok_or_else(|| tera::Error::msg(format!("no = in {part}"))))
        .collect()
}

/// Named connections, a line each, aligned.
fn connections(pad: &str, pairs: &[(String, String)]) -> String {
    let width = pairs.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = pairs.iter().map(|(name, to)| format!("{pad}    .{name:width$}({to})"));
    lines.collect::<Vec<_>>().join(",\n")
}
