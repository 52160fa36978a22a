//! The host's view of counters of two clocks, under Icarus. Words that cross arrive as late as the constraints allow,
//! and have any value until then.

use crate::support::icarus::{change, sources, Bench};
use meshkv::emit::SourceFile;

/// Periods of both clocks, and how far an edge may be late.
const CLOCKS: [[u32; 3]; 6] =
    [[1000, 1000, 0], [1000, 1000, 120], [900, 600, 70], [600, 900, 70], [300, 1900, 20], [1900, 300, 20]];

/// Columns, rows, and two bits a row: boundaries between SLRs from it to the front.
const SHAPES: [[u32; 3]; 3] = [[3, 4, 0b10_01_01_00], [11, 1, 0], [4, 2, 0b01_00]];

/// The emitted sources, in which a word between clocks takes a period of its reader.
fn late() -> Vec<SourceFile> {
    let mut files = sources("meshkv_counter_view");
    let wires = "reg [WIDTH-1:0] arrived;
    time period = 0, edge_at = 0;
    always @(posedge m_clk) begin
        period  = $time - edge_at;
        edge_at = $time;
    end
    always @(data_q) begin
        arrived = $random;
        arrived <= #(period) data_q;
    end
    assign m_data  = arrived;";
    change(&mut files, "meshkv_async_register", "assign m_data  = data_q;", wires);
    change(
        &mut files,
        "meshkv_async_register",
        "`default_nettype none",
        "`timescale 1ps / 1ps\n`default_nettype none",
    );
    files
}

/// The output of the bench for a number of looks.
fn said(files: &[SourceFile], seed: u32, shape: [u32; 3], clocks: [u32; 3], looks: u32) -> String {
    let [period, pe_period, jitter] = clocks;
    let clocks = [("period", period), ("pe_period", pe_period), ("jitter", jitter)];
    let rest = [("seed", seed), ("looks", looks)];
    let [cols, rows, boundaries] = shape;
    let shape = [("COLS", cols), ("ROWS", rows), ("ROW_BOUNDARIES", boundaries)];
    Bench::of(files, "device/counter_view_tb", &shape).run("", &[&clocks[..], &rest[..]].concat())
}

#[test]
fn every_counter_is_read_whole_whatever_the_clocks() {
    for (seed, clocks) in (1..).zip(CLOCKS) {
        let shape = SHAPES[seed as usize % SHAPES.len()];
        assert_eq!(said(&late(), seed, shape, clocks, 40), "40 looks\n", "{shape:?}, {clocks:?}");
    }
}

#[test]
fn totals_that_are_taken_early_or_without_a_handshake_are_found() {
    let mutants: [&[[&str; 3]]; 8] = [
        // A bus that is looked at from the other clock.
        &[
            ["meshkv_counter_view", "asked_q & total_valid & ~old_q", "pad_index == select_index"],
            ["meshkv_counter_view", "found_q <= total;", "found_q <= pad_data[select_tile*32+:32];"],
        ],
        // Words that are taken before they have arrived.
        &[["meshkv_async_register", "m_valid = sent_seen != taken_q", "m_valid = sent_q != taken_q"]],
        // Totals of the tile that was asked for before.
        &[["meshkv_pad_view", "busy_q & settled_q[SETTLE-1] & index_q", "busy_q & index_q"]],
        // Answers to old questions.
        &[["meshkv_counter_view", "total_valid & ~old_q", "total_valid"]],
        // Rows whose words overtake the index, or an index that overtakes words.
        &[["meshkv_counter_choice", ".CYCLES(2 * (MOST - AWAY))", ".CYCLES(0)"]],
        &[["meshkv_counter_choice", ".CYCLES(2 * MOST + 1)", ".CYCLES(1)"]],
        // What is shown before the question has been to the last row and back.
        &[["meshkv_counter_view", "BLANK = 4 + 4 * (", "BLANK = 4 + 0 * ("]],
        &[["meshkv_pad_view", "SETTLE = 2 + 4 * (", "SETTLE = 2 + 0 * ("]],
    ];
    for changes in mutants {
        let mut files = late();
        changes.iter().for_each(|[module, from, to]| change(&mut files, module, from, to));
        let said = said(&files, 1, SHAPES[0], CLOCKS[2], 40);
        assert!(said.lines().count() > 1, "{changes:?} is not seen");
    }
}
