//! Two copies of a module beside each other: a reset brings both to the same, whatever each was in.
//!
//! Every register of either copy begins with any value, and both have the same inputs. Once the reset has been held,
//! what they show must be equal in every cycle, whatever comes: so nothing of the time before is left, of
//! transactions under way among them. It reads headers of emitted modules, and knows no tools.

use super::header::{Header, Port};
use anyhow::Result;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Name of the module that holds both copies, and label of its assertion.
pub(super) const PAIR: &str = "meshkv_pair";
pub(super) const LABEL: &str = "reset";

/// What labels of assertions begin with that only help to prove others.
pub(super) const LEMMA: &str = "lemma_";

/// How two copies of a module are compared.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pair {
    /// Cycles for which the reset is held.
    cycles: Option<u32>,
    /// Inputs that reset it; `rst` if there are none.
    resets: Vec<String>,
    /// Those of them that reset while they are low.
    active_low: Vec<String>,
    /// Outputs that count only under a condition on outputs and inputs; where the condition is empty, never.
    data: BTreeMap<String, String>,
    /// What neighbours do, on outputs and inputs.
    promises: Vec<String>,
    /// The same where it needs a state: text of a module, on outputs and inputs.
    environment: String,
    /// Registers that no reset clears and that begin with their initial values.
    pub(super) keeps: Vec<String>,
    /// Registers that are equal in both copies, to help the proof: the range of each, as its declaration has it. One in a
    /// module within has the name of its instance and a dot before it. Those that a form of the module lacks are left out.
    same: BTreeMap<String, String>,
    /// Such registers that are equal only while a condition on the others holds.
    same_while: BTreeMap<String, String>,
}

impl Pair {
    /// The module that holds two copies of `module`, whose text is `text`. `clocks` are wires on the steps of one clock if
    /// there are any.
    ///
    /// # Errors
    /// If the text has no header of this module.
    pub(super) fn text(&self, module: &str, clocks: &[String], text: &str) -> Result<String> {
        let header = Header::read(module, text)?;
        let mut pair = String::new();
        self.head(&header, module, &mut pair);
        let edge = if clocks.is_empty() { "@(posedge clk)" } else { "@($global_clock)" };
        let compared = self.same(text);
        let ranges: Vec<_> = compared.iter().map(|name| self.same[name].as_str()).collect();
        pair += &constants(text, &ranges).iter().map(|constant| format!("{constant}\n")).collect::<String>();
        self.body(&header, (edge, clocks), &compared, &mut pair);
        Ok(pair)
    }

    /// Registers that are compared: those that the text of the module has.
    pub(super) fn same(&self, text: &str) -> Vec<String> {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let there: BTreeSet<&str> = text.split(|c| !word(c)).collect();
        let first = |name: &'_ str| name.split('.').next().is_some_and(|first| there.contains(first));
        self.same.keys().filter(|name| first(name)).cloned().collect()
    }

    /// Ports, outputs of both copies, and the copies.
    fn head(&self, header: &Header, module: &str, to: &mut String) {
        let parameters = match header.parameters {
            "" => String::new(),
            parameters => format!("#({parameters}\n) "),
        };
        let inputs: Vec<_> = header
            .ports(false)
            .map(|Port { range, name, .. }| format!("    input wire {range} {name}"))
            .collect();
        // Writing to a String cannot fail.
        let _ = writeln!(to, "module {PAIR} {parameters}(\n{}\n);", inputs.join(",\n"));
        for Port { range, name, .. } in header.ports(true) {
            let _ = writeln!(to, "    wire {range} a_{name}, b_{name};");
        }
        let values: Vec<_> = header.names().map(|name| format!(".{name}({name})")).collect();
        let values = if values.is_empty() { String::new() } else { format!("#({}) ", values.join(", ")) };
        for copy in ["a", "b"] {
            let inputs = header.ports(false).map(|port| format!(".{0}({0})", port.name));
            let outputs = header.ports(true).map(|port| format!(".{0}({copy}_{0})", port.name));
            let all: Vec<_> = inputs.chain(outputs).collect();
            let _ = writeln!(to, "    {module} {values}u_{copy} ({});", all.join(", "));
        }
    }

