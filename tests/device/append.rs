//! New tokens on the device: they lie behind the queries, are attended to in the same run, and are in external memory when
//! the run is done.

use crate::support::device::{apart, assert_rules, growing, run_clean, tensors, whole};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::device::{Notice, Platform};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::model::tensors::Tensors;

/// Attention of two streams, each with a new token that is the last of so many.
pub(super) fn job<'a>(
    design: &'a Design,
    tensors: &'a Tensors,
    lengths: &[u32],
    mapping: Mapping,
) -> Job<'a> {
    Job::ragged(design, tensors, 0, lengths, mapping, Sharing::KvHead).unwrap().appending()
}

/// Lengths with the new token: it opens a segment, is the last of one, is the first of an empty stream, lies within one.
pub(super) const LENGTHS: [[u32; 2]; 4] = [[17, 16], [1, 24], [9, 1], [60, 37]];

#[test]
fn new_tokens_are_attended_to_and_are_in_memory_when_the_run_is_done() {
    let design = growing();
    let tensors = tensors(&design, 100, 5);
    let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
    for (lengths, mapping) in
        LENGTHS.iter().zip([Mapping::HeadTile, Mapping::RowAligned, Mapping::StreamStriped].iter().cycle())
    {
        let job = job(&design, &tensors, lengths, *mapping);
        run_clean(&mut bench, &job, Notice::Interrupt, &format!("{lengths:?}, {mapping:?}"));
    }
    // K and V of a token: a burst of K, and some of V, for each KV head.
    assert!(bench.driver.device.token_writes().iter().sum::<u64>() >= 8 * 2 * 3);
    // A run without new tokens follows.
    let job = Job::ragged(&design, &tensors, 0, &[17, 16], Mapping::RowAligned, Sharing::KvHead).unwrap();
    let before = bench.driver.device.token_writes();
    run_clean(&mut bench, &job, Notice::Polling, "none is new");
    assert_eq!(bench.driver.device.token_writes(), before);
}

#[test]
fn a_platform_at_its_worst_and_any_clocks_lose_no_token() {
    let design = growing();
    let tensors = tensors(&design, 100, 6);
    for seed in 1..5 {
        let platform = Platform::of(&design).unruly(seed);
        let mut bench = whole(&design, &platform, &apart(seed));
        for lengths in LENGTHS {
            let job = job(&design, &tensors, &lengths, Mapping::RowAligned);
            run_clean(&mut bench, &job, Notice::Interrupt, &format!("seed {seed}, {lengths:?}"));
        }
        assert_rules(&bench, "at its worst");
    }
}
