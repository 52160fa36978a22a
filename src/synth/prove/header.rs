//! Headers of emitted modules: parameters and ports, a line each.

use anyhow::{Context, Result};

/// A port: its range and its name.
pub(super) struct Port<'t> {
    pub(super) output: bool,
    pub(super) range: &'t str,
    pub(super) name: &'t str,
}

/// Header of an emitted module.
pub(super) struct Header<'t> {
    /// From its name to the end of its parameters; empty if it has none.
    pub(super) parameters: &'t str,
    ports: Vec<Port<'t>>,
}

impl<'t> Header<'t> {
    /// Reads the header of a module.
    ///
    /// # Errors
    /// If the text has no header of this module.
    pub(super) fn read(module: &str, text: &'t str) -> Result<Header<'t>> {
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
    pub(super) fn names(&self) -> impl Iterator<Item = &'t str> {
        self.parameters.lines().filter_map(|line| {
            let (before, _) = line.trim().strip_prefix("parameter ")?.split_once('=')?;
            before.split_whitespace().next_back()
        })
    }

    /// Its outputs, or its inputs.
    pub(super) fn ports(&self, output: bool) -> impl Iterator<Item = &Port<'t>> {
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

/// A module with the header of another: its outputs are registers, and all its inputs are kept. In a comparison of two
/// circuits by their registers it stands for any module between these ports, as long as both have the same.
///
/// # Errors
/// If the text has no header of this module.
pub fn stub(module: &str, text: &str) -> Result<String> {
    let header = Header::read(module, text)?;
    let (head, _) = text.split_once("\n);").context("its header does not end")?;
    let mut stub = format!("{head}\n);\n");
    let port = header.ports(false).next().context("it has no input")?;
    let first = if port.range.is_empty() { port.name.to_owned() } else { format!("{}[0]", port.name) };
    for Port { output, range, name } in &header.ports {
        // An output that kept its value would be no register.
        let next = if *output { format!("stub_{name}_q ^ {first}") } else { (*name).to_owned() };
        stub += &format!(
            "    (* keep *) reg {range} stub_{name}_q;\n    always @(posedge {first}) stub_{name}_q <= {next};\n"
        );
        if *output {
            stub += &format!("    assign {name} = stub_{name}_q;\n");
        }
    }
    Ok(stub + "endmodule\n")
}