    /// The reset at first, what is assumed, and what is equal afterwards.
    fn body(&self, header: &Header, (edge, clocks): (&str, &[String]), compared: &[String], to: &mut String) {
        let resets = if self.resets.is_empty() { vec!["rst".to_owned()] } else { self.resets.clone() };
        let active = |reset: &String| {
            if self.active_low.contains(reset) {
                format!("!{reset}")
            } else {
                reset.clone()
            }
        };
        let asserted: Vec<_> = clocks.iter().cloned().chain(resets.iter().map(active)).collect();
        let cycles = self.cycles.unwrap_or(1);
        let _ = writeln!(to, "    reg [7:0] held_q = 8'd0;\n    wire begun = held_q == 8'd{cycles};");
        let several = resets.len() > 1;
        if several {
            // After the first time each reset ends once, in any order.
            let _ = resets.iter().try_for_each(|reset| writeln!(to, "    reg was_{reset}_q;"));
        }
        let _ = writeln!(to, "    always {edge} begin\n        if (!begun) held_q <= held_q + 1'b1;");
        let _ = writeln!(to, "        assume (begun || ({}));", asserted.join(" && "));
        for reset in resets.iter().filter(|_| several) {
            let now = active(reset);
            let _ = writeln!(
                to,
                "        was_{reset}_q <= {now};\n        assume (!begun || was_{reset}_q || !{now});"
            );
        }
        for promise in &self.promises {
            let _ = writeln!(to, "        assume ({});", of_copy(promise, header));
        }
        let _ = writeln!(to, "    end\n{}", of_copy(&self.environment, header));
        for name in compared {
            let (range, name) = (&self.same[name], flat(name));
            let _ =
                writeln!(to, "    wire {range} a_same_{name}, b_same_{name};  // Registers of the copies.");
        }
        let mut same = Vec::new();
        for Port { name, .. } in header.ports(true) {
            let when = match self.data.get(*name).map(String::as_str) {
                Some("") => continue,
                Some(when) => format!("({}) && ", of_copy(when, header)),
                None => String::new(),
            };
            let _ = writeln!(to, "    wire differs_{name} = {when}a_{name} != b_{name};");
            same.push(format!("!differs_{name}"));
        }
        let _ = writeln!(to, "    always {edge} if (begun) begin");
        let _ = writeln!(to, "        {LABEL} : assert ({});", same.join(" && "));
        for name in compared {
            let when =
                self.same_while.get(name).map(|when| format!("!({}) || ", with(when, "a_same_", compared)));
            let (when, name) = (when.unwrap_or_default(), flat(name));
            let _ = writeln!(to, "        {LEMMA}{name} : assert ({when}a_same_{name} == b_same_{name});");
        }
        let _ = writeln!(to, "    end\nendmodule");
    }
}

