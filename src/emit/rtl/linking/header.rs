//! Reads the header of a module of ours, and prints it.
//!
//! A template begins with comments that say what the module is for, then come `` `default_nettype none ``, parameters
//! one a line, and ports one a line with their meaning behind them; a comment above a port opens a bundle. A parameter
//! without a comment above it is one of many modules: [`GLOSSARY`] says what it means. The reader knows this form and
//! no other Verilog.

use crate::emit::rtl::linking::known::Known;
use crate::emit::rtl::linking::marker::Marker;
use crate::emit::rtl::spec::module::{Dir, ModuleSpec, ParamSpec, PortSpec, Width};
use crate::emit::rtl::spec::template::Template;
use anyhow::{bail, ensure, Context as _, Result};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Meanings of the parameters that several modules have, by name.
static GLOSSARY: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../../templates/rtl/parameters.toml")).expect("checked by a test")
});

/// Attribute of a module whose instances keep their hierarchy.
const KEPT: &str = "(* keep_hierarchy = \"yes\" *)";

/// Reads the header of a rendered template; `instances` are the modules that it instantiates, all of which are known.
/// The second part of the result is the text after the header.
///
/// # Errors
/// If the header has another form.
pub(in crate::emit::rtl) fn read<'a>(
    template: &Template,
    text: &'a str,
    instances: Vec<&'static str>,
    known: &Known,
) -> Result<(ModuleSpec, &'a str)> {
    let mut module = ModuleSpec {
        block: template.block,
        name: template.module,
        summary: Vec::new(),
        params: Vec::new(),
        ports: Vec::new(),
        instances,
        kept: false,
    };
    let mut part = Part::Summary;
    let mut comment = String::new();
    let mut comma = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let line = line.trim();
        match (&part, line) {
            (_, "") => {}
            (Part::Summary, KEPT) => module.kept = true,
            (Part::Summary, "`default_nettype none") => {}
            (Part::Summary, _) if line.starts_with("//") => {
                module.summary.push(line.trim_start_matches("//").trim_start().to_owned());
            }
            (Part::Summary, _) => part = opened(line, module.name)?,
            (Part::Params, ") (") => part = Part::Ports,
            (Part::Ports, ");") => {
                ensure!(!comma, "a comma stands behind the last port of {}", module.name);
                return Ok((module, &text[at..]));
            }
            (_, _) if line.starts_with("//") => comment = line.trim_start_matches("//").trim().to_owned(),
            (Part::Params, _) => match Marker::read(line)? {
                Some(marker) => add_parameters(&mut module, &marker, known)?,
                None => module.params.push(parameter(line, std::mem::take(&mut comment))?),
            },
            (Part::Ports, _) => {
                ensure!(comma || module.ports.is_empty(), "no comma stands before \"{line}\"");
                comma = declaration(line).0.ends_with(',');
                module.ports.push(port(line, std::mem::take(&mut comment), &module.params)?);
            }
        }
    }
    bail!("the header of {} has no end", template.module)
}

/// Parts of a header, in order.
enum Part {
    Summary,
    Params,
    Ports,
}

/// The part that the line with the module's name opens.
fn opened(line: &str, name: &str) -> Result<Part> {
    match line.strip_prefix("module ").and_then(|rest| rest.strip_prefix(name)) {
        Some(" #(") => Ok(Part::Params),
        Some(" (") => Ok(Part::Ports),
        _ => bail!("\"{line}\" is not the beginning of module {name}"),
    }
}

/// `parameter [RANGE] NAME = literal,`
fn parameter(line: &str, comment: String) -> Result<ParamSpec> {
    let of = || format!("\"{line}\" is no parameter");
    let rest = line.strip_prefix("parameter ").with_context(of)?;
    let (left, literal) = rest.trim_end_matches(',').split_once(" = ").with_context(of)?;
    let (range, name) = left.trim().rsplit_once(' ').unwrap_or(("", left.trim()));
    let doc = if comment.is_empty() {
        GLOSSARY.get(name).with_context(|| format!("no comment says what {name} means"))?.clone()
    } else {
        comment
    };
    Ok(ParamSpec {
        name: name.to_owned(),
        range: range.trim().to_owned(),
        literal: literal.trim().to_owned(),
        doc,
    })
}

