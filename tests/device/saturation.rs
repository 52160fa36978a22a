//! A logit beyond the range: the run ends with all its outputs, ERROR names the first void one, the interrupt rises,
//! and nothing of it is left for the next run.

use crate::support::attention::small;
use crate::support::device::{
    apart, assert_clean, assert_error, assert_rules, hasty, job, modelled_of, mutant, run_clean, whole,
};
use crate::support::saturation::beyond;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::device::{Bench, Finished, Notice, Platform};
use meshkv::design::device::registers::{error, voids};
use meshkv::design::{Design, Mapping};

/// A limit beyond any run at the slowest clock here.
const MOST: u64 = 1_000_000;
/// Bits of CTRL and ISR.
const DONE: u32 = 0b10;
const START: u32 = 0x01;
const AGAIN: u32 = 0x80;
const OF_ERROR: u32 = 0b100;

/// A row in each SLR, so that a core's wires to the front pass both boundaries. The window of 20 tokens begins within
/// a chunk of two tokens: token 24 of 45 is fetched, multiplied and masked.
fn design() -> Design {
    let design = small(|c| {
        (c.mesh.cols, c.mesh.rows) = (2, 3);
        (c.model.sliding_window, c.pad.fifo_depth) = (Some(20), Some(48));
    });
    assert_eq!(design.mare.chunk_flits, 16);
    assert!((0..2).all(|row| design.floorplan.crosses(row)), "a row in each SLR");
    design
}

const TOKENS: usize = 45;
/// The first token that counts, and the last that is read before it.
const FIRST: usize = 25;
const MASKED: usize = FIRST - 1;

/// Runs a job with nothing but the interrupt of errors, and says whether it stood at the end.
fn run(bench: &mut Bench, job: &Job) -> (Finished, bool) {
    bench.driver.enable(Notice::Polling).unwrap();
    bench.driver.write("IER", OF_ERROR).unwrap();
    bench.driver.write("GIE", 1).unwrap();
    bench.load(job).unwrap();
    bench.start(job).unwrap();
    let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
    let isr = bench.driver.read("ISR").unwrap();
    assert_eq!(isr & !OF_ERROR, 0, "only errors are enabled");
    assert_eq!(bench.driver.device.interrupt(), isr != 0);
    (bench.take(job, outcome), isr == OF_ERROR)
}

#[test]
fn a_run_with_a_void_output_ends_whole_and_says_so_and_the_next_is_clean() {
    let design = design();
    // Stream 1 of head 2, whose KV head is 1: as late as possible, and by tiles of every row.
    let void = |tokens: &[usize]| {
        let keys: Vec<_> = tokens.iter().map(|token| (1, *token)).collect();
        beyond(&design, TOKENS, &[(1, 2)], &keys)
    };
    let place = design.model.heads + 2;
    let masked = void(&[MASKED]);
    // PaD at a thirtieth of the network's clock, at its own, and faster.
    let slow = Clocks { noc_mhz: 300.0, pe_mhz: 10.0, jitter: 15, seed: 3 };
    for clocks in [Clocks::IN_STEP, apart(1), slow] {
        let mut bench = whole(&design, &Platform::of(&design), &clocks);
        // Its reset lasts for some cycles of the slower clock.
        bench.driver.settle(MOST).unwrap();
        for (mapping, tokens) in [
            (Mapping::RowAligned, &[FIRST][..]),
            (Mapping::RowAligned, &[FIRST + 9]),
            (Mapping::RowAligned, &[TOKENS - 1]),
            (Mapping::HeadTile, &[FIRST + 1, TOKENS - 1]),
        ] {
            let what = format!("{tokens:?}, {mapping:?}, {clocks:?}");
            bench.driver.clear().unwrap();
            let tensors = void(tokens);
            let (done, interrupt) = run(&mut bench, &job(&design, &tensors, mapping));
            assert_eq!(assert_error(&done.outcome, "SATURATED", &what), place, "{what}");
            assert!(interrupt, "{what}: no interrupt");
            assert_clean(&bench, &done, &what);
            let heads: Vec<_> = done.saturated.iter().map(|one| (one.stream, one.head, one.token)).collect();
            assert_eq!(heads, [(1, 2, tokens[0] as u32)], "{what}");

            // The bit stays until it is cleared, but a clean run does not set it.
            let quiet = job(&design, &masked, mapping);
            bench.load(&quiet).unwrap();
            bench.start(&quiet).unwrap();
            let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
            assert_error(&outcome, "SATURATED", &format!("{what}, not cleared"));
            bench.driver.clear().unwrap();
            let (done, interrupt) = run(&mut bench, &quiet);
            assert_eq!(
                (done.outcome.error, interrupt),
                (0, false),
                "after {what}: {}",
                done.outcome.errors()
            );
            assert_clean(&bench, &done, &format!("after {what}"));
        }
    }
}

