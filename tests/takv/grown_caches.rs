//! Decode steps one after the other: every step's outputs are those of the datapath, and in the end external memory is what
//! a host would have written.

use crate::support::attention::{assert_exact, small};
use crate::support::sources::source_mut;
use crate::support::verilated::{beside, emitted, library_of};
use meshkv::config::Config;
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::memory::Behaviour;
use meshkv::cosim::workloads::attention::{AttentionError, Bench, Job, Session};
use meshkv::cosim::workloads::steps::{check, decode, Caches, Difference, Schedule, StepsError};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::emit::emit;
use meshkv::model::datapath::tensors::Logits;

/// What runs the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    Model,
    /// Verilog and model, compared in every cycle.
    Lockstep,
}

/// What some steps gave.
#[derive(Debug, Default)]
struct Grown {
    tokens_written: u64,
    swaps: usize,
    lengths: Vec<u32>,
    memory: Difference,
}

#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error(transparent)]
    Steps(#[from] StepsError),
    #[error(transparent)]
    Run(#[from] AttentionError),
}

/// A cache that can be appended to; homes may swap after every step.
fn design(change: impl FnOnce(&mut Config)) -> Design {
    small(|c| {
        (c.kv.append, c.model.max_streams) = (true, 4);
        (c.takv.column_stride, c.takv.swap_epoch) = (1, Some(1));
        change(c);
    })
}

/// Runs all steps, each of which must be bit-exact and break no rule.
fn run(design: &Design, schedule: &Schedule, engine: Engine, mapping: Mapping, unruly: bool) -> Grown {
    let tensors = schedule.tensors(design, 3, Logits::Normal);
    let mut caches = Caches::new(design, schedule).unwrap();
    let behaviour = Behaviour::of(design);
    let behaviour = if unruly { behaviour.unruly(7) } else { behaviour };
    let image = caches.image(&tensors, 9);
    let mut session = match engine {
        Engine::Model => Session::on_model(design, image, behaviour, Clocks::IN_STEP),
        Engine::Lockstep => {
            let library = library_of(BuildForm::CorePieces, design, &emitted(design));
            let both = beside(&library, 1, Bench::model(design), &Bench::ports(design), design);
            Session::on(both.unwrap(), design, image, behaviour, Clocks::IN_STEP)
        }
    }
    .unwrap();
    let mut grown = Grown::default();
    let stall = if unruly { 100 } else { 0 };
    let result = decode(
        &mut caches,
        schedule,
        &tensors,
        (mapping, Sharing::KvHead),
        &mut |job| session.step(job, stall, &mut || false).map_err(Ended::from),
        &mut |stepped| {
            let what = format!("{mapping:?}, step {} of {:?}", stepped.step, stepped.batch);
            assert_eq!(stepped.done.violations, [""; 0], "{what}");
            assert_exact(stepped.done, &what);
            assert_eq!(stepped.done.outputs.len(), 6 * stepped.batch.len(), "{what}");
            grown.tokens_written += stepped.done.tokens_written;
            grown.swaps += stepped.done.swaps.len();
        },
    );
    result.unwrap();
    grown.lengths = caches.lengths().to_vec();
    grown.memory = Difference::of(session.image(), &caches.image(&tensors, 9));
    grown
}

/// The same, and memory must be what a host would have written.
fn grows(design: &Design, schedule: &Schedule, engine: Engine, mapping: Mapping, unruly: bool) -> Grown {
    check(schedule, design).unwrap();
    let grown = run(design, schedule, engine, mapping, unruly);
    assert_eq!((grown.memory.differing, grown.memory.first), (0, None), "{mapping:?}");
    assert!(grown.memory.bytes > 0);
    assert_eq!(grown.tokens_written, schedule.appended() * 3, "three KV heads");
    let lengths: Vec<u32> = (0..schedule.lengths.len() as u32).map(|stream| schedule.grown(stream)).collect();
    assert_eq!(grown.lengths, lengths);
    grown
}

/// Streams that are empty, one token before a segment's end, and at its end.
fn segments(steps: u32) -> Schedule {
    Schedule::new(&[0, 7, 16], 0, steps, &[], &[]).unwrap()
}

#[test]
fn caches_grow_over_the_bounds_of_segments_from_empty_ones_too() {
    let design = design(|_| {});
    for mapping in [Mapping::HeadTile, Mapping::RowAligned, Mapping::StreamStriped] {
        grows(&design, &segments(10), Engine::Model, mapping, false);
    }
}

#[test]
fn the_verilog_does_the_same_as_its_model_in_every_cycle_of_all_steps() {
    let design = design(|_| {});
    grows(&design, &segments(10), Engine::Lockstep, Mapping::RowAligned, false);
    grows(&design, &segments(3), Engine::Lockstep, Mapping::HeadTile, true);
}

#[test]
fn streams_leave_the_batch_and_come_back() {
    let design = design(|_| {});
    let schedule = Schedule {
        lengths: vec![5, 0, 30, 8],
        prefix: 0,
        batches: vec![vec![0, 2], vec![2], vec![3, 1, 0], vec![1], vec![0, 1, 2, 3], vec![2, 0], vec![3]],
    };
    for mapping in [Mapping::HeadTile, Mapping::StreamStriped] {
        grows(&design, &schedule, Engine::Model, mapping, true);
    }
    // A stream that begins, one that ends, and one that does both.
    let schedule = Schedule::new(&[7, 0, 12], 0, 9, &[0, 3, 2], &[5, 9, 8]).unwrap();
    assert_eq!(schedule.batches[..3], [vec![0], vec![0], vec![0, 2]]);
    assert_eq!(schedule.batches[7..], [vec![1, 2], vec![1]]);
    assert_eq!([0, 1, 2].map(|stream| schedule.grown(stream)), [12, 6, 18]);
    grows(&design, &schedule, Engine::Model, Mapping::RowAligned, false);
}

#[test]
fn a_common_prefix_of_whole_segments_is_stored_once_and_nobody_writes_it() {
    let design = design(|_| {});
    // One stream opens its first own segment, the others have one begun and one full.
    let schedule = Schedule::new(&[16, 19, 24], 16, 10, &[], &[]).unwrap();
    let shared = grows(&design, &schedule, Engine::Model, Mapping::RowAligned, false);
    grows(&design, &schedule, Engine::Lockstep, Mapping::StreamStriped, false);
    let copied = Schedule { prefix: 0, ..schedule };
    let copied = grows(&design, &copied, Engine::Model, Mapping::RowAligned, false);
    let slices = (copied.memory.bytes - shared.memory.bytes) / design.memory.slice_bytes;
    assert_eq!(slices, 2 * 2 * 3, "two segments of three KV heads for two streams");
}

/// Streams of one, six and six segments, whose homes have different loads.
fn uneven(steps: u32) -> Schedule {
    Schedule::new(&[3, 40, 41], 0, steps, &[], &[]).unwrap()
}

#[test]
fn homes_swap_between_steps_and_nothing_is_lost() {
    let mappings = [Mapping::HeadTile, Mapping::RowAligned, Mapping::StreamStriped];
    let design = design(|_| {});
    let swaps = mappings.map(|mapping| grows(&design, &uneven(16), Engine::Model, mapping, false).swaps);
    assert!(swaps.iter().sum::<usize>() > 1, "{swaps:?}");
    let grown = grows(&design, &uneven(10), Engine::Lockstep, Mapping::RowAligned, false);
    assert!(grown.swaps > 0, "no home of the Verilog has swapped");
    let fixed = self::design(|c| c.takv.swap_epoch = Some(0));
    assert_eq!(grows(&fixed, &uneven(4), Engine::Model, Mapping::RowAligned, false).swaps, 0);
}

#[test]
fn a_sliding_window_moves_over_the_cache_as_it_grows() {
    let design = design(|c| c.model.sliding_window = Some(10));
    let schedule = Schedule::new(&[0, 9, 23], 0, 12, &[], &[]).unwrap();
    grows(&design, &schedule, Engine::Model, Mapping::RowAligned, false);
}

/// The refusal of a schedule.
fn refused(design: &Design, lengths: &[u32], prefix: u32, batches: &[&[u32]]) -> String {
    let batches = batches.iter().map(|batch| batch.to_vec()).collect();
    let schedule = Schedule { lengths: lengths.to_vec(), prefix, batches };
    check(&schedule, design).expect_err("it is impossible").to_string()
}

#[test]
fn steps_that_cannot_be_are_refused_by_name() {
    let design = design(|_| {});
    let [one, both]: [&[u32]; 2] = [&[0], &[0, 1]];
    for (lengths, prefix, batches, words) in [
        (
            &[3_u32, 4][..],
            0,
            vec![both, &[1, 0, 1]],
            "stream 1 is twice in the batch of step 1; nothing is written",
        ),
        (&[3, 254], 0, vec![both, both, both], "the cache of stream 1 is full in step 2: it has 256 tokens"),
        (&[3, 4], 0, vec![both, &[2]], "stream 2 is not one of the 2 streams"),
        (&[3, 4], 0, vec![both, &[], both], "no stream is in the batch of step 1"),
        (&[3, 257], 0, vec![one], "stream 1 of --lengths has 257 tokens, and can have at most 256"),
        (&[1, 1, 1, 1, 1], 0, vec![one], "--lengths has 5 streams, and must have 1 to 4"),
        (&[], 0, vec![one], "--lengths has 0 streams"),
        (&[20, 15], 16, vec![both], "stream 1 has 15 tokens, and shares a prefix of 16"),
    ] {
        let said = refused(&design, lengths, prefix, &batches);
        assert!(said.starts_with(words), "{words}: {said}");
    }
    let read_only = small(|c| c.kv.append = false);
    let said = refused(&read_only, &[3], 0, &[one]);
    assert!(said.starts_with("kv.append is false") && said.contains("--fit"), "{said}");
    let windowed = small(|c| (c.kv.append, c.model.sliding_window) = (true, Some(10)));
    let said = refused(&windowed, &[16, 16], 16, &[both]);
    assert!(
        said.starts_with("streams share a prefix of 16 tokens, and model.sliding_window is 10"),
        "{said}"
    );
}

#[test]
fn a_refused_step_leaves_memory_as_it_was() {
    let design = design(|_| {});
    let schedule = Schedule { lengths: vec![255, 3], prefix: 0, batches: vec![vec![0, 1], vec![1, 0]] };
    let tensors = schedule.tensors(&design, 3, Logits::Normal);
    let mut caches = Caches::new(&design, &schedule).unwrap();
    let (image, behaviour) = (caches.image(&tensors, 9), Behaviour::of(&design));
    let mut session = Session::on_model(&design, image, behaviour, Clocks::IN_STEP).unwrap();
    let how = (Mapping::RowAligned, Sharing::KvHead);
    let mut one_step = |job: &Job| session.step(job, 0, &mut || false).map_err(Ended::from);
    let result = decode(&mut caches, &schedule, &tensors, how, &mut one_step, &mut |_| {});
    let said = result.expect_err("the cache is full").to_string();
    assert!(said.starts_with("the cache of stream 0 is full in step 1"), "{said}");
    assert_eq!(caches.lengths(), [256, 4]);
    assert_eq!(Difference::of(session.image(), &caches.image(&tensors, 9)).differing, 0);
}

#[test]
fn a_token_that_is_spoilt_on_its_way_to_memory_alone_is_found_there() {
    let design = design(|_| {});
    let mut files = emit(&design).unwrap();
    let file = source_mut(&mut files, "meshkv_new_token");
    let from = "if (takes) data_q <= s_data;";
    assert_eq!(file.text.matches(from).count(), 1);
    // Of every token that passes on, words 2 and 3 of four get a wrong bit. The home keeps the right ones.
    file.text = file.text.replace(from, "if (takes) data_q <= s_data ^ { {63{1'b0}}, at_q[1]};");
    let schedule = Schedule::new(&[5], 0, 1, &[], &[]).unwrap();
    let tensors = schedule.tensors(&design, 3, Logits::Normal);
    let mut caches = Caches::new(&design, &schedule).unwrap();
    let (image, behaviour) = (caches.image(&tensors, 9), Behaviour::of(&design));
    let dut = verilated(&library_of(BuildForm::CorePieces, &design, &files), 1).unwrap();
    let mut session = Session::on(dut, &design, image, behaviour, Clocks::IN_STEP).unwrap();
    let job = caches.job(&tensors, &[0], Mapping::RowAligned, Sharing::KvHead).unwrap();
    let done = session.step(&job, 0, &mut || false).unwrap();
    caches.grow(&[0]);
    assert!(done.bit_exact(), "the home has the right token");
    assert!(done.violations[0].contains("is not the token that went in"), "{:?}", done.violations);
    let memory = Difference::of(session.image(), &caches.image(&tensors, 9));
    // Half of sixteen words a token of three KV heads, a byte in each.
    assert_eq!(memory.differing, 3 * 8, "{memory:?}");
}
