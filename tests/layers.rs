//! A module uses only modules to its left: config, design, kernels, emit | model, cosim, eval, cli.
//!
//! Read off the `use crate::...` lines of the sources, and every other path that starts with `crate::`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What each module may use beside itself. `kernels` know neither configuration nor design: a
/// kernel is the same text for all. `model` and `emit` stand side by side and do not meet.
const MAY_USE: &[(&str, &[&str])] = &[
    ("config", &[]),
    ("design", &["config"]),
    ("kernels", &[]),
    ("tools", &[]),
    ("workers", &[]),
    ("emit", &["config", "design", "kernels"]),
    ("model", &["config", "design"]),
    ("cosim", &["config", "design", "emit", "model", "tools"]),
    ("synth", &["config", "design", "emit", "cosim", "tools", "workers"]),
    ("eval", &["config", "design", "emit", "model", "cosim"]),
    ("cli", &["config", "design", "kernels", "emit", "model", "cosim", "synth", "eval", "tools", "workers"]),
];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Sources below `src/`, with the top-level module that each belongs to.
fn sources() -> Vec<(String, PathBuf)> {
    let mut folders = vec![src()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let below = path.strip_prefix(src()).unwrap();
                let first = below.components().next().unwrap().as_os_str().to_str().unwrap();
                sources.push((first.trim_end_matches(".rs").to_owned(), path.clone()));
            }
        }
    }
    sources.sort();
    sources
}

/// The code of a source: comments may name any module.
fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Top-level modules that a text reaches through `crate::`, braces of a `use` list included.
fn used(text: &str) -> Vec<String> {
    let name = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for rest in without_comments(text).split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            None => found.push(name(rest)),
            Some(list) => {
                let mut depth = 0;
                let mut item = String::new();
                for c in list.chars() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => found.push(name(std::mem::take(&mut item).trim())),
                        _ if depth == 0 => item.push(c),
                        _ => {}
                    }
                }
                found.push(name(item.trim()));
            }
        }
    }
    found.retain(|module| !module.is_empty());
    found
}

#[test]
fn modules_use_only_what_stands_to_their_left() {
    let rules: BTreeMap<_, _> = MAY_USE.iter().copied().collect();
    let mut seen = 0;
    let mut wrong = Vec::new();
    for (module, path) in sources() {
        if ["lib", "main"].contains(&module.as_str()) {
            continue;
        }
        let allowed = rules.get(module.as_str()).unwrap_or_else(|| {
            panic!("module {module} has no place in the order: give it one in tests/layers.rs")
        });
        for other in used(&fs::read_to_string(&path).unwrap()) {
            // Only modules are ordered; a macro or a re-export of the crate's root is no layer.
            if !rules.contains_key(other.as_str()) {
                continue;
            }
            seen += 1;
            if other != module && !allowed.contains(&other.as_str()) {
                wrong.push(format!("{}: {module} must not use {other}", path.display()));
            }
        }
    }
    assert!(seen > 50, "only {seen} uses were found: the sources are read wrongly");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_form_of_use_is_seen() {
    let text = "use crate::design::{Mesh, NodeId};\n\
                use crate::{config::Config, emit::{self, write}, tools};\n\
                // use crate::cli;\n\
                let x = crate::eval::measure();";
    assert_eq!(used(text), ["design", "config", "emit", "tools", "eval"]);
}
