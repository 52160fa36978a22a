//! Mutants of the way of new tokens on the device: each fault that would lose one on a board is found.

use super::append::{job, LENGTHS};
use super::append_faults::{assert_nothing_else_was_written, begin, RESET};
use super::mutants::{found, Mutant};
use crate::support::device::{apart, growing, hasty, joined_of, mutant, tensors};
use crate::support::device::{MOST_WITH_TIMEOUT, TIMEOUT};
use meshkv::cosim::hash::mix;
use meshkv::cosim::memory::{Fault, FaultKind};
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::device::{Faults, Notice, Platform};
use meshkv::design::Mapping;
use meshkv::emit::SourceFile;
use std::panic::{catch_unwind, AssertUnwindSafe};

const WRITER: &str = "meshkv_token_writer";

#[test]
fn a_token_that_is_lost_or_written_elsewhere_is_found() {
    let design = growing();
    let tensors = tensors(&design, 100, 5);
    let jobs: Vec<Job> = LENGTHS.map(|lengths| job(&design, &tensors, &lengths, Mapping::RowAligned)).into();
    let files = hasty(&design);
    assert_eq!(found(&files, &jobs, Faults::default()), "");
    let mutants: [Mutant; 9] = [
        // A slice is announced before its token is in, or with the tokens of the run before.
        ("meshkv_token_reader", "open_q & ~(busy_q & rests)", "open_q & ~busy_q", ""),
        ("meshkv_token_reader", "begin_run ? |streams :", "begin_run ? 1'b0 :", ""),
        (
            "meshkv_token_reader",
            "next_q   <= TOKENS_AT[IO_ADDR_WIDTH-1:0];",
            "next_q   <= {IO_ADDR_WIDTH{1'b0}};",
            "",
        ),
        // Other places, other bytes, other elements.
        (WRITER, "= wide_row * ROW_STEP", "= wide_row[1:0] * ROW_STEP", ""),
        (WRITER, "(wide_row >> LANE_BITS) *", "(wide_row >> (LANE_BITS + 1)) *", ""),
        (WRITER, "row_q[LANE_BITS-1:0] == LANE", "~row_q[LANE_BITS-1:0] == LANE", ""),
        (WRITER, "(values_q ? VALUE_STEP[AT_BITS-1:0]", "(values_q ? KEY_STEP[AT_BITS-1:0]", ""),
        (WRITER, "(~of_values_q | &element_q)", "(~of_values_q | element_q[1])", ""),
        // Places are given back that are not free.
        (WRITER, "credit_q <= pops;", "credit_q <= pops | takes & ~credit_q | loads;", ""),
    ];
    for (module, from, to, words) in mutants {
        let what = found(&mutant(&files, module, from, to), &jobs, Faults::default());
        assert!(!what.is_empty() && what.contains(words), "{module}: `{to}`: {what:?}");
    }
}

#[test]
fn a_run_that_is_over_before_its_tokens_are_in_memory_is_found() {
    let design = growing();
    let tensors = tensors(&design, 100, 5);
    let job = job(&design, &tensors, &LENGTHS[0], Mapping::RowAligned);
    let files = hasty(&design);
    let awaited = |files: &[SourceFile]| {
        let mut bench = joined_of(files, &design, &Platform::of(&design), &apart(1)).unwrap();
        let late = |port| Fault::of_port(port, FaultKind::Late(TIMEOUT / 4 * 3));
        let tokens = (0..design.memory.ports as usize).map(late).collect();
        bench.driver.device.set_faults(Faults { tokens, ..Faults::default() });
        let done = bench.run(&job, Notice::Interrupt, MOST_WITH_TIMEOUT, &mut |_| false);
        done.is_ok_and(|done| done.bit_exact()) && bench.driver.device.waiting() == 0
    };
    assert!(awaited(&files));
    let mutants: [Mutant; 2] = [
        ("meshkv_run_control", " & ~append_busy;", ";", ""),
        (WRITER, "have_q | active_q | |own_q;", "have_q | active_q;", ""),
    ];
    for (module, from, to, _) in mutants {
        assert!(!awaited(&mutant(&files, module, from, to)), "{module}: `{to}`");
    }
    // A writer that can count few bursts waits, and loses count of none.
    let few = mutant(&files, WRITER, "OWED_BITS = 6", "OWED_BITS = 2");
    assert!(awaited(&few));
    assert!(!awaited(&mutant(&few, WRITER, " & ~full_q;", ";")), "more bursts than can be counted");
}

