//! All tests of the program in one: what they share is compiled once, and both cores have work until the last of them.
//!
//! Those of a block by themselves: `cargo test --test all BLOCK::`.

mod support;

// A folder a block.
mod common;
mod device {
    mod counter_view;
    mod errors;
    mod host_example;
    mod mutants;
    mod read_slices;
    mod registers;
    mod reset;
    mod resets;
    mod runs;
    mod shapes;
}
mod fabric {
    mod attention;
    mod clocks;
    mod lockstep;
    mod pieces;
    mod random_configs;
}
mod mare {
    mod duplicates;
    mod fetch;
    mod switches;
}
mod network;
mod pad;
mod reduce;
mod takv;

// A folder a layer.
mod cli;
mod config;
mod cosim;
mod datapath;
mod emit;
mod kernels;

mod structure;

/// A file that is not listed above would never run.
#[test]
fn every_file_is_one_of_these() {
    let (here, listed) = (concat!(env!("CARGO_MANIFEST_DIR"), "/tests"), include_str!("main.rs"));
    for entry in std::fs::read_dir(here).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_test = path.extension().is_some_and(|e| e == "rs") && name != "main";
        assert!(
            !is_test || listed.contains(&format!("\nmod {name};\n")),
            "tests/main.rs does not list {name}"
        );
    }
}

/// A name that no test has would leave nothing out, and a test that is renamed would come back unseen.
#[test]
fn every_name_of_the_list_for_verify_is_a_test() {
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let list = include_str!("verify.txt");
    let names = list.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    for name in names.filter(|name| !name.is_empty()) {
        let (file, test) = name.rsplit_once("::").expect("file::test");
        let path = format!("{sources}/{}.rs", file.replace("::", "/"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {path}: {e}"));
        assert!(text.contains(&format!("#[test]\nfn {test}()")), "{path} has no test {test}");
    }
}
