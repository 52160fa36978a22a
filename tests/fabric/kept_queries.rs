//! Runs that keep the queries of the run before: an infinity or a NaN spoils the runs that meet it, and no other.

use crate::support::attention::{small, tensors};
use crate::support::device::{apart, assert_clean, mutant, run_clean, whole, MOST};
use crate::support::verilated::{beside, emitted, library_of};
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::memory::Behaviour;
use meshkv::cosim::workloads::attention::{Bench, Job, Session};
use meshkv::cosim::workloads::device::{Notice, Platform};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::emit::SourceFile;
use meshkv::model::datapath::numbers::fp16;
use meshkv::model::datapath::tensors::{Logits, Tensors};

const TOKENS: usize = 45;
const DIM: usize = 32;

/// What a run meets: an element of Q, K or V, by its place there, has these bits.
type Change = (usize, usize, u16);

/// A run: its queries are new, or those of the run before; its changed elements; query heads whose outputs are NaN.
type Run = (bool, &'static [Change], &'static [u32]);

const fn at(kv_head: usize, token: usize) -> usize {
    (kv_head * TOKENS + token) * DIM + 9
}

const NAN_IN_Q: Change = (0, 5 * DIM + 31, 0x7e01);

/// KV head g is attended to by heads 2 g and 2 g + 1.
const RUNS: [Run; 10] = [
    (true, &[], &[]),
    (false, &[(1, at(1, 44), 0x7c00)], &[2, 3]),
    (false, &[], &[]),
    (false, &[(2, at(2, 0), 0xfc00)], &[4, 5]),
    (false, &[(1, at(0, 7), 0x7e00), (2, at(0, 7), 0x7e00)], &[0, 1]),
    (false, &[], &[]),
    // That of a query lasts as long as the query.
    (true, &[NAN_IN_Q], &[5]),
    (false, &[NAN_IN_Q, (1, at(1, 3), 0xffff)], &[2, 3, 5]),
    (false, &[NAN_IN_Q], &[5]),
    (true, &[], &[]),
];

/// The tensors of each run. Queries that are kept are the same.
fn inputs(design: &Design) -> Vec<Tensors> {
    let of = |changes: &[Change]| {
        let (shape, mut parts) = tensors(design, TOKENS, 1, Logits::Normal, 3).into_parts();
        changes.iter().for_each(|&(part, at, bits)| parts[part][at] = bits);
        Tensors::new(shape, parts)
    };
    RUNS.iter().map(|(_, changes, _)| of(changes)).collect()
}

fn assert_nan<'a>(heads: impl Iterator<Item = (u32, &'a Vec<u16>)>, wrong: &[u32], what: &str) {
    let nan =
        |(head, output): (u32, &Vec<u16>)| output.iter().any(|&bits| fp16::is_special(bits)).then_some(head);
    assert_eq!(heads.filter_map(nan).collect::<Vec<_>>(), wrong, "{what}");
}

/// Runs all of it with the Verilog of these files and the model, compared in every cycle. Returns the runs that are not
/// as the datapath has them.
fn in_lockstep(design: &Design, files: &[SourceFile], mapping: Mapping) -> Vec<usize> {
    let inputs = inputs(design);
    let job = |tensors| Job::new(design, tensors, (0, 1), mapping, Sharing::KvHead).unwrap();
    let library = library_of(BuildForm::CorePieces, design, files);
    let both = beside(&library, 1, Bench::model(design), &Bench::ports(design), design);
    let (image, behaviour) = (job(&inputs[0]).given(), Behaviour::of(design));
    let mut session = Session::on(both.unwrap(), design, image, behaviour, Clocks::IN_STEP).unwrap();
    let mut wrong = Vec::new();
    for (run, ((new, _, nan), tensors)) in RUNS.iter().zip(&inputs).enumerate() {
        let job = job(tensors);
        session.set_image(job.given());
        let done = match new {
            true => session.step(&job, 0, &mut || false),
            false => session.step_on_kept_queries(&job, 0, &mut || false),
        };
        let (done, what) = (done.unwrap(), format!("{mapping:?}, run {run}"));
        assert_eq!(done.violations, [""; 0], "{what}");
        assert_nan(done.expected.iter().map(|(of, output)| (of.1, output)), nan, &what);
        if !done.bit_exact() {
            wrong.push(run);
        }
    }
    wrong
}

#[test]
fn special_values_of_one_run_do_not_reach_the_next_one() {
    let design = small(|_| {});
    for mapping in [Mapping::RowAligned, Mapping::HeadTile, Mapping::StreamStriped] {
        assert_eq!(in_lockstep(&design, &emitted(&design), mapping), [0; 0], "{mapping:?}");
    }
}

#[test]
fn nor_do_they_where_stages_do_not_overlap() {
    let design = small(|c| c.pad.enable = false);
    assert_eq!(in_lockstep(&design, &emitted(&design), Mapping::RowAligned), [0; 0]);
}

#[test]
fn a_flag_that_outlives_its_run_or_its_query_is_found() {
    let design = small(|_| {});
    let slips = [
        // Cleared with a new query only.
        (" & ~(read_context & {CONTEXTS{read_ends}})", "", &[2, 3, 4, 5, 6, 7, 8, 9][..]),
        // Cleared with the result.
        ("(query_special_q & ~(", "(query_special_q & ~(read_context & {CONTEXTS{read_ends}}) & ~(", &[7, 8]),
    ];
    for (from, to, runs) in slips {
        let files = mutant(&emitted(&design), "meshkv_odd_contexts", from, to);
        assert_eq!(in_lockstep(&design, &files, Mapping::RowAligned), runs, "{from}");
    }
}

/// The same through the registers of a device, which says how many queries a run loads.
#[test]
fn a_device_that_loads_no_queries_has_those_of_the_run_before() {
    let design = small(|c| c.takv.column_stride = 1);
    let inputs = inputs(&design);
    let mut bench = whole(&design, &Platform::of(&design), &apart(3));
    for (run, ((new, _, wrong), tensors)) in RUNS.iter().zip(&inputs).enumerate() {
        let job = Job::new(&design, tensors, (0, 1), Mapping::RowAligned, Sharing::KvHead).unwrap();
        let what = format!("run {run}");
        let done = if *new {
            run_clean(&mut bench, &job, Notice::Polling, &what)
        } else {
            bench.load(&job).unwrap();
            bench.push(&job).unwrap();
            bench.driver.write("QUERY_STREAMS", 0).unwrap();
            bench.driver.start().unwrap();
            let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
            assert_eq!(outcome.error, 0, "{what}: {}", outcome.errors());
            let done = bench.take(&job, outcome);
            assert_clean(&bench, &done, &what);
            done
        };
        assert_nan(done.outputs.iter().map(|(of, output)| (of.1, output)), wrong, &what);
    }
}
