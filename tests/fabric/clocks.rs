//! The arrays may have any clock: the whole design gives the same bits, and a faulty clock crossing is found.

use crate::support::attention::{assert_exact, run, run_with, small, tensors, try_run, Trouble};
use crate::support::sources::source_mut;
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::workloads::attention::{AttentionResult, Job};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::emit::{emit, pad_events, SourceFile};
use meshkv::model::datapath::tensors::{Logits, Tensors};

const CALM: Trouble = Trouble { stall: 0, unruly: false, noise: 1 };
const ROUGH: Trouble = Trouble { stall: 100, unruly: true, noise: 2 };

fn job<'a>(design: &'a Design, tensors: &'a Tensors) -> Job<'a> {
    Job::new(design, tensors, (0, 2), Mapping::RowAligned, Sharing::KvHead).unwrap()
}

fn clocks(noc: f64, pe: f64, jitter: u8, seed: u64) -> Clocks {
    Clocks { noc_mhz: noc, pe_mhz: pe, jitter, seed }
}

/// Flits that the tiles have processed in all, which no clock changes.
fn flits(design: &Design, done: &AttentionResult) -> Vec<u64> {
    let names = pad_events(design);
    let sum = |name: &str| {
        let at = names.iter().position(|n| n == name).unwrap();
        done.pad.iter().map(|tile| u64::from(tile[at])).sum()
    };
    ["flits_accepted", "k_passes", "v_passes", "ones_passes"].map(sum).to_vec()
}

#[test]
fn two_clocks_in_step_are_one() {
    let design = small(|_| {});
    let tensors = tensors(&design, 61, 2, Logits::Normal, 5);
    let job = job(&design, &tensors);
    let one = run(&job, ROUGH);
    for form in [BuildForm::CorePiecesTwoClocks, BuildForm::WholeCore] {
        let two = run_with(&job, ROUGH, form, clocks(300.0, 300.0, 0, 1));
        assert_eq!(two.outputs, one.outputs);
        assert_eq!(
            (two.cycles, two.query_cycles, two.kv_cycles),
            (one.cycles, one.query_cycles, one.kv_cycles)
        );
        assert_eq!(
            (two.pad, two.events, two.links),
            (one.pad.clone(), one.events.clone(), one.links.clone())
        );
    }
}

#[test]
fn unrelated_clocks_give_the_models_bits() {
    let design = small(|_| {});
    let tensors = tensors(&design, 61, 2, Logits::Normal, 5);
    let job = job(&design, &tensors);
    let one = run(&job, CALM);
    let mut cycles = Vec::new();
    for (noc, pe) in [(250.0, 300.0), (300.0, 250.0), (70.0, 20.0), (20.0, 70.0), (250.0, 250.0)] {
        for (jitter, trouble) in [(0, CALM), (Clocks::MOST_JITTER, CALM), (20, ROUGH)] {
            for seed in 1..=2 {
                let clocks = clocks(noc, pe, jitter, seed);
                let done = run_with(&job, trouble, BuildForm::CorePiecesTwoClocks, clocks);
                assert_exact(&done, &format!("{clocks:?}"));
                assert_eq!(done.outputs.len(), one.outputs.len());
                assert_eq!(flits(&design, &done), flits(&design, &one), "{clocks:?}");
                cycles.push(done.cycles);
            }
        }
    }
    cycles.sort_unstable();
    cycles.dedup();
    assert!(cycles.len() > 15, "phase, jitter and ratio change nothing: {cycles:?}");
}

#[test]
fn the_same_seed_gives_the_same_edges() {
    let design = small(|_| {});
    let tensors = tensors(&design, 32, 2, Logits::Normal, 5);
    let job = job(&design, &tensors);
    let seen = |form, seed| {
        let done = run_with(&job, ROUGH, form, clocks(250.0, 290.0, 10, seed));
        (done.cycles, done.outputs, done.pad, done.links)
    };
    assert_eq!(seen(BuildForm::CorePiecesTwoClocks, 4), seen(BuildForm::CorePiecesTwoClocks, 4));
    assert_ne!(seen(BuildForm::CorePiecesTwoClocks, 4).2, seen(BuildForm::CorePiecesTwoClocks, 5).2);
}

#[test]
fn a_design_without_overlap_stands_them_too() {
    let design = small(|c| c.pad.enable = false);
    let tensors = tensors(&design, 40, 2, Logits::Normal, 5);
    for (noc, pe) in [(250.0, 300.0), (300.0, 250.0)] {
        let clocks = clocks(noc, pe, 20, 1);
        assert_exact(
            &run_with(&job(&design, &tensors), CALM, BuildForm::CorePiecesTwoClocks, clocks),
            &format!("{clocks:?}"),
        );
    }
}

/// Replaces texts of one emitted module; each must occur.
fn change(files: &mut [SourceFile], module: &str, changes: &[(&str, &str)]) {
    let file = source_mut(files, module);
    for (from, to) in changes {
        assert!(file.text.contains(from), "{module} has no `{from}`");
        file.text = file.text.replace(from, to);
    }
}

#[test]
fn a_word_that_is_written_after_its_pointer_is_found() {
    let design = small(|_| {});
    let tensors = tensors(&design, 61, 2, Logits::Normal, 5);
    let job = job(&design, &tensors);
    let mut files = emit(&design).unwrap();
    let late = "reg written_q;
    reg [PTR_WIDTH-1:0] place_q;
    reg [WIDTH-1:0] word_q;
    always @(posedge s_clk) begin
        {written_q, place_q, word_q} <= {push, write_position, s_data};
        if (written_q) mem[place_q] <= word_q;
    end";
    let right = "always @(posedge s_clk) if (push) mem[write_position] <= s_data;";
    change(&mut files, "meshkv_async_fifo", &[(right, late)]);
    // On one clock nobody can tell: the pointer takes longer.
    let in_step = try_run(&files, &job, CALM, BuildForm::CorePieces, Clocks::IN_STEP).unwrap();
    assert_exact(&in_step, "in step");
    let apart = try_run(&files, &job, CALM, BuildForm::CorePiecesTwoClocks, clocks(20.0, 70.0, 20, 1));
    let right = apart.is_ok_and(|done| done.bit_exact() && done.violations.is_empty());
    assert!(!right, "words are read before they are written, unseen");
}
