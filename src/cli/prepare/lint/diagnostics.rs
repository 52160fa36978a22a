//! Messages of tools with the place and the name that they have in their text.

use crate::cli::output::diagnostics::Diagnostic;
use crate::config;
use crate::synth::lint::messages::{Message, Severity};

/// Messages of one tool, which read files of `dir` or of a folder that is gone.
pub(super) fn of(tool: &str, messages: &[Message], dir: Option<&str>) -> Vec<Diagnostic> {
    messages.iter().map(|message| one(tool, message, dir)).collect()
}

fn one(tool: &str, message: &Message, dir: Option<&str>) -> Diagnostic {
    let first = message.text.lines().next().unwrap_or_default();
    let found = place(first);
    let file = found.map_or("", |(file, ..)| file);
    let file =
        dir.filter(|_| !file.is_empty()).map_or_else(|| file.to_owned(), |dir| format!("{dir}/{file}"));
    let severity = match message.severity {
        Severity::Error => config::Severity::Error,
        Severity::Warning => config::Severity::Warning,
    };
    Diagnostic {
        file,
        line: found.map(|(_, line, _)| line),
        column: found.and_then(|(.., column)| column),
        key: None,
        rule: name(first).map_or_else(|| tool.to_owned(), |name| format!("{tool}/{name}")),
        severity,
        message: message.text.clone(),
        help: None,
        advice: Vec::new(),
        accepted: None,
    }
}

/// File, line and column of the first `file:line` of a text. Yosys writes `file:line.column-line.column`.
fn place(text: &str) -> Option<(&str, usize, Option<usize>)> {
    text.match_indices(':').find_map(|(at, _)| {
        let file = text[..at].rsplit([' ', '\'', '"', '(']).next()?;
        let mut parts = text[at + 1..].split([':', '.', '-', ' ']);
        let line = parts.next()?.parse().ok()?;
        let named = file.rsplit('/').next()?.contains('.');
        named.then(|| (file, line, parts.next().and_then(|column| column.parse().ok())))
    })
}

/// Name of a message: `%Warning-NAME` of Verilator, `[-Wname]` of slang.
fn name(text: &str) -> Option<&str> {
    let verilator = ["%Warning-", "%Error-"].iter().find_map(|start| text.strip_prefix(start));
    let slang = || text.rsplit_once("[-W").and_then(|(_, rest)| rest.strip_suffix(']'));
    verilator.and_then(|rest| rest.split(':').next()).or_else(slang)
}

#[cfg(test)]
mod tests {
    use crate::cli::prepare::lint::diagnostics::*;

    #[test]
    fn places_and_names_of_every_tool_are_found() {
        let of = |tool, text: &str| {
            let message = Message { severity: Severity::Warning, text: text.to_owned() };
            let found = one(tool, &message, Some("out"));
            (found.file, found.line, found.column, found.rule)
        };
        let at = |file: &str, line, column, rule: &str| (file.to_owned(), line, column, rule.to_owned());
        for (tool, text, expected) in [
            (
                "verilator",
                "%Warning-WIDTH: rtl/t.v:1:97: Operator\n more",
                at("out/rtl/t.v", Some(1), Some(97), "verilator/WIDTH"),
            ),
            ("iverilog", "rtl/t.v:3: warning: implicit", at("out/rtl/t.v", Some(3), None, "iverilog")),
            ("yosys", "rtl/t.v:12.3-12.9: Warning: x", at("out/rtl/t.v", Some(12), Some(3), "yosys")),
            ("yosys", "Warning: Wire m.\\x is used", at("", None, None, "yosys")),
            ("slang", "a.v:3:4: warning: shift [-Wshift]", at("out/a.v", Some(3), Some(4), "slang/shift")),
        ] {
            assert_eq!(of(tool, text), expected, "{text}");
        }
    }
}
