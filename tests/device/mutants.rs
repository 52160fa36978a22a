//! Mutants of the front's Verilog: each fault that would fail on a board is found.

use crate::support::device::{
    apart, hasty, job, joined_of, late_memory, modelled_of, mutant, owe_four_epochs, small, tensors,
};
use crate::support::device::{MOST, MOST_WITH_TIMEOUT, TIMEOUT};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::memory::{Fault, FaultKind};
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::device::{DeviceError, Faults, Notice, Platform};
use meshkv::design::device::registers::{error, named};
use meshkv::design::Mapping;
use meshkv::emit::SourceFile;

/// Runs jobs on the worst platform and returns the first fault found; empty if there is none.
pub(super) fn found(files: &[SourceFile], jobs: &[Job], faults: Faults) -> String {
    let design = jobs[0].design;
    let mut bench = match joined_of(files, design, &Platform::of(design).unruly(1), &apart(1)) {
        Ok(bench) => bench,
        Err(why) => return why.to_string(),
    };
    let mut failed = faults == Faults::default();
    bench.driver.device.set_faults(faults);
    for job in jobs {
        let done = bench.run(job, Notice::Interrupt, MOST_WITH_TIMEOUT, &mut |_| false);
        let (count, first) = bench.driver.device.violations();
        if count > 0 {
            return first.join("\n");
        }
        match done {
            Ok(done) if !done.bit_exact() => return format!("outputs differ; {:?}", done.violations),
            Ok(_) => {}
            // The first may fail, where memory does.
            Err(DeviceError::Failed(_)) if !failed => {
                failed = true;
                bench.driver.device.set_faults(Faults::default());
                if let Err(why) = bench.driver.settle(MOST_WITH_TIMEOUT) {
                    return why.to_string();
                }
            }
            Err(why) => return why.to_string(),
        }
    }
    String::new()
}

