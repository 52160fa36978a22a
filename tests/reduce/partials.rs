//! Partial results of runs over disjoint tokens: bit-exact on the Verilog, the same on the model to the cycle, and merged
//! they are attention over all tokens.

use crate::support::attention::{assert_exact, lockstep, on_model, run, small, tensors, Trouble};
use crate::support::verilated::emitted;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::workloads::attention::Job;
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::eval::{AttentionRow, PartialsRow};
use meshkv::model::datapath::tensors::{Logits, Tensors};
use meshkv::model::State;

fn job<'a>(design: &'a Design, tensors: &'a Tensors) -> Job<'a> {
    Job::new(design, tensors, (0, 2), Mapping::RowAligned, Sharing::KvHead).unwrap()
}

#[test]
fn the_model_returns_partial_results_in_the_cycles_of_the_verilog() {
    let design = small(|_| {});
    let tensors = tensors(&design, 60, 2, Logits::Peaky, 5);
    let job = job(&design, &tensors);
    let files = emitted(&design);
    for (rows, trouble) in [
        (0..60, Trouble::default()),
        (13..42, Trouble { stall: 200, unruly: true, noise: 3 }),
        (59..60, Trouble::default()),
    ] {
        let done = lockstep(&files, &job.part(rows.clone()), trouble, Clocks::IN_STEP).unwrap();
        assert_eq!(done.violations, [""; 0]);
        assert_exact(&done, &format!("{rows:?}"));
        let states: Vec<State> = done.outputs.values().map(|halves| State::of_halves(halves)).collect();
        assert!(states.len() == 12 && states.iter().all(|state| state.o.len() == 32 && state.l >= 1.0));
    }
}

#[test]
fn outputs_are_asked_for_again_after_partial_results() {
    let design = small(|_| {});
    let tensors = tensors(&design, 40, 2, Logits::Normal, 7);
    let job = job(&design, &tensors);
    let plain = run(&job, Trouble::default());
    let part = run(&job.part(0..40), Trouble::default());
    assert_exact(&part, "all tokens");
    // The state is what the output was made of: l and o in FP32 instead of fixed point.
    for (of, output) in &plain.outputs {
        let state = State::of_halves(&part.outputs[of]).output();
        for (a, b) in output.iter().zip(state) {
            let a = half::f16::from_bits(*a).to_f32();
            assert!((a - b).abs() <= a.abs() / 1024.0 + 1e-7, "{of:?}: {a}, {b}");
        }
    }
}

#[test]
fn any_number_of_parts_merges_to_attention_over_all_tokens() {
    let design = small(|_| {});
    for (logits, seed) in [(Logits::Normal, 1), (Logits::Peaky, 2), (Logits::Flat, 3), (Logits::LongTail, 4)]
    {
        let tensors = tensors(&design, 61, 2, logits, seed);
        let job = job(&design, &tensors);
        let of = |job: &Job| on_model(job, Trouble::default(), Clocks::IN_STEP, true);
        let whole = of(&job);
        let row = AttentionRow::new(&job, &whole);
        for parts in [2, 3, 8, 61] {
            let parts: Vec<_> = job.ranges(parts).into_iter().map(|rows| job.part(rows)).collect();
            assert_eq!(parts.iter().map(|part| part.rows.len()).sum::<usize>(), 61);
            let done: Vec<_> = parts.into_iter().map(|part| (part.clone(), of(&part))).collect();
            let merged = PartialsRow::new(&job, &whole, &row, &done);
            assert!(merged.is_good() && merged.runs.len() == done.len(), "{logits:?}: {merged:?}");
            let apart = merged.max_difference;
            assert!(apart > 0.0 && apart <= 2.0 * merged.bound, "{logits:?}: {merged:?}");
        }
        // A part that is left out, or is there twice, is found.
        let halves: Vec<_> = job.ranges(2).into_iter().map(|rows| job.part(rows)).collect();
        let done: Vec<_> = halves.into_iter().map(|part| (part.clone(), of(&part))).collect();
        for wrong in [vec![done[0].clone()], vec![done[0].clone(), done[0].clone()]] {
            assert!(!PartialsRow::new(&job, &whole, &row, &wrong).within_bound, "{logits:?}");
        }
    }
}
