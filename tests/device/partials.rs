//! Partial results through registers and AXI: where the host finds them, and what a stream returns beside another.

use crate::support::device::{
    apart, assert_rules, hasty, job, joined, joined_of, mutant, run_clean, small, tensors, whole, MOST,
};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::workloads::attention::{visits, Job};
use meshkv::cosim::workloads::device::{Bench, Notice, Platform};
use meshkv::design::{Descriptor, Design, Mapping};
use meshkv::emit::SourceFile;
use meshkv::model::datapath::attention::{self, Tokens};
use meshkv::model::datapath::tensors::Tensors;
use meshkv::model::{Datapath, DatapathShape, State};

#[test]
fn runs_with_outputs_and_with_partial_results_follow_each_other() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let platform = Platform::of(&design);
    for (mut bench, what) in [
        (whole(&design, &platform, &Clocks::IN_STEP), "whole"),
        (joined(&design, &platform.clone().unruly(2), &apart(1)), "unruly pieces"),
    ] {
        for (step, notice) in [Notice::Interrupt, Notice::Polling].into_iter().enumerate() {
            let job = job(&design, &tensors, Mapping::RowAligned);
            for rows in [0..30, 30..61] {
                let done =
                    run_clean(&mut bench, &job.part(rows), notice, &format!("{what}, part, step {step}"));
                assert!(done.outputs.values().all(|halves| State::of_halves(halves).l >= 1.0));
            }
            run_clean(&mut bench, &job, notice, &format!("{what}, step {step}"));
        }
    }
}

const TOKENS: usize = 61;
/// Buffers of the bench.
const OUTPUTS: u64 = 0x9_ffff_e000;

/// Those of [`each_returns_its_own`].
fn descriptors(job: &Job) -> [Descriptor; 3] {
    let both =
        Descriptor { count: 6, last_row: 7, close: false, step: false, ..job.descriptors().unwrap()[0] };
    let closes = |stream: u32, last_row: u32| Descriptor {
        first: 6 + stream,
        count: 1,
        last_row,
        stream,
        streams: 1,
        close: true,
        step: stream == 1,
        ..both
    };
    [both, closes(0, 7), closes(1, 4)]
}

/// Both streams attend to six segments; then stream 0 is closed with the seventh and stream 1 with the eighth. Each
/// returns what `asked` says. Returns the bytes of the buffer.
fn each_returns_its_own(bench: &mut Bench, design: &Design, tensors: &Tensors, asked: [bool; 2]) -> Vec<u8> {
    let job = job(design, tensors, Mapping::HeadTile);
    bench.driver.clear().unwrap();
    // The whole buffer is there for either.
    bench.load(&job.part(0..TOKENS as u32)).unwrap();
    bench.driver.device.set_image(job.image());
    for (descriptor, asked) in descriptors(&job).iter().zip([false, asked[0], asked[1]]) {
        bench.driver.partials = asked;
        bench.driver.push(descriptor).unwrap();
    }
    bench.driver.write("QUERY_STREAMS", 2).unwrap();
    bench.driver.start().unwrap();
    let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
    assert_eq!(outcome.error, 0, "{}", outcome.errors());
    bench.driver.device.outputs(OUTPUTS).unwrap().to_vec()
}

/// The state and the output of a head, all of whose segments are of one tile.
fn of_datapath(design: &Design, tensors: &Tensors, (stream, head): (usize, usize)) -> (State, Vec<u16>) {
    let (dim, datapath) = (32, Datapath::new(DatapathShape::of(design)));
    let mut partial = datapath.partial(tensors.query(head, stream));
    let job = job(design, tensors, Mapping::HeadTile);
    let visited = descriptors(&job).into_iter().flat_map(|d| visits(design, &d));
    let here = visited.filter(|(visit, _)| (visit.stream, visit.head) == (stream as u32, head as u32));
    for (first, rows) in here.flat_map(|(_, segments)| segments) {
        let elements = first as usize * dim..(first as usize + 8).min(TOKENS) * dim;
        let (k, v) = (tensors.keys(head), tensors.values(head));
        let rows = rows.start as usize..rows.end as usize;
        let tokens = Tokens { k: &k[elements.clone()], v: &v[elements], scales: None };
        attention::segment(&mut partial, tokens, rows);
    }
    let mut root = datapath.root();
    root.merge(&partial.to_flits());
    (root.state(), root.output())
}