/// The first fault of a device whose memory is late with its answers to writes, beyond the patience of a run.
fn late(files: &[SourceFile], jobs: &[Job]) -> String {
    let late = |port| Fault::of_port(port, FaultKind::Late(2 * TIMEOUT + 2_000));
    let tokens = (0..jobs[0].design.memory.ports as usize).map(late).collect();
    found(files, jobs, Faults { tokens, ..Faults::default() })
}

#[test]
fn answers_to_a_cut_off_write_that_are_taken_for_others_are_found() {
    let design = growing();
    let tensors = tensors(&design, 100, 5);
    // A write that memory took may still land: only what is in its place again is looked at.
    let jobs: Vec<Job> =
        [0; 6].map(|at: usize| job(&design, &tensors, &LENGTHS[at], Mapping::RowAligned)).into();
    let files = hasty(&design);
    assert_eq!(late(&files, &jobs), "");
    let of_now = "m_bvalid && m_bid[ID_WIDTH+:EPOCH_BITS] == epoch && ~(flush | stale);";
    assert_ne!(late(&mutant(&files, WRITER, of_now, "m_bvalid;"), &jobs), "", "the epoch is ignored, unseen");
    // A silence between two runs is that of the next.
    let kept = mutant(&files, WRITER, "moving | ~run_busy |", "moving |");
    let stuck = |files: &[SourceFile], from| {
        let mut bench = joined_of(files, &design, &Platform::of(&design), &apart(1)).unwrap();
        let port = |port| Fault::of_port(port, FaultKind::Shut).after(from);
        let tokens = (0..design.memory.ports as usize).map(port).collect();
        bench.driver.device.set_faults(Faults { tokens, ..Faults::default() });
        bench.run(&jobs[0], Notice::Interrupt, MOST_WITH_TIMEOUT, &mut |_| false).unwrap_err();
        for _ in 0..2 * TIMEOUT {
            bench.driver.device.tick().unwrap();
        }
        bench.driver.device.set_faults(Faults::default());
        bench.run(&jobs[1], Notice::Interrupt, MOST_WITH_TIMEOUT, &mut |_| false).is_ok()
    };
    assert!(stuck(&files, 0) && !stuck(&kept, 0), "a silence of before the run");
    // A burst that ends after the reset leaves the next token out of step.
    let counts = mutant(&files, WRITER, "loads & of_values_q & ~cut_q", "loads & of_values_q");
    // K of the first token passes.
    assert!(stuck(&files, 2) && !stuck(&counts, 2), "elements of a burst that was cut off");
}

#[test]
fn a_burst_that_a_reset_cuts_off_and_that_writes_on_is_found() {
    let design = growing();
    let tensors = tensors(&design, 100, 5);
    let job = job(&design, &tensors, &LENGTHS[0], Mapping::RowAligned);
    let files = hasty(&design);
    let cut = |files: &[SourceFile]| {
        for seed in 0..24 {
            let mut bench = joined_of(files, &design, &Platform::of(&design).unruly(2), &apart(1)).unwrap();
            // Within the cycles in which tokens are written.
            begin(&mut bench, &job, 0);
            while bench.driver.device.token_writes().iter().all(|&writes| writes == 0) {
                bench.driver.device.tick().unwrap();
            }
            for _ in 0..mix(seed) % 200 {
                bench.driver.device.tick().unwrap();
            }
            bench.driver.write("SOFT_RESET", 1).unwrap();
            let told = bench.driver.wait(Notice::Interrupt, RESET, &mut |_| false);
            if told.is_err() || bench.driver.settle(RESET).is_err() {
                return false;
            }
            let other = || assert_nothing_else_was_written(&bench, &job, "a reset");
            if bench.driver.device.waiting() > 0 || catch_unwind(AssertUnwindSafe(other)).is_err() {
                return false;
            }
        }
        true
    };
    assert!(cut(&files));
    assert!(!cut(&mutant(&files, WRITER, "if (cut_q) w_strb_q", "if (1'b0) w_strb_q")), "bytes");
    assert!(!cut(&mutant(&files, WRITER, "(word_valid | cut_q)", "word_valid")), "its end");
}
