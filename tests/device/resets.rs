//! Resets that cut off a run at any cycle, soft or from the platform: the next run works, and accepts no late answer
//! that memory owes to an earlier run.

use crate::support::device::{
    apart, assert_error, assert_rules, job, owe_four_epochs, run_clean, small, tensors, whole,
};
use crate::support::device::{MOST, MOST_WITH_TIMEOUT, TIMEOUT};
use meshkv::cosim::hash::mix;
use meshkv::cosim::workloads::device::{Notice, Platform};
use meshkv::design::Mapping;

/// Cycles in which `ap_rst_n` is held.
const HELD: u64 = 64;
/// Most cycles of a reset by the device itself, where memory answers.
const RESET: u64 = 2_000;

#[test]
fn a_soft_reset_at_any_cycle_is_told_and_the_next_run_works() {
    let design = small();
    let others = tensors(&design, 33, 6);
    let tensors = tensors(&design, 40, 5);
    let [first, next] = [&tensors, &others].map(|t| job(&design, t, Mapping::RowAligned));
    let mut bench = whole(&design, &Platform::of(&design).unruly(2), &apart(1));
    let whole_run = run_clean(&mut bench, &first, Notice::Interrupt, "whole").outcome.cycles;
    for seed in 0..12 {
        let after = mix(seed) % whole_run;
        let what = format!("soft reset after {after} cycles");
        bench.driver.clear().unwrap();
        bench.driver.enable(Notice::Interrupt).unwrap();
        bench.load(&first).unwrap();
        bench.start(&first).unwrap();
        for _ in 0..after {
            bench.driver.device.tick().unwrap();
        }
        bench.driver.write("SOFT_RESET", 1).unwrap();
        let outcome = bench.driver.wait(Notice::Interrupt, RESET, &mut |_| false);
        let outcome = outcome.unwrap_or_else(|e| panic!("{what}: {e}"));
        // The last cycles of a run may be over before the reset is told.
        if outcome.error != 0 {
            assert_eq!(assert_error(&outcome, "RESET", &what), 0);
        } else {
            assert!(after + 200 > whole_run, "{what}: it was not cut off");
        }
        bench.driver.settle(RESET).unwrap();
        assert_rules(&bench, &what);
        run_clean(&mut bench, &next, Notice::Interrupt, &format!("after {what}"));
    }
}

#[test]
fn ap_rst_n_at_any_cycle_leaves_a_device_that_works() {
    let design = small();
    let others = tensors(&design, 33, 6);
    let tensors = tensors(&design, 40, 5);
    let [first, next] = [&tensors, &others].map(|t| job(&design, t, Mapping::RowAligned));
    let mut bench = whole(&design, &Platform::of(&design).unruly(3), &apart(7));
    let whole_run = run_clean(&mut bench, &first, Notice::Polling, "whole").outcome.cycles;
    for seed in 0..12 {
        let after = mix(100 + seed) % whole_run;
        let what = format!("ap_rst_n after {after} cycles");
        bench.load(&first).unwrap();
        bench.start(&first).unwrap();
        for _ in 0..after {
            bench.driver.device.tick().unwrap();
        }
        bench.driver.device.reset(HELD).unwrap();
        assert_eq!(bench.driver.read("ERROR").unwrap(), 0, "{what}");
        assert_eq!(bench.driver.read("RUNS").unwrap(), 0, "{what}");
        assert!(!bench.driver.device.interrupt());
        bench.driver.settle(RESET).unwrap();
        run_clean(&mut bench, &next, Notice::Interrupt, &format!("after {what}"));
    }
}

#[test]
fn a_reset_without_a_run_costs_nothing() {
    let design = small();
    let tensors = tensors(&design, 24, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(2));
    for times in 1..4 {
        for _ in 0..times {
            bench.driver.write("SOFT_RESET", 1).unwrap();
        }
        bench.driver.settle(RESET).unwrap();
        assert_eq!(bench.driver.read("ERROR").unwrap(), 0);
        run_clean(&mut bench, &job, Notice::Polling, &format!("after {times} resets"));
    }
    // What was pushed before a reset is gone.
    bench.load(&job).unwrap();
    for descriptor in job.descriptors().unwrap() {
        bench.driver.push(&descriptor).unwrap();
    }
    bench.driver.write("SOFT_RESET", 1).unwrap();
    bench.driver.settle(RESET).unwrap();
    bench.driver.start().unwrap();
    let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
    assert_error(&outcome, "START_EMPTY", "an empty queue");
}

#[test]
fn ap_rst_n_2_alone_is_told_and_the_next_run_works() {
    let design = small();
    let others = tensors(&design, 33, 6);
    let tensors = tensors(&design, 40, 5);
    let [first, next] = [&tensors, &others].map(|t| job(&design, t, Mapping::RowAligned));
    let mut bench = whole(&design, &Platform::of(&design).unruly(4), &apart(5));
    let whole_run = run_clean(&mut bench, &first, Notice::Interrupt, "whole").outcome.cycles;
    for seed in 0..8 {
        let after = mix(200 + seed) % (whole_run - 200);
        // From a few cycles to longer than a reset by the device itself takes.
        let held = 3 << seed;
        let what = format!("ap_rst_n_2 after {after} cycles, for {held}");
        bench.driver.clear().unwrap();
        bench.load(&first).unwrap();
        bench.start(&first).unwrap();
        for _ in 0..after {
            bench.driver.device.tick().unwrap();
        }
        bench.driver.device.hold_compute(true);
        for _ in 0..held {
            bench.driver.device.tick().unwrap();
        }
        bench.driver.device.hold_compute(false);
        let outcome = bench.driver.wait(Notice::Interrupt, RESET, &mut |_| false);
        let outcome = outcome.unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(assert_error(&outcome, "RESET", &what), 2, "{what}");
        bench.driver.settle(RESET).unwrap();
        run_clean(&mut bench, &next, Notice::Interrupt, &format!("after {what}"));
    }
}

#[test]
fn ap_rst_n_2_that_stays_ends_every_run_until_it_goes() {
    let design = small();
    let tensors = tensors(&design, 24, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(6));
    bench.driver.device.hold_compute(true);
    // The reset is only asked for: a run that waits for it is given up.
    for _ in 0..2 * TIMEOUT {
        bench.driver.device.tick().unwrap();
    }
    for time in 0..2 {
        let what = format!("time {time}");
        bench.driver.clear().unwrap();
        bench.load(&job).unwrap();
        bench.driver.start().unwrap();
        let outcome = bench.driver.wait(Notice::Polling, MOST_WITH_TIMEOUT, &mut |_| false).unwrap();
        // WHERE is the state: RESET.
        assert_eq!(assert_error(&outcome, "WATCHDOG", &what), 6, "{what}");
    }
    bench.driver.device.hold_compute(false);
    bench.driver.settle(MOST_WITH_TIMEOUT).unwrap();
    run_clean(&mut bench, &job, Notice::Polling, "after it");
}

#[test]
fn an_epoch_that_memory_still_owes_is_not_used_again() {
    let design = small();
    let others = tensors(&design, 61, 6);
    let tensors = tensors(&design, 61, 5);
    let [first, next] = [&tensors, &others].map(|t| job(&design, t, Mapping::HeadTile));
    let mut bench = whole(&design, &Platform::of(&design), &apart(8));
    for times in 0..2 {
        owe_four_epochs(&mut bench, [&first, &next]).unwrap_or_else(|why| panic!("time {times}: {why}"));
    }
}
