//! Resets that cut off a run at any cycle, soft or from the platform: the next run works, and accepts no late answer
//! that memory owes to an earlier run.

use crate::support::attention;
use crate::support::device::{
    apart, assert_error, assert_rules, hasty, job, joined_of, late_memory, late_queries, modelled_of, mutant,
    owe_four_epochs, run_clean, small, tensors, whole,
};
use crate::support::device::{MOST, MOST_WITH_TIMEOUT, TIMEOUT};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::hash::mix;
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::device::{Bench, Notice, Platform};
use meshkv::design::device::registers::DESC_QUEUE;
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::emit::SourceFile;
use meshkv::model::datapath::tensors::Logits;

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
        owe_four_epochs(&mut bench, [&first, &next], late_memory(&design))
            .unwrap_or_else(|why| panic!("time {times}: {why}"));
    }
}

/// Queries whose heads are a beat each are the most bursts that a reader asks for. Cuts off runs that wait for them.
fn owe_bursts_of_a_beat(design: &Design, files: &[SourceFile]) -> Result<usize, String> {
    assert_eq!(design.pe.head_dim * 16, design.flit.data_width);
    let others = attention::tensors(design, 33, 4, Logits::Normal, 6);
    let tensors = attention::tensors(design, 40, 4, Logits::Normal, 5);
    let [first, next] = [&tensors, &others]
        .map(|of| Job::new(design, of, (0, 4), Mapping::RowAligned, Sharing::KvHead).unwrap());
    let mut platform = Platform::of(design);
    platform.io.outstanding = 100;
    let mut bench = modelled_of(files, &next, &platform, &Clocks::IN_STEP).unwrap();
    owe_four_epochs(&mut bench, [&first, &next], late_queries())
}

#[test]
fn bursts_of_a_beat_are_counted_until_all_of_them_are_answered() {
    let design = attention::small(|c| {
        (c.noc.flit_width, c.kv.segment_tokens) = (512, 64);
        (c.kv.uram_per_tile, c.pad.fifo_depth) = (8, Some(48));
        (c.memory.tiles_per_port, c.model.max_streams) = (Some(1), 4);
    });
    let files = hasty(&design);
    let owed = owe_bursts_of_a_beat(&design, &files).unwrap();
    // As many as places for beats allow, of four epochs: more than IDs of a port have names.
    assert_eq!(owed, 4 * 17);
    assert!(owed >= 1 << (design.axi_id_width() + 1));
    // A count as wide as for a memory port does not have room.
    let narrow = mutant(&files, "meshkv_read_guard", "$clog2(MOST_NUM + 1)", "ID_WIDTH + EPOCH_BITS + 1");
    let found = owe_bursts_of_a_beat(&design, &narrow);
    assert!(found.is_err(), "a count that wraps: {found:?}");
}

/// Lets a device refuse its last argument and changes the first. Cuts off the scan of the next run in every cycle, and
/// returns the first cycle after which the last argument is accepted.
fn accepted_after_a_scan(design: &Design, files: &[SourceFile]) -> Option<i32> {
    let tensors = tensors(design, 24, 5);
    let job = job(design, &tensors, Mapping::RowAligned);
    let mut bench = joined_of(files, design, &Platform::of(design), &Clocks::IN_STEP).unwrap();
    let (first, last) = (0, design.list_argument());
    let refused = Some(("ARGUMENT", last));
    let mut cut_off = 0;
    bench.load(&job).unwrap();
    // The reset of the arrays begins so many cycles before or after the start.
    for at in -24..40_i32 {
        let what = format!("cycle {at}");
        let first_error = |bench: &mut Bench| {
            bench.driver.clear().unwrap();
            if bench.driver.read("DESC_FREE").unwrap() == DESC_QUEUE {
                bench.push(&job).unwrap();
            }
            bench.driver.start().unwrap();
            let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
            outcome.first
        };
        bench.driver.argument(last, 0x6_ffff_f040).unwrap();
        assert_eq!(first_error(&mut bench), refused, "{what}: an argument that is not aligned");
        bench.driver.clear().unwrap();
        bench.driver.argument(first, bench.queries() + 0x1000 * (at + 25) as u64).unwrap();
        let hold = |bench: &mut Bench, held: bool, cycles: i32| {
            bench.driver.device.hold_compute(held);
            (0..cycles).for_each(|_| bench.driver.device.tick().unwrap());
        };
        if at < 0 {
            hold(&mut bench, true, -at);
        }
        bench.driver.start().unwrap();
        hold(&mut bench, false, at.max(0));
        if at >= 0 {
            hold(&mut bench, true, 8);
        }
        bench.driver.device.hold_compute(false);
        let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
        let (cause, _) = outcome.first.unwrap_or_else(|| panic!("{what}: the argument was accepted"));
        cut_off += usize::from(cause == "RESET");
        bench.driver.settle(RESET).unwrap();
        if first_error(&mut bench) != refused {
            return Some(at);
        }
    }
    // The scan takes two cycles an argument.
    assert!(cut_off >= 2 * design.arguments().len(), "{cut_off} runs were cut off");
    bench.driver.write("SOFT_RESET", 1).unwrap();
    bench.driver.settle(RESET).unwrap();
    bench.driver.argument(last, 0x6_ffff_f000).unwrap();
    run_clean(&mut bench, &job, Notice::Polling, "all arguments are aligned");
    None
}

#[test]
fn an_argument_that_is_not_aligned_stays_refused_whenever_a_scan_is_cut_off() {
    let (design, scan) = (small(), "if (lead_q[3] & ~arguments & fresh_q)");
    let files = hasty(&design);
    assert_eq!(accepted_after_a_scan(&design, &files), None);
    // A scan that was cut off and goes on where the last change was.
    let found = accepted_after_a_scan(&design, &mutant(&files, "meshkv_run_control", scan, "if (1'b0)"));
    assert!(found.is_some(), "a scan that forgets what it has read is found");
}
