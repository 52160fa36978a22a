//! Headers of emitted modules: parameters and ports, a line each.

use anyhow::{Context, Result};

/// A port: its range and its name.
pub struct Port<'t> {
    /// True of an output.
    pub output: bool,
    /// Its range with brackets; empty if it has one bit.
    pub range: &'t str,
    /// Its name.
    pub name: &'t str,
}

/// Header of an emitted module.
pub struct Header<'t> {
    /// From its name to the end of its parameters; empty if it has none.
    pub parameters: &'t str,
    /// All ports, in their order.
    pub ports: Vec<Port<'t>>,
}

impl<'t> Header<'t> {
    /// Reads the header of a module.
    ///
    /// # Errors
    /// If the text has no header of this module.
    pub fn read(module: &str, text: &'t str) -> Result<Header<'t>> {
        let (_, header) = text.split_once(&format!("\nmodule {module} ")).context("it has no header")?;
        let (header, _) = header.split_once("\n);").context("its header does not end")?;
        let (parameters, ports) = match header.split_once("\n) (") {
            Some((parameters, ports)) => (parameters.trim_start_matches("#("), ports),
            None => ("", header.trim_start_matches('(')),
        };
        let ports = ports.lines().filter_map(port).collect();
        Ok(Header { parameters, ports })
    }

    /// Names of its parameters.
    pub fn names(&self) -> impl Iterator<Item = &'t str> {
        self.parameters.lines().filter_map(|line| {
            let (before, _) = line.trim().strip_prefix("parameter ")?.split_once('=')?;
            before.split_whitespace().next_back()
        })
    }

    /// Its outputs, or its inputs.
    pub fn ports(&self, output: bool) -> impl Iterator<Item = &Port<'t>> {
        self.ports.iter().filter(move |port| port.output == output)
    }
}

/// The port of a line of a header; none of a comment or a blank line.
fn port(line: &str) -> Option<Port<'_>> {
    let code = line.split("//").next()?.trim().trim_end_matches(',').trim_end();
    let (direction, rest) = code.split_once(' ')?;
    let rest = rest.trim_start().strip_prefix("wire")?.trim();
    let (range, name) = rest.rsplit_once(' ').map_or(("", rest), |(range, name)| (range.trim(), name));
    matches!(direction, "input" | "output").then(|| Port { output: direction == "output", range, name })
}