/// The declaration of a line, and its meaning.
fn declaration(line: &str) -> (&str, &str) {
    let (declaration, doc) = line.split_once("//").unwrap_or((line, ""));
    (declaration.trim(), doc.trim())
}

/// `input  wire [WIDTH-1:0] name,  // meaning`
fn port(line: &str, group: String, params: &[ParamSpec]) -> Result<PortSpec> {
    let of = || format!("\"{line}\" is no port");
    let (declaration, doc) = declaration(line);
    let declaration = declaration.trim_end_matches(',');
    let (dir, rest) = match declaration.split_once(" wire").with_context(of)? {
        (dir, rest) if dir.trim() == "input" => (Dir::Input, rest),
        (dir, rest) if dir.trim() == "output" => (Dir::Output, rest),
        _ => bail!(of()),
    };
    let (range, name) = rest.trim().rsplit_once(' ').unwrap_or(("", rest.trim()));
    let expr = match range.trim().trim_start_matches('[').trim_end_matches(":0]") {
        "" => "1".to_owned(),
        top => match (top.parse::<u32>(), top.strip_suffix("-1")) {
            (Ok(top), _) => (top + 1).to_string(),
            (_, Some(width)) => width.to_owned(),
            _ => bail!(of()),
        },
    };
    let width = Width::of(&expr, params).with_context(of)?;
    Ok(PortSpec { dir, name: name.to_owned(), width, doc: doc.to_owned(), group })
}

/// Adds the parameters of the modules that are instantiated, each once, but for those that the module sets itself.
fn add_parameters(module: &mut ModuleSpec, marker: &Marker, known: &Known) -> Result<()> {
    let set: Vec<_> = marker.text("but").split_whitespace().collect();
    for instance in marker.named("of", &module.instances) {
        for param in &known.module(instance)?.params {
            if module.param(&param.name).is_none() && !set.contains(&param.name.as_str()) {
                module.params.push(param.clone());
            }
        }
    }
    Ok(())
}

/// The header as it is emitted; `source` is the file that the design comes from.
pub(in crate::emit::rtl) fn print(module: &ModuleSpec, source: &str) -> String {
    let mut lines = vec![
        format!("// Generated by meshkv from {source}; do not edit."),
        format!("// Regenerate with: meshkv generate {source}"),
        "//".to_owned(),
    ];
    lines.extend(module.summary.iter().map(|line| format!("// {line}").trim_end().to_owned()));
    lines.push("`default_nettype none".to_owned());
    if module.kept {
        lines.push(KEPT.to_owned());
    }
    let opens = if module.params.is_empty() { "(" } else { "#(" };
    lines.push(format!("module {} {opens}", module.name));
    for (i, param) in module.params.iter().enumerate() {
        let comma = if i + 1 < module.params.len() { "," } else { "" };
        let range = if param.range.is_empty() { String::new() } else { format!("{} ", param.range) };
        lines.push(format!("    // {}", param.doc));
        lines.push(format!("    parameter {range}{} = {}{comma}", param.name, param.literal));
    }
    if !module.params.is_empty() {
        lines.push(") (".to_owned());
    }
    lines.extend(port_lines(module));
    lines.push(");".to_owned());
    lines.join("\n") + "\n"
}

/// Ports with ranges and names aligned, as in code written by hand.
fn port_lines(module: &ModuleSpec) -> Vec<String> {
    let ranges: Vec<String> = module.ports.iter().map(|p| p.width.range()).collect();
    let widest = ranges.iter().map(String::len).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (i, (port, range)) in module.ports.iter().zip(&ranges).enumerate() {
        if !port.group.is_empty() {
            if i > 0 {
                lines.push(String::new());
            }
            lines.push(format!("    // {}", port.group));
        }
        let dir = match port.dir {
            Dir::Input => "input  wire",
            Dir::Output => "output wire",
        };
        let gap = if widest > 0 { " " } else { "" };
        let comma = if i + 1 < module.ports.len() { "," } else { "" };
        let doc = if port.doc.is_empty() { String::new() } else { format!("  // {}", port.doc) };
        lines.push(format!("    {dir}{gap}{range:widest$} {}{comma}{doc}", port.name));
    }
    lines
}

