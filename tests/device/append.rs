//! New tokens on the device: they lie behind the queries, are attended to in the same run, and are in external memory when
//! the run is done.

use super::append_faults::begin;
use crate::support::device::{apart, assert_clean, assert_rules, growing, run_clean, tensors, whole, MOST};
use meshkv::config::{KvFormat, KvScales};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::device::{DeviceError, Notice, Platform};
use meshkv::cosim::workloads::steps::{decode, Caches, Difference, Schedule, StepsError};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::model::datapath::tensors::{Logits, Tensors};

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

/// The host gives a token in FP16, and the device makes it elements of its cache: attended to, and in memory.
#[test]
fn new_tokens_become_elements_of_eight_bits() {
    becomes_elements(&[
        (KvFormat::Fp8E4m3, KvScales::Head, 64),
        (KvFormat::Fp8E4m3, KvScales::Head, 256),
        (KvFormat::Fp8E5m2, KvScales::Head, 64),
        (KvFormat::Int8, KvScales::Head, 64),
    ]);
}

/// The device finds the scale of each row while it comes.
#[test]
fn new_tokens_become_elements_by_scales_of_their_own() {
    becomes_elements(&[
        (KvFormat::Int8, KvScales::Token, 64),
        (KvFormat::Int8, KvScales::Token, 256),
        (KvFormat::Fp8E4m3, KvScales::Token, 128),
    ]);
}

fn becomes_elements(formats: &[(KvFormat, KvScales, u32)]) {
    for &(format, scales, flit) in formats {
        let mut config = growing().configuration().clone();
        (config.kv.format, config.kv.scales) = (format, scales);
        (config.noc.flit_width, config.kv.uram_per_tile) = (flit, flit / 64 + 1);
        let design = Design::from_config("eight", &config).unwrap();
        let tensors = tensors(&design, 100, 5);
        let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
        for lengths in LENGTHS {
            let job = job(&design, &tensors, &lengths, Mapping::RowAligned);
            run_clean(
                &mut bench,
                &job,
                Notice::Interrupt,
                &format!("{format:?}, {scales:?}, {flit}, {lengths:?}"),
            );
        }
        assert_rules(&bench, "eight bits");
    }
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

#[test]
fn what_a_host_writes_for_the_next_run_does_not_change_the_tokens_of_this_one() {
    let design = growing();
    let tensors = tensors(&design, 100, 5);
    let mut bench = whole(&design, &Platform::of(&design), &apart(1));
    for (lengths, next) in [(LENGTHS[0], 0), (LENGTHS[1], design.model.max_streams)] {
        let job = job(&design, &tensors, &lengths, Mapping::RowAligned);
        begin(&mut bench, &job, 0);
        bench.driver.write("TOKEN_STREAMS", next).unwrap();
        let outcome = bench.driver.wait(Notice::Interrupt, MOST, &mut |_| false).unwrap();
        let done = bench.take(&job, outcome);
        assert_clean(&bench, &done, &format!("{lengths:?}, {next} for the next run"));
    }
}

#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error(transparent)]
    Steps(#[from] StepsError),
    #[error(transparent)]
    Run(#[from] DeviceError),
}

#[test]
fn steps_follow_each_other_on_what_memory_has_and_leave_what_a_host_would_have_written() {
    let design = growing();
    // An empty stream, and one that leaves a hole in the batch before it grows over two segments.
    let schedule = Schedule::new(&[0, 13], 0, 12, &[2, 0], &[12, 10]).unwrap();
    let tensors = schedule.tensors(&design, 3, Logits::Normal);
    for unruly in [false, true] {
        let platform = Platform::of(&design);
        let platform = if unruly { platform.unruly(3) } else { platform };
        let mut bench = whole(&design, &platform, &apart(2));
        let mut caches = Caches::new(&design, &schedule).unwrap();
        bench.driver.device.set_image(caches.image(&tensors, 9));
        let mut written = 0;
        let how = (Mapping::RowAligned, Sharing::KvHead);
        let mut one_step = |job: &Job| Ok::<_, Ended>(bench.step(job, apart(2), &mut |_| false)?);
        decode(&mut caches, &schedule, &tensors, how, &mut one_step, &mut |step| {
            assert!(step.done.bit_exact(), "step {}: {:?}", step.step, step.done.violations);
            written += step.done.tokens_written;
        })
        .unwrap();
        let memory = Difference::of(bench.driver.device.image(), &caches.image(&tensors, 9));
        assert_eq!((memory.differing, memory.first), (0, None));
        assert_eq!(written, 3 * schedule.appended());
    }
}
