//! Dissolves hierarchy as synthesis may: every instance but those that the generated files keep.
//!
//! Yosys flattens the elaborated netlist. Instances that `constraints/hierarchy.xdc` names, or whose module has the
//! attribute `keep_hierarchy`, remain. Only instances and registers are passed on to it: constraints name nothing
//! else.

use crate::synth::lint::graph::objects::always_among;
use crate::synth::lint::messages::{Message, Severity};
use crate::synth::lint::passes::{flattened, netlist, Linters};
use crate::synth::lint::vivado;
use crate::tools::interrupt::Interrupt;
use anyhow::{bail, Context as _, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Writes the flattened netlist of the sources in `dir`, whose elaborated netlist Yosys has written there.
/// Returns the findings about kept instances.
///
/// # Errors
/// When the netlist cannot be read, or a tool cannot be started.
pub fn flatten(linters: &Linters, dir: &Path, top: &str, interrupt: &Interrupt) -> Result<Vec<Message>> {
    let (elaborated, kept_file, flat_file) = (netlist(top), format!("{top}.kept.il"), flattened(top));
    let netlist = vivado::read(dir, &elaborated)?;
    let (mut messages, paths) = vivado::hierarchy(&linters.tclsh, dir, (&netlist, top), interrupt)?;
    if !netlist.all[netlist.key(top)?].kept {
        let text = format!(
            "{}: module {top} lacks the attribute keep_hierarchy: an IP has it below a wrapper, and all constraints \
             are read at its instance there",
            vivado::constraint(top, "hierarchy")
        );
        messages.push(Message { severity: Severity::Error, text });
    }
    // A module appears once in the netlist, so an instance of it is kept in all its places or in none.
    let kept = always_among(&netlist, top, &paths.iter().map(String::as_str).collect())?;
    let elaborated = fs::read_to_string(dir.join(elaborated))?;
    fs::write(dir.join(&kept_file), mark(&elaborated, &kept))
        .with_context(|| format!("cannot write {kept_file}"))?;
    let script = format!("read_rtlil {kept_file}; hierarchy -top {top}; flatten; write_rtlil {flat_file}");
    if let Some(said) = vivado::yosys(linters, dir, &script, interrupt)? {
        bail!("Yosys cannot flatten the netlist: {said}");
    }
    Ok(messages)
}

/// Marks the instances, each with the key of the module that it is in, and leaves out combinational cells.
fn mark(rtlil: &str, kept: &BTreeSet<(&str, &str)>) -> String {
    let mut text = String::with_capacity(rtlil.len());
    let (mut module, mut left_out) = ("", false);
    // Attributes stand before their object and go with it.
    let mut attributes = String::new();
    for line in rtlil.lines() {
        module = line.strip_prefix("module ").map_or(module, |key| key.trim_start_matches('\\'));
        if let Some((kind, name)) = line.strip_prefix("  cell ").and_then(|cell| cell.split_once(' ')) {
            left_out = kind.starts_with('$') && !kind.starts_with("$paramod") && !kind.contains("dff");
            if kept.contains(&(module, name.trim_start_matches('\\'))) {
                text += "  attribute \\keep_hierarchy 1\n";
            }
        }
        if line.trim_start().starts_with("attribute ") {
            attributes = attributes + line + "\n";
        } else if left_out {
            attributes.clear();
            left_out = line != "  end";
        } else {
            text = text + &std::mem::take(&mut attributes) + line + "\n";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::synth::lint::graph::flatten::*;

    #[test]
    fn kept_instances_are_marked_and_combinational_cells_left_out() {
        let rtlil = "module \\a\n  attribute \\src \"a.v\"\n  cell $and $1\n    connect \\Y \\y\n  end\n  cell \\b \\u_b\n  end\nend\n\
                     module \\b\n  cell $paramod$1\\c \\u_b\n  end\n  cell $adff $2\n  end\nend\n";
        let marked = mark(rtlil, &[("a", "u_b")].into_iter().collect());
        assert_eq!(
            marked,
            "module \\a\n  attribute \\keep_hierarchy 1\n  cell \\b \\u_b\n  end\nend\n\
             module \\b\n  cell $paramod$1\\c \\u_b\n  end\n  cell $adff $2\n  end\nend\n"
        );
    }
}
