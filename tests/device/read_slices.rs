//! Register slices of a memory port under Icarus: any pauses, any number of boundaries, resets on the way.

use crate::support::icarus::{change, lint, sources, Bench};
use meshkv::emit::SourceFile;

/// The output of the bench for a number of bursts of four beats; neither side pauses if `pause` is 1.
fn said(files: &[SourceFile], boundaries: u32, run: &[(&str, u32)]) -> String {
    Bench::of(files, "device/read_slices_tb", &[("BOUNDARIES", boundaries)]).run("", run)
}

#[test]
fn every_beat_comes_once_and_in_order_also_after_resets() {
    for boundaries in [0, 1, 2] {
        for pause in 2..5 {
            let run = [("pause", pause), ("resets", 5), ("seed", 10 * boundaries + pause), ("bursts", 300)];
            assert_eq!(
                said(&sources("meshkv_read_slices"), boundaries, &run),
                "1200 beats\n",
                "{boundaries}, {pause}"
            );
        }
    }
}

#[test]
fn short_bursts_fill_the_way_whatever_its_length() {
    // An address every four cycles: none waits for a credit. The way is two cycles a boundary, there and back.
    let cycles = [0, 1, 2].map(|boundaries| {
        let said = said(&sources("meshkv_read_slices"), boundaries, &[("beats", 4), ("bursts", 200)]);
        let cycles = said.strip_prefix("800 beats in ").and_then(|rest| rest.strip_suffix(" cycles\n"));
        cycles.unwrap_or_else(|| panic!("{said}")).parse::<u32>().unwrap()
    });
    assert!(cycles[0] < 810, "{cycles:?}");
    // Where there is a way there is a FIFO, too.
    assert_eq!(cycles.map(|n| n - cycles[0]), [0, 5, 9]);
}

#[test]
fn credits_that_do_not_add_up_are_found() {
    let mutants = [
        ["meshkv_read_credits", "count_d = count_q - 1;", "count_d = count_q;"],
        ["meshkv_read_credits", "count_d = count_q + 1;", "count_d = count_q;"],
        ["meshkv_read_credits", "if (rst) count_q <= CREDITS", "if (rst) count_q <= 3'd1 + CREDITS"],
    ];
    for [module, from, to] in mutants {
        let mut files = sources("meshkv_read_slices");
        change(&mut files, module, from, to);
        let run = [("pause", 3), ("resets", 9), ("seed", 3), ("bursts", 300)];
        assert_ne!(said(&files, 2, &run), "1200 beats\n", "{module}: `{from}`");
    }
}

#[test]
fn every_reader_of_verilog_is_content() {
    for boundaries in [0, 1, 2] {
        assert_eq!(lint("meshkv_read_slices", &[("BOUNDARIES", boundaries)]), [""; 0]);
    }
}