/// Constants of a module on which these ranges depend, each as it is declared.
fn constants<'t>(text: &'t str, ranges: &[&'t str]) -> Vec<&'t str> {
    const DECLARED: &str = "\n    localparam ";
    let words = |text: &'t str| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let mut wanted: BTreeSet<&str> = ranges.iter().flat_map(|range| words(range)).collect();
    let starts = text.match_indices(DECLARED).map(|(at, _)| &text[at + 1..]);
    let declared = starts.filter_map(|text| Some(&text[..=text.find(';')?]));
    // A constant stands behind those that it depends on.
    let mut found: Vec<&str> = declared
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .filter(|constant| {
            let names =
                constant.match_indices(" = ").filter_map(|(at, _)| words(&constant[..at]).next_back());
            let is_wanted = names.into_iter().any(|name| wanted.contains(name));
            is_wanted.then(|| wanted.extend(words(constant))).is_some()
        })
        .collect();
    found.reverse();
    found
}

/// The name of a register in labels and wires: one in a module within has no dots.
pub(super) fn flat(name: &str) -> String {
    name.replace('.', "__")
}

/// An expression on outputs, on those of the first copy.
fn of_copy(expression: &str, header: &Header) -> String {
    let outputs: Vec<_> = header.ports(true).map(|port| port.name.to_owned()).collect();
    with(expression, "a_", &outputs)
}

/// An expression in which these names have this prefix, and no dots.
fn with(expression: &str, prefix: &str, names: &[String]) -> String {
    let word = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
    let mut text = String::new();
    let mut rest = expression;
    while !rest.is_empty() {
        let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if names.iter().any(|one| one == name) {
            text += prefix;
        }
        text += &flat(name);
        let next = after.find(word).unwrap_or(after.len());
        text += &after[..next];
        rest = &after[next..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// A cell.\nmodule meshkv_x #(\n    // Width.\n    parameter WIDTH = 2,\n    parameter [3:0] RING = 4'h3\n) (\n    \
                        input  wire             clk,\n    input  wire             rst,\n\n    // In.\n    \
                        input  wire [WIDTH-1:0] s_data,  // A word, or two.\n    output wire             m_valid,\n    \
                        output wire [WIDTH-1:0] m_data\n);\nendmodule\n";

    #[test]
    fn two_copies_have_the_same_inputs_and_their_outputs_are_compared_where_they_count() {
        let pair = Pair {
            data: BTreeMap::from([("m_data".to_owned(), "m_valid & s_data[0]".to_owned())]),
            promises: vec!["!m_valid || !rst".to_owned()],
            ..Pair::default()
        };
        let text = pair.text("meshkv_x", &[], TEXT).unwrap();
        for part in [
            "module meshkv_pair #(\n    // Width.\n    parameter WIDTH = 2,\n    parameter [3:0] RING = 4'h3\n) (\n",
            "    input wire [WIDTH-1:0] s_data\n);",
            "u_b (.clk(clk), .rst(rst), .s_data(s_data), .m_valid(b_m_valid), .m_data(b_m_data));",
            "meshkv_x #(.WIDTH(WIDTH), .RING(RING)) u_a",
            "assume (begun || (rst));",
            "assume (!a_m_valid || !rst);",
            "wire differs_m_data = (a_m_valid & s_data[0]) && a_m_data != b_m_data;",
            "reset : assert (!differs_m_valid && !differs_m_data);",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn resets_of_two_clocks_end_once_each_in_any_order() {
        let pair = Pair {
            resets: vec!["s_rst".into(), "rst_n".into()],
            active_low: vec!["rst_n".into()],
            ..Pair::default()
        };
        let text = pair.text("meshkv_x", &["s_clk".to_owned(), "m_clk".to_owned()], TEXT).unwrap();
        assert!(text.contains("assume (begun || (s_clk && m_clk && s_rst && !rst_n));"), "{text}");
        assert!(text.contains("assume (!begun || was_rst_n_q || !!rst_n);"), "{text}");
        assert!(text.contains("always @($global_clock) if (begun)"), "{text}");
    }

    #[test]
    fn registers_of_modules_within_are_compared_where_the_instance_is_there() {
        let of = |names: [&str; 3]| names.map(|name| (name.to_owned(), "[BITS-1:0]".to_owned()));
        let pair = Pair {
            same: BTreeMap::from(of(["count_q", "u_fifo.head_q", "u_other.head_q"])),
            same_while: BTreeMap::from([("count_q".to_owned(), "u_fifo.head_q[0]".to_owned())]),
            ..Pair::default()
        };
        let text = TEXT.replace(
            ");\nendmodule",
            ");\n    localparam DEPTH = WIDTH + 1,\n        LAST = DEPTH;\n    localparam OTHER = 3;\n    localparam BITS = $clog2(LAST);\n    \
             reg [1:0] count_q;\n    meshkv_fifo u_fifo ();\nendmodule",
        );
        let compared = pair.same(&text);
        assert_eq!(compared, ["count_q", "u_fifo.head_q"]);
        let text = pair.text("meshkv_x", &[], &text).unwrap();
        for part in [
            "\n    localparam DEPTH = WIDTH + 1,\n        LAST = DEPTH;\n    localparam BITS = $clog2(LAST);",
            "wire [BITS-1:0] a_same_u_fifo__head_q, b_same_u_fifo__head_q;",
            "lemma_u_fifo__head_q : assert (a_same_u_fifo__head_q == b_same_u_fifo__head_q);",
            "lemma_count_q : assert (!(a_same_u_fifo__head_q[0]) || a_same_count_q == b_same_count_q);",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn a_text_without_the_header_is_refused() {
        assert!(Pair::default().text("meshkv_y", &[], TEXT).is_err());
    }
}