#[test]
fn a_run_with_queries_of_before_a_reset_is_refused_by_one_check() {
    let design = small();
    let tensors = tensors(&design, 40, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let files = mutant(&hasty(&design), "meshkv_run_control", "unloaded  = unloaded_q;", "unloaded  = 1'b0;");
    for (files, wanted) in [(hasty(&design), 1 << error("START_UNLOADED").bit), (files, 0)] {
        let mut bench = joined_of(&files, &design, &Platform::of(&design), &Clocks::IN_STEP).unwrap();
        bench.run(&job, Notice::Polling, MOST, &mut |_| false).unwrap();
        bench.driver.write("SOFT_RESET", 1).unwrap();
        bench.driver.settle(MOST).unwrap();
        bench.load(&job).unwrap();
        bench.push(&job).unwrap();
        bench.driver.write("QUERY_STREAMS", 0).unwrap();
        bench.driver.start().unwrap();
        let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
        assert_eq!(outcome.error, wanted, "{}", outcome.errors());
    }
}

/// A mutant: module, text, its replacement, a part of the expected message.
pub(super) type Mutant = (&'static str, &'static str, &'static str, &'static str);

#[test]
fn runs_that_are_over_too_early_are_found() {
    let design = small();
    let tensors = tensors(&design, 40, 5);
    let jobs = [job(&design, &tensors, Mapping::RowAligned), job(&design, &tensors, Mapping::HeadTile)];
    assert_eq!(found(&hasty(&design), &jobs, Faults::default()), "");
    let mutants: [Mutant; 2] = [
        // Done before all has been written.
        (
            "meshkv_run_control",
            "settled = ~|due_q & ~more_queries & core_idle",
            "settled = ~more_queries & core_idle",
            "",
        ),
        (
            "meshkv_output_writer",
            "written_q  <= own_b_q & last_b;",
            "written_q  <= own_b_q & ~|answer_q;",
            "",
        ),
    ];
    for (module, from, to, words) in mutants {
        let what = found(&mutant(&hasty(&design), module, from, to), &jobs, Faults::default());
        assert!(!what.is_empty() && what.contains(words), "{module}: `{to}`: {what:?}");
    }
}

#[test]
fn answers_of_before_that_are_taken_for_new_ones_are_found() {
    let design = small();
    let tensors = [5, 6].map(|seed| tensors(&design, 61, seed));
    let jobs: Vec<Job> =
        [0, 1, 0, 1].map(|i| job(&design, &tensors[i], Mapping::HeadTile)).into_iter().collect();
    let late = |port: usize| Fault::of_port(port, FaultKind::Late(2 * TIMEOUT + 2_000)).after(1);
    let faults = Faults { hbm: (0..design.memory.ports as usize).map(late).collect(), ..Faults::default() };
    assert_eq!(found(&hasty(&design), &jobs, faults.clone()), "");
    let dropped = "assign s_rvalid = m_rvalid && m_rid[ID_WIDTH+:EPOCH_BITS] == epoch && ~stale;";
    let files = mutant(&hasty(&design), "meshkv_read_guard", dropped, "assign s_rvalid = m_rvalid;");
    assert_ne!(found(&files, &jobs, faults), "", "the epoch is ignored, unseen");
}

#[test]
fn an_epoch_that_is_used_again_too_early_is_found() {
    let design = small();
    let tensors = [5, 6].map(|seed| tensors(&design, 61, seed));
    let jobs = [0, 1].map(|i| job(&design, &tensors[i], Mapping::HeadTile));
    let files = mutant(
        &hasty(&design),
        "meshkv_run_control",
        "end else if (dirty) begin",
        "end else if (1'b0) begin",
    );
    let mut bench = joined_of(&files, &design, &Platform::of(&design), &apart(1)).unwrap();
    let found = owe_four_epochs(&mut bench, [&jobs[0], &jobs[1]], late_memory(&design));
    assert!(found.is_err(), "memory owes the epoch, unseen");
}

/// A fault of the front in one of its epochs, and the rule that it breaks.
struct Breaks {
    /// A text of a module, and its replacement.
    from: &'static str,
    to: &'static str,
    rule: &'static str,
}

/// Runs a front that breaks a rule in each epoch but the first, with the model of the core: each rule is named.
fn rules_are_named(module: &str, breaks: [Breaks; 3]) {
    let design = small();
    let tensors = tensors(&design, 40, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut files = hasty(&design);
    for Breaks { from, to, .. } in &breaks {
        files = mutant(&files, module, from, to);
    }
    let epoch_of = |status: u32| {
        let field = named("STATUS").fields.iter().find(|f| f.name == "EPOCH").expect("a field");
        field.of(status) as usize
    };
    for epoch in 0..4 {
        let platform = Platform::of(&design).unruly(3);
        let mut bench = modelled_of(&files, &job, &platform, &Clocks::IN_STEP).unwrap();
        while epoch_of(bench.driver.read("STATUS").unwrap()) != epoch {
            bench.driver.write("SOFT_RESET", 1).unwrap();
            bench.driver.settle(MOST).unwrap();
        }
        let done = bench.run(&job, Notice::Polling, MOST, &mut |_| false);
        let (_, first) = bench.driver.device.violations();
        match epoch {
            0 => assert!(first.is_empty() && done.is_ok_and(|d| d.bit_exact()), "{module}: {first:?}"),
            _ => {
                let rule = breaks[epoch - 1].rule;
                assert!(first.iter().any(|f| f.contains(rule)), "{module}, {rule}: {first:?}");
            }
        }
    }
}

#[test]
fn rules_of_axi_that_reads_break_are_named() {
    rules_are_named(
        "meshkv_read_guard",
        [
            // Every burst begins with the last beat of a page.
            Breaks {
                from: "addr_q <= {base + offset[63:ALIGN_LOG], offset[ALIGN_LOG-1:0]};",
                to: "addr_q <= {base + offset[63:ALIGN_LOG], offset[ALIGN_LOG-1:0]};
            if (epoch == 2'd1) addr_q[11:0] <= 12'd0 - (12'd1 << FLIT_LOG);",
                rule: "border of 4 KiB",
            },
            Breaks {
                from: "len_q  <= s_arlen;",
                to: "len_q  <= epoch == 2'd2 ? s_arlen + 8'd16 : s_arlen;",
                rule: "more than 16 beats",
            },
            Breaks {
                from: "valid_q <= take | (valid_q & ~m_arready);",
                to: "valid_q <= take | (valid_q & ~m_arready & epoch != 2'd3);",
                rule: "was not taken and is gone (A3.2.1)",
            },
        ],
    );
}

#[test]
fn rules_of_axi_that_writes_break_are_named() {
    rules_are_named(
        "meshkv_output_writer",
        [
            Breaks {
                from: "w_last_q <= left_q == 5'd1;",
                to: "w_last_q <= left_q == (epoch == 2'd1 ? 5'd2 : 5'd1);",
                rule: "WLAST",
            },
            Breaks {
                from: "single_q ? 8'd0 : LAST_FLIT_NUM[7:0];",
                to: "LAST_FLIT_NUM[7:0] + (aw_epoch_q == 2'd2 ? 8'd16 : 8'd0);",
                rule: "more than 16 beats",
            },
            Breaks {
                from: "aw_q     <= opens | (aw_q & ~m_awready);",
                to: "aw_q     <= opens | (aw_q & ~m_awready & epoch != 2'd3);",
                rule: "was not taken and is gone (A3.2.1)",
            },
        ],
    );
}
