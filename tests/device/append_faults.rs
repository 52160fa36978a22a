//! New tokens that cannot be written: errors, silence and resets on the way into external memory end the run by their
//! name, nothing else in memory changes, and the next run works. New tokens that may not be written are refused.

use super::append::{job, LENGTHS};
use super::errors::fail_and_recover;
use crate::support::device::{
    apart, assert_clean, assert_error, assert_rules, growing, run_clean, small, tensors, whole,
};
use crate::support::device::{MOST, MOST_WITH_TIMEOUT, TIMEOUT};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::hash::mix;
use meshkv::cosim::memory::{Fault, FaultKind, Image};
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::device::{Bench, DeviceError, Faults, Notice, Platform};
use meshkv::design::{Descriptor, Design, Mapping};
use std::collections::HashMap;

/// Most cycles of a reset by the device itself, where memory answers.
pub(super) const RESET: u64 = 2_000;

/// Ports that write a token of a job, each with its writes so far.
fn writers(bench: &mut Bench, job: &Job) -> Vec<(usize, u64)> {
    let before = bench.driver.device.token_writes();
    run_clean(bench, job, Notice::Interrupt, "a run without a fault");
    let after = bench.driver.device.token_writes();
    (0..before.len()).filter(|&port| after[port] > before[port]).map(|port| (port, after[port])).collect()
}

fn faults(fault: Fault) -> Faults {
    Faults { tokens: vec![fault], ..Faults::default() }
}

fn slices(image: &Image) -> &HashMap<u64, Vec<u8>> {
    let Image::Slices(slices) = image else { panic!("the image of a job has slices") };
    slices
}

/// Every byte is as before the run or as after it, and those of the tokens alone may be as after it.
pub(super) fn assert_nothing_else_was_written(bench: &Bench, job: &Job, what: &str) {
    let (given, wanted) = (job.given(), job.image());
    let (given, wanted) = (slices(&given), slices(&wanted));
    let now = slices(bench.driver.device.image());
    assert_eq!(now.len(), given.len(), "{what}: slices");
    for (number, bytes) in now {
        let (old, new) = (&given[number], &wanted[number]);
        let wrong = (0..bytes.len()).find(|&at| bytes[at] != old[at] && bytes[at] != new[at]);
        assert_eq!(wrong, None, "{what}: byte of slice {number}");
    }
}

#[test]
fn an_error_of_a_write_is_named_by_its_port() {
    let design = growing();
    let tensors = tensors(&design, 100, 5);
    let job = job(&design, &tensors, &[17, 16], Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(1));
    let writers = writers(&mut bench, &job);
    assert!(writers.len() > 1, "several ports write");
    for (index, &(port, _)) in writers.iter().enumerate() {
        for (kind, from) in [(FaultKind::SlaveError, 0), (FaultKind::DecodeError, 1)] {
            let what = format!("{kind:?} at port {port} from {from} on");
            let taken = bench.driver.device.token_writes()[port];
            let notice = if index % 2 == 0 { Notice::Interrupt } else { Notice::Polling };
            let fault = faults(Fault::of_port(port, kind).after(taken + from));
            let outcome = fail_and_recover(&mut bench, &job, fault, notice, &what);
            assert_eq!(assert_error(&outcome, "TOKEN_WRITE", &what), port as u32, "{what}");
        }
    }
}

#[test]
fn memory_that_takes_or_answers_no_write_is_named_by_its_port() {
    let design = growing();
    let tensors = tensors(&design, 100, 5);
    let job = job(&design, &tensors, &[17, 16], Mapping::RowAligned);
    let writers = writers(&mut whole(&design, &Platform::of(&design), &Clocks::IN_STEP), &job);
    let (port, writes) = writers[writers.len() - 1];
    for kind in [FaultKind::Mute, FaultKind::Deaf, FaultKind::Shut, FaultKind::Late(3 * TIMEOUT)] {
        for from in [0, writes - 1] {
            let what = format!("{kind:?} at port {port} from {from} on");
            let mut bench = whole(&design, &Platform::of(&design).unruly(from), &Clocks::IN_STEP);
            let fault = faults(Fault::of_port(port, kind).after(from));
            let outcome = fail_and_recover(&mut bench, &job, fault, Notice::Interrupt, &what);
            assert_eq!(assert_error(&outcome, "TOKEN_TIMEOUT", &what), port as u32, "{what}");
        }
    }
}

