//! The emitted row of PaD's array against the model of its numbers, in every bit, under Verilator.

#[path = "pad_row/bench.rs"]
mod bench;
#[path = "pad_row/lint.rs"]
mod lint;
#[path = "pad_row/schedule.rs"]
mod schedule;

use meshkv::config::Config;
use meshkv::design::Design;
use schedule::{Numbers, Schedule};

/// A design whose rows have these sizes.
fn design(flit_width: u32, head_dim: u32, segment_tokens: u32) -> Design {
    let mut config = Config::default();
    (config.noc.flit_width, config.pe.head_dim) = (flit_width, head_dim);
    config.kv.uram_per_tile = 16;
    config.kv.segment_tokens = segment_tokens;
    config.model.max_tokens = 32 * segment_tokens;
    Design::from_config("row", &config).expect("a legal configuration")
}

/// Runs contexts of all kinds of numbers through a row and compares all it gives.
fn agrees(lanes: u32, head_dim: u32, segment_tokens: u32, slots: u32, rounds: u32) {
    let design = design(16 * lanes, head_dim, segment_tokens);
    let row = bench::build(&design, slots);
    let mut schedule = Schedule::new(&design, slots, u64::from(lanes * head_dim + segment_tokens));
    for round in 0..rounds {
        schedule.round(Numbers::ALL[round as usize % Numbers::ALL.len()]);
    }
    schedule.compare(&row.run(&schedule.cycles));
}

#[test]
fn four_lanes_and_eight_flits_a_token() {
    agrees(4, 32, 8, 3, 24);
}

#[test]
fn the_reference_row() {
    agrees(32, 128, 64, 4, 12);
}

#[test]
fn a_token_a_flit() {
    agrees(32, 32, 64, 4, 18);
}

#[test]
fn two_tokens_a_flit() {
    agrees(64, 32, 64, 2, 12);
}

#[test]
fn segments_that_are_no_whole_number_of_blocks() {
    agrees(16, 64, 40, 1, 18);
    agrees(8, 32, 3, 5, 18);
}
