//! Macros of synthesis for the card: checks that emitted files define exactly those that the estimate
//! assumes.
//!
//! The stand-in for `ipx::package_project` checks that they reach the packaged sources when the scripts run.

use crate::emit::CARD_DEFINES;
use crate::synth::lint::messages::{Message, Severity};
use anyhow::{Context as _, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The design's values for the Vivado and Vitis scripts.
const DESIGN: &str = "scripts/design.tcl";

/// Compares the emitted files in `dir` with the estimate.
///
/// # Errors
/// When one of them cannot be read.
pub fn check(dir: &Path) -> Result<Vec<Message>> {
    let read = |path: &Path| {
        let text = fs::read_to_string(dir.join(path));
        text.with_context(|| format!("cannot read {}", path.display()))
    };
    let core = core_of(dir)?;
    let text = read(&core)?;
    let mut messages = differences(DESIGN, "Vivado and Vitis", &of_design(&read(Path::new(DESIGN))?));
    let name = core.display().to_string();
    messages.extend(differences(&name, "FuseSoC", &of_core(&text)));
    // A parameter that no target names is not passed on.
    for target in ["default", "card"] {
        let named = parameters_of(&text, target);
        let lacks = |define: &&&str| !named.contains(**define);
        messages.extend(CARD_DEFINES.iter().filter(lacks).map(|define| {
            error(format!(
                "{name}: target {target} does not pass {define} on, which `meshkv estimate` assumes"
            ))
        }));
    }
    Ok(messages)
}

/// The FuseSoC core, by its path below the folder.
fn core_of(dir: &Path) -> Result<PathBuf> {
    let entries = fs::read_dir(dir).context("cannot list the emitted files")?;
    let mut names = entries.filter_map(|entry| entry.ok().map(|entry| PathBuf::from(entry.file_name())));
    names.find(|name| name.extension().is_some_and(|e| e == "core")).context("no FuseSoC core was emitted")
}

fn error(text: String) -> Message {
    Message { severity: Severity::Error, text }
}

/// Compares the macros of a file for some tools with those of the estimate.
fn differences(file: &str, tools: &str, found: &BTreeSet<String>) -> Vec<Message> {
    let assumed = BTreeSet::from(CARD_DEFINES.map(str::to_owned));
    let lacks = assumed.difference(found).map(|name| {
        error(format!(
            "{file}: {name} is not defined, which `meshkv estimate` assumes: {tools} would build other logic than was estimated"
        ))
    });
    let beyond = found.difference(&assumed).map(|name| {
        error(format!(
            "{file}: {name} is defined, and not for `meshkv estimate`: {tools} would build other logic than was estimated"
        ))
    });
    lacks.chain(beyond).collect()
}

/// The words of `set design_defines { ... }`.
fn of_design(text: &str) -> BTreeSet<String> {
    let list = text.split_once("set design_defines {").and_then(|(_, rest)| rest.split_once('}'));
    list.map(|(words, _)| words.split_whitespace().map(str::to_owned).collect()).unwrap_or_default()
}

/// The parameters of a core that are macros and on by default.
fn of_core(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let Some((_, parameters)) = text.split_once("\nparameters:\n") else { return found };
    let (mut name, mut is_macro) = (String::new(), false);
    for line in parameters.lines().take_while(|line| line.starts_with("  ")) {
        match line.trim() {
            "paramtype: vlogdefine" => is_macro = true,
            "default: true" if is_macro => {
                found.insert(name.clone());
            }
            word if !line.starts_with("   ") => {
                (name, is_macro) = (word.trim_end_matches(':').to_owned(), false)
            }
            _ => {}
        }
    }
    found
}

/// The line of a target's parameters.
fn parameters_of<'a>(text: &'a str, target: &str) -> &'a str {
    let of_target = text.split_once(&format!("\n  {target}:\n")).map_or("", |(_, rest)| rest);
    let mut lines = of_target.lines().take_while(|line| line.starts_with("    "));
    lines.find(|line| line.trim().starts_with("parameters:")).unwrap_or_default()
}