#[test]
fn memory_that_recovers_long_after_a_run_was_given_up_serves_the_next() {
    let design = growing();
    let tensors = tensors(&design, 100, 5);
    let job = job(&design, &tensors, &[17, 16], Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
    let (port, writes) = writers(&mut bench, &job)[0];
    for kind in [FaultKind::Deaf, FaultKind::Shut] {
        bench.driver.device.set_faults(faults(Fault::of_port(port, kind).after(writes)));
        let failed = bench.run(&job, Notice::Interrupt, MOST_WITH_TIMEOUT, &mut |_| false);
        assert!(
            matches!(&failed, Err(DeviceError::Failed(what)) if what.contains("TOKEN_TIMEOUT")),
            "{failed:?}"
        );
        for _ in 0..2 * TIMEOUT {
            bench.driver.device.tick().unwrap();
        }
        bench.driver.device.set_faults(Faults::default());
        run_clean(&mut bench, &job, Notice::Interrupt, "memory has recovered");
    }
}

#[test]
fn an_answer_that_is_late_but_in_time_is_waited_for() {
    let design = growing();
    let tensors = tensors(&design, 100, 5);
    let job = job(&design, &tensors, &[17, 16], Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
    let usual = run_clean(&mut bench, &job, Notice::Interrupt, "in time").outcome.cycles;
    let late = |port| Fault::of_port(port, FaultKind::Late(TIMEOUT / 4 * 3));
    let tokens = (0..design.memory.ports as usize).map(late).collect();
    bench.driver.device.set_faults(Faults { tokens, ..Faults::default() });
    let done = run_clean(&mut bench, &job, Notice::Interrupt, "late");
    assert!(done.outcome.cycles > usual + u64::from(TIMEOUT) / 4, "the run waits for the answers");
    assert_clean(&bench, &done, "late");
}

/// Begins a run of a job, and returns after so many cycles.
pub(super) fn begin(bench: &mut Bench, job: &Job, after: u64) {
    bench.driver.clear().unwrap();
    bench.driver.enable(Notice::Interrupt).unwrap();
    bench.load(job).unwrap();
    bench.start(job).unwrap();
    for _ in 0..after {
        bench.driver.device.tick().unwrap();
    }
}

#[test]
fn a_reset_in_the_middle_of_a_write_changes_nothing_else() {
    let design = growing();
    let tensors = tensors(&design, 100, 5);
    let jobs = LENGTHS.map(|lengths| job(&design, &tensors, &lengths, Mapping::RowAligned));
    let mut bench = whole(&design, &Platform::of(&design).unruly(2), &apart(1));
    let whole_run = run_clean(&mut bench, &jobs[0], Notice::Interrupt, "whole").outcome.cycles;
    let mut cut = 0;
    for seed in 0..24 {
        let (job, next) = (&jobs[0], &jobs[1 + seed as usize % 3]);
        let after = mix(seed) % whole_run;
        let what = format!("soft reset after {after} cycles");
        let before: u64 = bench.driver.device.token_writes().iter().sum();
        begin(&mut bench, job, after);
        bench.driver.write("SOFT_RESET", 1).unwrap();
        let outcome = bench.driver.wait(Notice::Interrupt, RESET, &mut |_| false);
        let outcome = outcome.unwrap_or_else(|e| panic!("{what}: {e}"));
        bench.driver.settle(RESET).unwrap();
        assert_rules(&bench, &what);
        assert_nothing_else_was_written(&bench, job, &what);
        let writes = bench.driver.device.token_writes().iter().sum::<u64>() - before;
        cut += u32::from(outcome.error != 0 && writes > 0);
        run_clean(&mut bench, next, Notice::Interrupt, &format!("after {what}"));
    }
    assert!(cut > 3, "only {cut} resets came between the first write and the last");
}

#[test]
fn ap_rst_n_in_the_middle_of_a_write_leaves_a_device_that_works() {
    let design = growing();
    let tensors = tensors(&design, 100, 5);
    let [first, next] =
        [LENGTHS[0], LENGTHS[3]].map(|lengths| job(&design, &tensors, &lengths, Mapping::RowAligned));
    let mut bench = whole(&design, &Platform::of(&design).unruly(3), &apart(7));
    let whole_run = run_clean(&mut bench, &first, Notice::Polling, "whole").outcome.cycles;
    for seed in 0..12 {
        let what = format!("ap_rst_n, seed {seed}");
        begin(&mut bench, &first, mix(100 + seed) % whole_run);
        bench.driver.device.reset(64).unwrap();
        bench.driver.settle(RESET).unwrap();
        run_clean(&mut bench, &next, Notice::Interrupt, &format!("after {what}"));
    }
}

#[test]
fn answers_that_are_owed_to_a_cut_off_run_are_not_those_of_the_next() {
    let design = growing();
    let tensors = tensors(&design, 100, 5);
    // A write that memory took may still land: only what is in its place again is looked at.
    let first = job(&design, &tensors, &LENGTHS[0], Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(4));
    let late = |port| Fault::of_port(port, FaultKind::Late(2 * TIMEOUT + 2_000));
    let tokens = (0..design.memory.ports as usize).map(late).collect();
    bench.driver.device.set_faults(Faults { tokens, ..Faults::default() });
    let failed = bench.run(&first, Notice::Interrupt, MOST_WITH_TIMEOUT, &mut |_| false);
    assert!(
        matches!(&failed, Err(DeviceError::Failed(what)) if what.contains("TOKEN_TIMEOUT")),
        "{failed:?}"
    );
    bench.driver.device.set_faults(Faults::default());
    bench.driver.settle(MOST_WITH_TIMEOUT).unwrap();
    assert!(bench.driver.device.waiting() > 0, "the answers are still to come");
    let mut runs = 0;
    while bench.driver.device.waiting() > 0 || runs == 0 {
        let done = bench.run(&first, Notice::Interrupt, MOST, &mut |_| false).unwrap();
        assert!(done.bit_exact(), "run {runs} after late answers: {:?}", done.violations);
        runs += 1;
        assert!(runs < 20);
    }
    run_clean(&mut bench, &first, Notice::Interrupt, "after all of them");
}

/// The error that a descriptor raises, and its place.
fn refused(bench: &mut Bench, d: &Descriptor) -> Option<(&'static str, u32)> {
    bench.driver.clear().unwrap();
    bench.driver.push(d).unwrap();
    bench.driver.outcome().unwrap().first
}

#[test]
fn tokens_that_may_not_be_written_are_refused_before_anything_is() {
    let design = growing();
    let tensors = tensors(&design, 100, 5);
    let job = job(&design, &tensors, &[17, 16], Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
    bench.load(&job).unwrap();
    let good = job.descriptors().unwrap();
    let appends = *good.iter().find(|d| d.append).unwrap();
    let shared = Descriptor { streams: 2, ..appends };
    assert_eq!(refused(&mut bench, &shared), Some(("DESC_APPEND", 0)), "a cache that two streams attend to");
    let beyond = Descriptor { prefix: 2, ..appends };
    assert_eq!(refused(&mut bench, &beyond), Some(("DESC_PREFIX", 2)), "a cache that is not there");
    let longer = Descriptor { first: design.placement.segments, count: 1, ..appends };
    assert_eq!(refused(&mut bench, &longer).map(|(name, _)| name), Some("DESC_SEGMENTS"), "a full cache");
    let open = Descriptor { close: false, ..appends };
    assert_eq!(refused(&mut bench, &open), None);
    assert_eq!(refused(&mut bench, &open), Some(("DESC_APPEND", 0)), "a second token of a cache");
    // Nothing was written, and a run whose tokens are not loaded is refused.
    bench.driver.write("SOFT_RESET", 1).unwrap();
    bench.driver.settle(RESET).unwrap();
    for (tokens, streams) in [(1, 2), (0, 2), (3, 2)] {
        bench.driver.clear().unwrap();
        good.iter().for_each(|d| bench.driver.push(d).unwrap());
        bench.driver.write("QUERY_STREAMS", streams).unwrap();
        bench.driver.write("TOKEN_STREAMS", tokens).unwrap();
        bench.driver.start().unwrap();
        let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
        assert_eq!(assert_error(&outcome, "START_TOKENS", "tokens are missing"), tokens);
        bench.driver.write("SOFT_RESET", 1).unwrap();
        bench.driver.settle(RESET).unwrap();
    }
    assert_eq!(bench.driver.device.image(), &job.given());
    assert_eq!(bench.driver.device.token_writes().iter().sum::<u64>(), 0);
    run_clean(&mut bench, &job, Notice::Interrupt, "after all of them");
}

#[test]
fn a_read_only_device_refuses_new_tokens() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = crate::support::device::job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
    bench.load(&job).unwrap();
    let appends = Descriptor { append: true, streams: 1, ..job.descriptors().unwrap()[0] };
    assert_eq!(refused(&mut bench, &appends), Some(("DESC_APPEND", 0)));
    bench.driver.clear().unwrap();
    bench.push(&job).unwrap();
    bench.driver.write("TOKEN_STREAMS", 1).unwrap();
    bench.driver.start().unwrap();
    let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
    assert_error(&outcome, "START_TOKENS", "a read-only device");
    bench.driver.clear().unwrap();
    bench.driver.write("TOKEN_STREAMS", 0).unwrap();
    bench.driver.start().unwrap();
    let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
    let done = bench.take(&job, outcome);
    assert_clean(&bench, &done, "its descriptors are still there");
}

#[test]
fn tokens_that_cannot_be_read_end_the_run() {
    let design: Design = growing();
    let tensors = tensors(&design, 100, 5);
    let job = job(&design, &tensors, &[17, 16], Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
    let places = |at: u64| Fault { addresses: at..at + 4096, ..Fault::of_port(0, FaultKind::SlaveError) };
    // Queries come first, from another page.
    let fault =
        Faults { reads: vec![places(bench.queries() + u64::from(design.tokens_at()))], ..Faults::default() };
    let outcome = fail_and_recover(&mut bench, &job, fault, Notice::Interrupt, "an error of new tokens");
    assert_eq!(assert_error(&outcome, "QUERY_READ", "an error of new tokens"), 1);
}
