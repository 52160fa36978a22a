//! Resets of all tiles under Icarus are equal in every cycle for any path to a row, and are held and released as
//! specified.

use crate::support::icarus::{change, lint, sources, Bench};
use meshkv::emit::SourceFile;

/// Columns, rows, and two bits a row: boundaries between SLRs from it to the front.
const SHAPES: [[u32; 3]; 3] = [[3, 4, 0b10_01_01_00], [11, 1, 0], [4, 2, 0b01_00]];

/// Periods of both clocks, and how far an edge may be late.
const CLOCKS: [[u32; 3]; 4] = [[1000, 1000, 0], [900, 600, 70], [300, 1900, 20], [1900, 300, 20]];

/// The output of the bench for a number of resets.
fn said(files: &[SourceFile], seed: u32, shape: [u32; 3], clocks: [u32; 3]) -> String {
    let [period, pe_period, jitter] = clocks;
    let [cols, rows, boundaries] = shape;
    let shape = [("COLS", cols), ("ROWS", rows), ("ROW_BOUNDARIES", boundaries)];
    let run =
        [("period", period), ("pe_period", pe_period), ("jitter", jitter), ("seed", seed), ("asks", 50)];
    Bench::of(files, "device/reset_tb", &shape).run("", &run)
}

#[test]
fn tiles_are_reset_together_and_told_of_in_time_whatever_the_clocks() {
    for (seed, clocks) in (1..).zip(CLOCKS) {
        for shape in SHAPES {
            assert_eq!(
                said(&sources("meshkv_reset"), seed, shape, clocks),
                "50 resets\n",
                "{shape:?}, {clocks:?}"
            );
        }
    }
}

#[test]
fn ways_of_different_length_and_answers_that_come_too_early_are_found() {
    let mutants = [
        // A way that is as long as its boundaries.
        ["meshkv_reset_row", "= wait_line[WAIT];", "= wait_line[1];"],
        // What is here counts fewer registers than there are on a way.
        ["meshkv_reset", "STAGES     = 2 * MOST + 2", "STAGES     = 2 * MOST"],
        ["meshkv_reset", "| asked | pe_ask_q | |pe_rst_q", "| asked"],
        ["meshkv_reset", "CYCLES_MAX = 7", "CYCLES_MAX = 0"],
        // Released on the word of the network's clock alone.
        ["meshkv_reset", "~ask_q & ~down &", "~ask_q &"],
        // A device that comes up without a reset.
        ["meshkv_reset_stage", "crossing_q = 1'b1", "crossing_q = 1'b0"],
    ];
    for [module, from, to] in mutants {
        let mut files = sources("meshkv_reset");
        change(&mut files, module, from, to);
        let said = |clocks| said(&files, 3, SHAPES[0], clocks);
        assert!(CLOCKS.iter().any(|clocks| said(*clocks) != "50 resets\n"), "{module}: `{from}` is not seen");
    }
}

#[test]
fn every_reader_of_verilog_is_content() {
    for [cols, rows, boundaries] in SHAPES {
        let shape = [("TILES", cols * rows), ("COLS", cols), ("ROWS", rows), ("ROW_BOUNDARIES", boundaries)];
        assert_eq!(lint("meshkv_reset", &shape), [""; 0]);
    }
}
