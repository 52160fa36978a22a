//! All tests of the program in one: what they share is compiled once, and both cores have work until the last of them.
//!
//! Those of a file by themselves: `cargo test --test all FILE::`.

// What tests share.
mod attend;
mod block;
mod decode;
mod device;
mod fabric;
mod ideal;
mod kernels_block;
mod mare;
mod scene;
mod sources;
mod stand;

// Tests.
mod async_fifo_rtl;
mod attention;
mod attention_clocks;
mod bad_input_runs;
mod cli_commands;
mod cli_tools;
mod config_damaged;
mod config_messages;
mod config_round_trip;
mod constraints;
mod cosim_build;
mod counter_view_rtl;
mod deadlock_graph;
mod decode_cli;
mod decode_memory;
mod decode_steps;
mod decode_swaps;
mod decode_timing;
mod device_cli;
mod device_errors;
mod device_mutants;
mod device_registers;
mod device_resets;
mod device_runs;
mod device_shapes;
mod dsp_slice;
mod emit_files;
mod emit_write;
mod estimate;
mod fabric_behaviour;
mod fabric_model;
mod fabric_mutants;
mod fabric_random;
mod fetch_cli;
mod goldens;
mod host_example;
mod interrupt_runs;
mod kernels_equivalence;
mod kernels_print;
mod kernels_refusals;
mod lint_matrix;
mod lockstep;
mod mare_duplicates;
mod mare_fetch;
mod mare_switches;
mod model;
mod named_configs;
mod pad_lockstep;
mod pad_row;
mod part_former_rtl;
mod pieces;
mod placement_rtl;
mod progress_runs;
mod read_slices_rtl;
mod reduce_root_rtl;
mod reset_rtl;
mod run_cli;
mod sim_cli;
mod structure;
mod sweep;
mod tile_model;
mod traffic_cli;
mod traffic_cosim;
mod traffic_scoreboard;

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
