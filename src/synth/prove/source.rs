//! Text of one proof: the module under proof with its properties, all others without, on the clocks of the proof.

use super::catalogue::{text_of, Mutant, Proof};
use crate::emit::SourceFile;
use anyhow::Result;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Begin and end of the properties in a module.
const BEGIN: &str = "`ifdef FORMAL";
const END: &str = "`endif";

/// All modules that a proof needs, as one text. Lines of the checks of simulation stay: `SYNTHESIS` leaves them out.
///
/// # Errors
/// If a module is not among `files`.
pub(super) fn of(proof: &Proof, files: &[SourceFile], mutant: Option<&Mutant>) -> Result<String> {
    let mut text = String::new();
    if let Some(pair) = &proof.pair {
        text += &pair.text(&proof.module, &proof.clocks, text_of(files, &proof.module)?)?;
    }
    for module in below(&proof.module, files)? {
        let mut own = text_of(files, &module)?.to_owned();
        if let Some(mutant) = mutant.filter(|m| m.module.as_deref().unwrap_or(&proof.module) == module) {
            own = own.replacen(&mutant.from, &mutant.to, 1);
        }
        if proof.free.contains(&module) {
            own = header_of(&own).to_owned() + "\n);\nendmodule\n";
        } else if module != proof.module || proof.pair.is_some() {
            own = without_properties(&own);
        }
        if !proof.clocks.is_empty() {
            own = on_steps(&own);
        }
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{own}");
    }
    Ok(text)
}

/// Modules whose text counts in a proof: that of the proof and what it instantiates, but for what is free.
///
/// # Errors
/// If a module is not among `files`.
pub(super) fn read_in(proof: &Proof, files: &[SourceFile]) -> Result<Vec<String>> {
    let all = below(&proof.module, files)?;
    Ok(all.into_iter().filter(|module| !proof.free.contains(module)).collect())
}

/// A module and all that it instantiates, itself first.
fn below(top: &str, files: &[SourceFile]) -> Result<Vec<String>> {
    let mut found = vec![top.to_owned()];
    let mut known = BTreeSet::from([top.to_owned()]);
    let mut at = 0;
    while let Some(module) = found.get(at) {
        let text = text_of(files, module)?;
        for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
            if word.starts_with("meshkv_") && text_of(files, word).is_ok() && known.insert(word.to_owned()) {
                found.push(word.to_owned());
            }
        }
        at += 1;
    }
    Ok(found)
}

/// A module up to the end of its header.
fn header_of(text: &str) -> &str {
    text.split("\n);").next().unwrap_or(text)
}

/// A module without its properties.
fn without_properties(text: &str) -> String {
    let mut kept = String::new();
    let mut inside = false;
    for line in text.lines() {
        inside |= line.starts_with(BEGIN);
        if !inside {
            kept += line;
            kept.push('\n');
        }
        inside &= !line.starts_with(END);
    }
    kept
}

/// A module of several clocks on the steps of one that is faster than all: a clock that is high in a step has an edge
/// there. So any two clocks are two wires that nothing ties to each other.
fn on_steps(text: &str) -> String {
    let mut stepped = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("@(posedge ") {
        let (clock, behind) = after.split_once(')').unwrap_or((after, ""));
        stepped += &format!("{before}@($global_clock) if ({clock})");
        rest = behind;
    }
    stepped + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIFO: &str =
        "module meshkv_f;\n    meshkv_g u_g ();\n`ifdef FORMAL\n    meshkv_h u_h ();\n`endif\nendmodule\n";

    fn files() -> Vec<SourceFile> {
        let file = |module: &str, text: &str| SourceFile {
            path: format!("rtl/common/{module}.v"),
            text: text.to_owned(),
        };
        let leaf = "module meshkv_g(input clk\n);\n    always @(posedge clk) if (a) b <= c;\n`ifdef FORMAL\n    x : assert (0);\n`endif\nendmodule\n";
        vec![file("meshkv_f", FIFO), file("meshkv_g", leaf), file("meshkv_h", "module meshkv_h; endmodule\n")]
    }

    fn proof(clocks: &[&str]) -> Proof {
        let text = "module = 'meshkv_f'\nsizes = []\nsuffices = ''\nproperty = []";
        Proof { clocks: clocks.iter().map(|c| (*c).to_owned()).collect(), ..toml::from_str(text).unwrap() }
    }

    #[test]
    fn only_the_module_under_proof_has_properties() {
        let text = of(&proof(&[]), &files(), None).unwrap();
        assert!(text.starts_with(FIFO));
        assert!(text.contains("module meshkv_g") && text.contains("module meshkv_h"));
        assert!(!text.contains("x : assert"), "{text}");
        assert!(text.contains("always @(posedge clk) if (a) b <= c;"));
    }

    #[test]
    fn a_module_whose_outputs_are_free_has_a_header_only() {
        let text = of(&Proof { free: vec!["meshkv_g".into()], ..proof(&[]) }, &files(), None).unwrap();
        assert!(text.contains("module meshkv_g(input clk\n);\nendmodule\n"), "{text}");
    }

    #[test]
    fn clocks_become_wires_that_say_where_an_edge_is() {
        let text = of(&proof(&["a", "b"]), &files(), None).unwrap();
        assert!(text.contains("always @($global_clock) if (clk) if (a) b <= c;"), "{text}");
    }

    #[test]
    fn a_mutant_changes_its_module_only() {
        let mutant = Mutant { module: Some("meshkv_g".into()), from: "b <= c".into(), to: "b <= d".into() };
        assert!(of(&proof(&[]), &files(), Some(&mutant)).unwrap().contains("b <= d"));
    }
}