#[cfg(test)]
mod tests {
    use crate::emit::rtl::linking::header::*;
    use crate::emit::rtl::spec::block::Block;

    const TEMPLATE: Template =
        Template { block: Block::Common, module: "meshkv_x", path: "common/meshkv_x.v", text: "" };

    const HEADER: &str = "\
// A store of words.
//
// Never loses one.
`default_nettype none
module meshkv_x #(
    // Words that it holds.
    parameter DEPTH = 8,
    parameter [15:0] VCS = 16'b0000000000000001
) (
    input  wire         clk,

    // From the link.
    input  wire [DEPTH/2*3-1:0] rx_data,  // Words of {a, b}.
    output wire [4:0] rx_credit
);
    assign rx_credit = 5'd0;
";

    fn read_text(text: &str) -> Result<(ModuleSpec, &str)> {
        read(&TEMPLATE, text, Vec::new(), &Known::default())
    }

    #[test]
    fn a_header_is_read_into_summary_parameters_and_ports_and_the_body_follows() {
        let (module, body) = read_text(HEADER).unwrap();
        assert_eq!(module.summary, ["A store of words.", "", "Never loses one."]);
        let params: Vec<_> = module.params.iter().map(|p| (p.name.as_str(), p.literal.as_str())).collect();
        assert_eq!(params, [("DEPTH", "8"), ("VCS", "16'b0000000000000001")]);
        assert_eq!(module.params[0].doc, "Words that it holds.");
        assert_eq!(Some(&module.params[1].doc), GLOSSARY.get("VCS"), "of many modules");
        let ports: Vec<_> = module.ports.iter().map(|p| (p.name.as_str(), p.width.bits)).collect();
        assert_eq!(ports, [("clk", 1), ("rx_data", 12), ("rx_credit", 5)]);
        assert_eq!(module.ports[1].group, "From the link.");
        assert_eq!(module.ports[1].doc, "Words of {a, b}.");
        assert_eq!(body, "    assign rx_credit = 5'd0;\n");
    }

    #[test]
    fn what_is_printed_reads_as_the_same_module() {
        let (module, _) = read_text(HEADER).unwrap();
        let printed = print(&module, "x.toml");
        let (_, rest) = printed.split_once("//\n").unwrap();
        assert_eq!(read_text(rest).unwrap().0, module);
    }

    #[test]
    fn another_form_is_refused_and_the_line_is_named() {
        for (from, to, named) in [
            ("    parameter DEPTH = 8,", "    parameter DEPTH,", "parameter DEPTH,"),
            ("    // Words that it holds.\n    parameter DEPTH", "    parameter UNHEARD_OF", "UNHEARD_OF"),
            ("output wire [4:0]", "output reg [4:0]", "output reg"),
            ("DEPTH/2*3", "HEIGHT", "HEIGHT"),
            ("module meshkv_x #(", "module meshkv_y #(", "meshkv_y"),
            ("rx_credit\n", "rx_credit,\n", "behind the last port"),
            ("clk,\n", "clk\n", "no comma stands before"),
            (");\n    assign rx_credit = 5'd0;\n", "", "no end"),
        ] {
            let error = read_text(&HEADER.replace(from, to)).expect_err(to);
            assert!(format!("{error:#}").contains(named), "{error:#}");
        }
    }

    #[test]
    fn the_glossary_parses_and_each_meaning_is_a_sentence() {
        for (name, meaning) in GLOSSARY.iter() {
            assert!(meaning.ends_with('.') && name.to_uppercase() == *name, "{name}: {meaning}");
        }
    }
}
