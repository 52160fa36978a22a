//! All tests of the program in one binary: shared code is compiled once, and all cores have work until the last test.
//!
//! `cargo test --test all BLOCK::` runs the tests of a block, `BLOCK::FILE::` those of a file.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

mod support;

// A folder a block.
mod board;
mod common;
mod device;
mod fabric;
mod mare;
mod network;
mod pad;
mod reduce;
mod takv;

// A folder a layer.
mod cli;
mod config;
mod cosim;
mod datapath;
mod ecosystem;
mod emit;
mod kernels;

mod pages;
mod sizes;
mod structure;

/// Tests whether the file that lists the modules of a folder lists this one.
fn is_listed(list: &Path, name: &str) -> bool {
    let text = fs::read_to_string(list).unwrap_or_else(|e| panic!("{}: {e}", list.display()));
    text.lines().any(|line| line.strip_prefix("pub ").unwrap_or(line) == format!("mod {name};"))
}

/// Files and folders with sources that the file above them does not list.
fn unlisted(folder: &Path, list: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let below = path.join("mod.rs");
        let is_source = path.extension().is_some_and(|e| e == "rs") && path != list;
        if (is_source || below.exists()) && !is_listed(list, &name) {
            found.push(path.display().to_string());
        }
        if path.is_dir() {
            found.extend(unlisted(&path, &below));
        }
    }
    found
}

/// A file that no other lists would never run.
#[test]
fn every_file_is_one_of_these() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    assert_eq!(unlisted(&here, &here.join("main.rs")), [""; 0], "the mod.rs or main.rs above lists them not");
}

/// A name that no test has would exclude nothing, and a renamed test would return to the first tier unnoticed.
/// `scripts/tests.sh` compares whole names, and takes all but the last segment for the file.
#[test]
fn every_name_of_the_list_for_verify_is_a_test() {
    let said = Command::new(std::env::current_exe().unwrap()).args(["--list", "--format", "terse"]).output();
    let said = String::from_utf8(said.unwrap().stdout).unwrap();
    let tests: BTreeSet<&str> = said.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    let list = include_str!("verify.txt");
    let names = list.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    for name in names.filter(|name| !name.is_empty()) {
        assert!(tests.contains(name), "tests/verify.txt: there is no test {name}");
        assert!(name.contains("::"), "tests/verify.txt: {name} is in no file");
        // Where names are compared in part, as libtest does without --exact, this one leaves out no other.
        let others: Vec<_> = tests.iter().filter(|test| **test != name && test.contains(name)).collect();
        assert!(others.is_empty(), "tests/verify.txt: {name} is a part of {others:?}");
    }
}