#[test]
fn void_outputs_end_auto_restart_and_the_descriptors_of_the_next_run_wait() {
    let design = design();
    let tensors = beyond(&design, TOKENS, &[(0, 5)], &[(2, FIRST)]);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(2));
    bench.load(&job).unwrap();
    bench.push(&job).unwrap();
    bench.driver.write("CTRL", START | AGAIN).unwrap();
    bench.push(&job).unwrap();
    let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
    assert_eq!(assert_error(&outcome, "SATURATED", "the first run"), 5);
    let done = bench.take(&job, outcome);
    assert_clean(&bench, &done, "the first run");
    bench.driver.settle(MOST).unwrap();
    assert_eq!(bench.driver.read("RUNS").unwrap(), 1, "the second has not begun");
    assert_eq!(bench.driver.read("CTRL").unwrap() & (START | AGAIN | DONE), 0);
    bench.driver.clear().unwrap();
    bench.driver.start().unwrap();
    let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
    assert_eq!(assert_error(&outcome, "SATURATED", "the second run"), 5);
    assert_rules(&bench, "a chain");
}

/// What a run of the model of the core shows before a front of these files, if anything is wrong.
fn found(files: &[meshkv::emit::SourceFile], job: &Job) -> String {
    let design = job.design;
    let mut bench = modelled_of(files, job, &Platform::of(design), &Clocks::IN_STEP).unwrap();
    let (done, interrupt) = run(&mut bench, job);
    if interrupt != (done.outcome.error & voids() != 0) {
        return format!("interrupt {interrupt}, `{}`", done.outcome.errors());
    }
    done.violations.join("\n")
}

#[test]
fn a_front_that_loses_the_report_or_makes_one_up_is_found() {
    let design = design();
    let [void, none] = [&[FIRST][..], &[]].map(|tokens| {
        let keys: Vec<_> = tokens.iter().map(|token| (1, *token)).collect();
        beyond(&design, TOKENS, &[(1, 2)], &keys)
    });
    let [void, none] = [&void, &none].map(|tensors| job(&design, tensors, Mapping::RowAligned));
    let files = hasty(&design);
    for job in [&void, &none] {
        assert_eq!(found(&files, job), "");
    }
    let of_error = format!("5'd{}", error("SATURATED").bit);
    for (job, module, from, to) in [
        (&void, "meshkv_output_writer", "leaves & out_saturated[col_q]", "1'b0"),
        (
            &void,
            "meshkv_output_writer",
            "assign saturated_where = wide_place[15:0];",
            "assign saturated_where = 16'd0;",
        ),
        (&none, "meshkv_output_writer", "leaves & out_saturated[col_q]", "leaves"),
        (&void, "meshkv_control_registers", "(saturated_valid ? ONE", "(saturated_valid & over ? ONE"),
        (
            &void,
            "meshkv_control_registers",
            "({any, over, over} & ier_q)",
            "({fail_valid | wrong, over, over} & ier_q)",
        ),
        (&void, "meshkv_control_registers", of_error.as_str(), "5'd3"),
    ] {
        let what = found(&mutant(&files, module, from, to), job);
        assert!(!what.is_empty(), "{module}: nothing shows `{to}`");
    }
}

#[test]
fn a_run_that_is_checked_as_any_other_reports_what_it_should() {
    // A bench that runs a job to its end takes void outputs for no failure.
    let design = design();
    let tensors = beyond(&design, TOKENS, &[(0, 1), (1, 4)], &[(0, TOKENS - 1), (2, FIRST + 3)]);
    let job = job(&design, &tensors, Mapping::StreamStriped);
    let mut bench =
        modelled_of(&hasty(&design), &job, &Platform::of(&design).unruly(2), &Clocks::IN_STEP).unwrap();
    let done = run_clean(&mut bench, &job, Notice::Interrupt, "void outputs");
    let heads: Vec<_> = done.saturated.iter().map(|one| (one.stream, one.head)).collect();
    assert_eq!((heads, done.outcome.is_void()), (vec![(0, 1), (1, 4)], true));
}
