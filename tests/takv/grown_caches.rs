//! Decode steps one after the other: every step's outputs are those of the datapath, and in the end external memory is what
//! a host would have written.

use crate::support::attention::{assert_exact, small};
use crate::support::verilated::{emitted, library_of};
use meshkv::config::Config;
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::checks::lockstep::PortLockstep;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::dut::verilated_ports::verilated;
use meshkv::cosim::memory::Behaviour;
use meshkv::cosim::workloads::attention::{AttentionError, Bench, Session};
use meshkv::cosim::workloads::steps::{check, decode, Caches, Difference, Schedule, StepsError};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::model::tensors::Logits;

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

fn design(change: impl FnOnce(&mut Config)) -> Design {
    small(|c| {
        (c.kv.append, c.takv.swap_epoch, c.model.max_streams) = (true, 0, 4);
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
            let (rtl, top) = (verilated(&library, 1).unwrap(), Bench::ports(design));
            let both = PortLockstep::beside(rtl, Bench::model(design), &top, design).unwrap();
            Session::on(Box::new(both), design, image, behaviour, Clocks::IN_STEP)
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