/// The first difference from the datapath, if there is one: every byte that is written, and every one that is not.
fn difference(design: &Design, tensors: &Tensors, asked: [bool; 2], bytes: &[u8]) -> Option<String> {
    let (dim, heads) = (32, design.model.heads as usize);
    let mut expected = vec![0xa5; bytes.len()];
    let mut put = |at: usize, halves: &[u16]| {
        halves.iter().enumerate().for_each(|(i, half)| {
            expected[at + 2 * i..at + 2 * i + 2].copy_from_slice(&half.to_le_bytes());
        });
    };
    for (stream, asked) in asked.into_iter().enumerate() {
        for head in 0..heads {
            let (state, output) = of_datapath(design, tensors, (stream, head));
            let place = stream * heads + head;
            if asked {
                let halves = state.halves();
                put(design.partial_states_at() as usize + place * 8, &halves[..4]);
                put(design.partial_sums_at() as usize + place * dim * 4, &halves[4..]);
            } else {
                put(place * dim * 2, &output);
            }
        }
    }
    let at = (0..bytes.len()).find(|&at| bytes[at] != expected[at])?;
    Some(format!("{asked:?}: byte {at:#x} is {:#x} and not {:#x}", bytes[at], expected[at]))
}

#[test]
fn a_stream_returns_its_output_beside_another_that_returns_its_partial_result() {
    let design = small();
    let tensors = tensors(&design, TOKENS, 5);
    let mut bench = joined(&design, &Platform::of(&design).unruly(1), &Clocks::IN_STEP);
    for asked in [[true, false], [false, true], [true, true], [false, false]] {
        let bytes = each_returns_its_own(&mut bench, &design, &tensors, asked);
        assert_eq!(difference(&design, &tensors, asked, &bytes), None);
        assert_rules(&bench, &format!("{asked:?}"));
    }
}

/// What is wrong with runs on these files, if anything.
fn found(files: &[SourceFile], design: &Design, tensors: &Tensors) -> Option<String> {
    let platform = Platform::of(design).unruly(1);
    let run = || {
        let mut bench =
            joined_of(files, design, &platform, &Clocks::IN_STEP).map_err(|why| why.to_string())?;
        for asked in [[true, false], [false, true]] {
            let bytes = each_returns_its_own(&mut bench, design, tensors, asked);
            if let Some(found) = difference(design, tensors, asked, &bytes) {
                return Err(found);
            }
            assert_rules(&bench, "no rule is broken");
        }
        Ok(())
    };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
        Ok(done) => done.err(),
        Err(_) => Some("it failed".to_owned()),
    }
}

#[test]
fn slips_of_the_front_are_found() {
    let design = small();
    let tensors = tensors(&design, TOKENS, 5);
    let files = hasty(&design);
    assert_eq!(found(&files, &design, &tensors), None);
    let slips = [
        ("meshkv_descriptor_queue", "if (begin_run) partials_q <= asked_q;", "partials_q <= asked_q;"),
        ("meshkv_descriptor_queue", "put_flags[11];", "1'b1;"),
        ("meshkv_output_writer", "header ? 6'd1 :", ""),
        ("meshkv_output_writer", "STATES + (wide_head_at << FLIT_LOG)", "STATES"),
        ("meshkv_output_writer", "of_sums ? burst - 1'b1 : burst", "burst"),
        ("meshkv_output_writer", "of_state ? 5'd1 : BURST[4:0]", "BURST[4:0]"),
        ("meshkv_output_writer", "own_b_q & sum_b_q", "1'b0"),
        ("meshkv_output_writer", ", sums_q};", ", 1'b0};"),
    ];
    for (module, from, to) in slips {
        let slipped = mutant(&files, module, from, to);
        assert!(found(&slipped, &design, &tensors).is_some(), "nothing shows {module}: {from}");
    }
}
