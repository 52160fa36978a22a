//! A run compares the sums of each head with the model before they are divided and rounded to FP16.

use crate::support::attention::{small, tensors, try_run, Trouble};
use crate::support::device::mutant;
use crate::support::verilated::emitted;
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::memory::Behaviour;
use meshkv::cosim::workloads::attention::{AttentionResult, Bench, Job};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::emit::SourceFile;
use meshkv::model::datapath::tensors::{Logits, Tensors};

/// Tokens whose logits are far apart, so that partial results are shifted far down.
fn far_apart(design: &Design) -> Tensors {
    tensors(design, 60, 1, Logits::Peaky, 5)
}

fn job<'a>(design: &'a Design, tensors: &'a Tensors) -> Job<'a> {
    Job::new(design, tensors, (0, 1), Mapping::RowAligned, Sharing::KvHead).unwrap()
}

fn run(files: &[SourceFile], job: &Job) -> AttentionResult {
    try_run(files, job, Trouble::default(), BuildForm::CorePieces, Clocks::IN_STEP).unwrap()
}

#[test]
fn sums_of_every_head_are_shown_and_are_the_models() {
    // One number a cycle is shown, two and four.
    for (width, root_lanes) in [(64, Some(1)), (64, None), (128, None)] {
        let design =
            small(|c| (c.noc.flit_width, c.kv.uram_per_tile, c.pe.root_lanes) = (width, 2, root_lanes));
        let tensors = far_apart(&design);
        let done = run(&emitted(&design), &job(&design, &tensors));
        let sums = done.sums.as_ref().expect("the Verilog shows them");
        assert_eq!((sums.len(), done.wrong_sums()), (6, Some(Vec::new())), "{width} {root_lanes:?}");
        assert!(
            sums.values().all(|sums| sums.numbers.len() == 33 && sums.numbers[0] >= 1 << 36),
            "l is at least 1"
        );
    }
    let design = small(|_| {});
    let tensors = far_apart(&design);
    let job = job(&design, &tensors);
    let timing = Bench::on_model(&job, Behaviour::of(&design), Clocks::IN_STEP, false).unwrap();
    assert_eq!(timing.run(0, 0, &mut |_| false).unwrap().wrong_sums(), None, "there are no numbers");
}

#[test]
fn a_slip_of_rounding_that_no_output_shows_is_found_in_the_sums() {
    let design = small(|_| {});
    let tensors = far_apart(&design);
    let job = job(&design, &tensors);
    for (from, to) in [
        // Bits that are shifted out are cut off instead of rounded.
        (" + { {SUM_WIDTH-1{1'b0}}, number_s4_q[0]}", ""),
        // The complement of a negative number lacks one.
        (" + {24'd0, sign}", ""),
    ] {
        let done = run(&mutant(&emitted(&design), "meshkv_reduce_adder", from, to), &job);
        assert_eq!(done.outputs, done.expected, "outputs hide the loss of `{from}`");
        let wrong = done.wrong_sums().expect("the Verilog shows them");
        assert!(!wrong.is_empty() && !done.bit_exact() && done.wrong() == wrong, "`{from}`: {wrong:?}");
    }
}
