//! Splits the output of Verilator, Icarus, Yosys and slang into messages.
//!
//! Each tool prints a summary ("Exiting due to ..."). Those lines are no messages, or every warning would
//! count twice.

use schemars::JsonSchema;
use serde::Serialize;

/// Severity of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The tool continues.
    Warning,
    /// The tool stops.
    Error,
}

/// One message of a tool, with the lines that belong to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Message {
    /// Severity.
    pub severity: Severity,
    /// All text of the message, without a final line break.
    pub text: String,
}

/// Relation of a line to the messages before it.
enum Line {
    Starts(Severity),
    Continues,
    Summary,
}

/// Messages of `verilator`: `%Warning-NAME: file:line:column: ...`.
pub fn verilator(output: &str) -> Vec<Message> {
    collect(output, |line| {
        if line.starts_with("%Error: Exiting due to") || line.starts_with("- ") {
            Line::Summary
        } else if line.starts_with("%Error") {
            Line::Starts(Severity::Error)
        } else if line.starts_with("%Warning") {
            Line::Starts(Severity::Warning)
        } else {
            Line::Continues
        }
    })
}

/// Messages of `iverilog`: `file:line: warning: ...`; a syntax error has no `error:`.
pub fn iverilog(output: &str) -> Vec<Message> {
    collect(output, |line| {
        let text = after_place(line);
        let summary = ["error(s) during", "I give up.", "Elaboration failed"];
        if summary.iter().any(|s| line.contains(s)) {
            Line::Summary
        } else if text.starts_with("warning:") {
            Line::Starts(Severity::Warning)
        } else if ["error", "syntax error", "sorry:", "internal error"].iter().any(|s| text.starts_with(s)) {
            Line::Starts(Severity::Error)
        } else {
            Line::Continues
        }
    })
}

/// Messages of `yosys -q`: `Warning: ...` and `ERROR: ...`, some behind `file:line: `.
pub fn yosys(output: &str) -> Vec<Message> {
    collect(output, |line| {
        let text = after_place(line);
        if text.starts_with("Warnings:") || text.starts_with("End of script") {
            Line::Summary
        } else if text.starts_with("ERROR:") {
            Line::Starts(Severity::Error)
        } else if text.starts_with("Warning:") {
            Line::Starts(Severity::Warning)
        } else {
            Line::Continues
        }
    })
}

/// Messages of `slang`: `file:line:column: error: ...`, each followed by the source, perhaps after a line that names the
/// instance.
pub fn slang(output: &str) -> Vec<Message> {
    collect(output, |line| {
        let text = after_place(line);
        if line.starts_with("Build ") || line.trim_start().starts_with("in instance:") {
            Line::Summary
        } else if text.starts_with("error:") || text.starts_with("fatal error:") {
            Line::Starts(Severity::Error)
        } else if text.starts_with("warning:") {
            Line::Starts(Severity::Warning)
        } else {
            Line::Continues
        }
    })
}

/// The line behind `file:line: `, or the whole line if it does not start so. Yosys also writes
/// a range of columns: `file:12.3-12.9: `.
fn after_place(line: &str) -> &str {
    let behind = line.split_once(':').and_then(|(_, rest)| rest.split_once(": "));
    match behind {
        Some((number, rest)) if number.starts_with(|c: char| c.is_ascii_digit()) => rest.trim_start(),
        _ => line,
    }
}

fn collect(output: &str, classify: impl Fn(&str) -> Line) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    // True while the last message still takes lines: a summary ends it.
    let mut open = false;
    for line in output.lines().filter(|line| !line.trim().is_empty()) {
        match (classify(line), messages.last_mut()) {
            (Line::Starts(severity), _) => {
                messages.push(Message { severity, text: line.to_owned() });
                open = true;
            }
            (Line::Continues, Some(last)) if open => {
                last.text.push('\n');
                last.text.push_str(line);
            }
            (Line::Summary | Line::Continues, _) => open = false,
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use crate::synth::lint::messages::*;

    fn severities(messages: &[Message]) -> Vec<Severity> {
        messages.iter().map(|m| m.severity).collect()
    }

    #[test]
    fn verilator_messages_keep_their_source_lines_and_lose_the_summary() {
        let output = "\
%Warning-WIDTH: t.v:1:97: Operator ASSIGNW expects 3 bits
                        : ... In instance meshkv_mesh
    1 | wire [2:0] e=d;
      |             ^
%Error-PINMISSING: t.v:3:1: Cell has missing pin: 'x'
%Error: t.v:4:1: syntax error, unexpected end
%Error: Exiting due to 2 error(s), 1 warning(s)
        ... See the manual
";
        let messages = verilator(output);
        assert_eq!(severities(&messages), [Severity::Warning, Severity::Error, Severity::Error]);
        assert_eq!(messages[0].text.lines().count(), 4);
        assert_eq!(messages[2].text, "%Error: t.v:4:1: syntax error, unexpected end");
    }

    #[test]
    fn icarus_messages_are_told_from_their_continuations() {
        let output = "\
t2.v:1: warning: implicit definition of wire 'q'.
t.v:1: error: 'meshkv_mesh' has already been declared in this scope.
t2.v:1:      : It was declared here as a module.
t.v:9: syntax error
t.v:9: error: malformed statement
2 error(s) during elaboration.
I give up.
";
        let messages = iverilog(output);
        let expected = [Severity::Warning, Severity::Error, Severity::Error, Severity::Error];
        assert_eq!(severities(&messages), expected);
        assert!(messages[1].text.ends_with("declared here as a module."));
    }

    #[test]
    fn yosys_messages_with_and_without_a_place_are_counted() {
        let output = "\
t2.v:1: Warning: Identifier `\\q' is implicitly declared.
t2.v:1.88-1.89: Warning: Range select out of bounds
Warning: Wire meshkv_mesh.\\x is used but has no driver.
Warning: found logic loop in module a:
    cell $and$1
ERROR: Found 1 problems in 'check -assert'.
";
        let messages = yosys(output);
        assert_eq!(messages.len(), 5);
        assert_eq!(messages.iter().filter(|m| m.severity == Severity::Error).count(), 1);
        assert!(messages[3].text.ends_with("cell $and$1"));
    }

    #[test]
    fn slang_messages_keep_their_notes_and_lose_the_summary() {
        let output = "\
  in instance: meshkv_top.u_core
rtl/pad/meshkv_pad.v:271:69: error: identifier 'rested' used before its declaration
    wire starts = idle & rested;
                         ^~~~~~
rtl/pad/meshkv_pad.v:472:27: note: declared here
    wire rested = 1'b1;
         ^
  in instance: meshkv_top.u_front
a.v:3:4: warning: shift count of '2' overflows 2-bit operand [-Wshift-count-overflow]
    a >> 2
      ^ ~

Build failed: 1 error, 1 warning
";
        let messages = slang(output);
        assert_eq!(severities(&messages), [Severity::Error, Severity::Warning]);
        assert!(messages[0].text.ends_with("         ^") && messages[1].text.ends_with("^ ~"));
        assert_eq!(slang("Build succeeded: 0 errors, 0 warnings\n"), []);
    }

    #[test]
    fn silence_is_no_message() {
        for parse in [verilator, iverilog, yosys, slang] {
            assert_eq!(parse("\n"), []);
        }
    }
}
