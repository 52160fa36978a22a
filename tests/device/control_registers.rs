//! The register file alone under Icarus, driven as a host drives AXI4-Lite, at phases and with delays that no run
//! reaches.

use crate::support::icarus::{change, sources, Bench};
use meshkv::design::device::registers::{named, REGISTERS};
use meshkv::emit::SourceFile;

const MODULE: &str = "meshkv_control_registers";

/// Offsets of the words of every counter that has two.
fn pairs() -> Vec<(u32, u32)> {
    let lows = REGISTERS.iter().filter(|register| register.name.ends_with("_LOW"));
    lows.map(|low| (low.offset, named(&low.name.replace("_LOW", "_HIGH")).offset)).collect()
}

/// The output of the bench for a number of reads of a pair, and of responses that are not taken for a while.
fn said(files: &[SourceFile], (low, high): (u32, u32), looks: u32, holds: u32) -> String {
    let bench = Bench::of(files, "device/control_registers_tb", &[("LOW", low), ("HIGH", high)]);
    bench.run("", &[("seed", 1), ("looks", looks), ("holds", holds)])
}

#[test]
fn both_words_of_a_counter_are_of_one_moment() {
    let pairs = pairs();
    assert!(!pairs.is_empty(), "a run counts its cycles in 64 bits");
    for pair in pairs {
        assert_eq!(said(&sources(MODULE), pair, 500, 0), "500 looks, 0 holds\n", "{pair:x?}");
    }
}

#[test]
fn a_high_word_that_is_stored_a_cycle_late_is_found() {
    let mut files = sources(MODULE);
    change(&mut files, MODULE, "if (looks & r_at_low) high_q", "if (state_q == GIVE & r_at_low) high_q");
    assert!(said(&files, pairs()[0], 500, 0).lines().count() > 1);
}

#[test]
fn no_access_waits_until_the_response_of_the_other_channel_is_taken() {
    assert_eq!(said(&sources(MODULE), pairs()[0], 0, 100), "0 looks, 100 holds\n");
    for (from, to) in
        [("aw_q & w_q & ~b_q", "aw_q & w_q & ~b_q & ~r_q"), ("ar_q & ~r_q", "ar_q & ~r_q & ~b_q")]
    {
        let mut files = sources(MODULE);
        change(&mut files, MODULE, from, to);
        assert!(said(&files, pairs()[0], 0, 100).contains("waits for the response"), "{to}");
    }
}
