//! Whole runs through the registers of `meshkv_top` leave the outputs of `meshkv run` in memory, in every bit.

use crate::support::attention::{self, Trouble};
use crate::support::device::{apart, job, joined, run_clean, small, tensors, whole};
use crate::support::verilated::library_of;
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::memory::Behaviour;
use meshkv::cosim::workloads::attention::Bench as Core;
use meshkv::cosim::workloads::device::{Notice, Platform};
use meshkv::design::device::registers::COUNTER_GROUPS;
use meshkv::design::Mapping;
use meshkv::emit::{emit, pad_events};

#[test]
fn tensors_go_in_and_the_outputs_of_the_core_come_out() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let platform = Platform::of(&design);
    let mut whole = whole(&design, &platform, &Clocks::IN_STEP);
    let mut pieces = joined(&design, &platform, &Clocks::IN_STEP);
    for mapping in [Mapping::HeadTile, Mapping::RowAligned, Mapping::StreamStriped] {
        let job = job(&design, &tensors, mapping);
        let done = run_clean(&mut whole, &job, Notice::Interrupt, "whole");
        let joined = run_clean(&mut pieces, &job, Notice::Interrupt, "front and pieces");
        // A head of one tile is merged in one way only, whatever comes first.
        if mapping == Mapping::HeadTile {
            let core = attention::run(&job, Trouble::default());
            assert_eq!(done.outputs, core.outputs);
            assert_eq!(joined.outputs, core.outputs);
        }
        let later = joined.outcome.cycles.abs_diff(done.outcome.cycles);
        assert!(later < 200, "{later} cycles between front and core");
    }
}

#[test]
fn steps_follow_each_other_by_polling_and_by_interrupt() {
    let design = small();
    let tensors = [(61, 1), (8, 2), (33, 3)].map(|(tokens, seed)| tensors(&design, tokens, seed));
    let mut bench = whole(&design, &Platform::of(&design), &apart(1));
    for notice in [Notice::Polling, Notice::Interrupt] {
        for (step, tensors) in tensors.iter().enumerate() {
            let job = job(&design, tensors, Mapping::RowAligned);
            run_clean(&mut bench, &job, notice, &format!("{notice:?}, step {step}"));
        }
    }
    assert_eq!(bench.driver.read("RUNS").unwrap(), 6);
}

#[test]
fn a_platform_at_its_worst_and_any_clocks_change_no_bit() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::HeadTile);
    let calm = run_clean(
        &mut whole(&design, &Platform::of(&design), &Clocks::IN_STEP),
        &job,
        Notice::Interrupt,
        "calm",
    );
    for seed in 1..6 {
        let platform = Platform::of(&design).unruly(seed);
        let clocks =
            [apart(seed), Clocks { noc_mhz: 300.0, pe_mhz: 170.0, ..apart(seed) }][seed as usize % 2];
        let mut bench = whole(&design, &platform, &clocks);
        for notice in [Notice::Interrupt, Notice::Polling] {
            let done = run_clean(&mut bench, &job, notice, &format!("seed {seed}, {notice:?}"));
            assert_eq!(done.outputs, calm.outputs);
            assert!(done.outcome.cycles > calm.outcome.cycles);
        }
    }
}

#[test]
fn the_front_stands_before_a_core_of_other_clocks() {
    let design = small();
    let tensors = tensors(&design, 40, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let platform = Platform::of(&design).unruly(3);
    let mut bench = joined(&design, &platform, &apart(2));
    for step in 0..2 {
        run_clean(&mut bench, &job, Notice::Interrupt, &format!("step {step}"));
    }
}

#[test]
fn counters_that_a_host_reads_are_those_of_the_core() {
    let design = small();
    let tensors = tensors(&design, 40, 5);
    let job = job(&design, &tensors, Mapping::HeadTile);
    let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
    let seen = bench.watch(&job, Clocks::IN_STEP, 0, &mut |_| false).unwrap();
    bench.driver.device.set_clocks(&apart(4)).unwrap();
    let group = |name: &str| COUNTER_GROUPS.iter().position(|g| g.0 == name).unwrap() as u32;
    let mut busy = 0;
    for tile in 0..design.mesh.tiles() {
        for (index, _) in pad_events(&design).iter().enumerate() {
            let read = bench.driver.counter(tile as u32, group("PAD"), index as u32).unwrap();
            // What waits for work goes on counting.
            let counts = if (4..7).contains(&index) {
                read >= seen.pad[tile][index]
            } else {
                read == seen.pad[tile][index]
            };
            assert!(counts, "tile {tile}, pad {index}: {read} instead of {}", seen.pad[tile][index]);
            busy += read;
        }
        for index in [0, 1, 5, 7] {
            let read = bench.driver.counter(tile as u32, group("LINK"), index).unwrap();
            assert_eq!(read, seen.links[tile][index as usize], "tile {tile}, link {index}");
            let read = bench.driver.counter(tile as u32, group("EVENT"), index).unwrap();
            assert_eq!(read, seen.events[tile][index as usize], "tile {tile}, event {index}");
        }
        assert_eq!(bench.driver.counter(tile as u32, group("ERRORS"), 0).unwrap(), 0);
    }
    assert!(busy > 0);
}

#[test]
fn what_a_device_runs_is_what_the_core_runs() {
    // The same job on the bare core: as many passes, as many flits read.
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::HeadTile);
    let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
    let seen = bench.watch(&job, Clocks::IN_STEP, 100, &mut |_| false).unwrap();
    let library = library_of(BuildForm::CorePieces, &design, &emit(&design).unwrap());
    let core =
        Core::on(verilated(&library, 1).unwrap(), &job, Behaviour::of(&design), Clocks::IN_STEP).unwrap();
    let core = core.run(100, 0, &mut |_| false).unwrap();
    assert_eq!((seen.outputs.clone(), seen.beats.clone()), (core.outputs, core.beats));
    for tile in 0..design.mesh.tiles() {
        assert_eq!(seen.pad[tile][..4], core.pad[tile][..4], "tile {tile}");
    }
    assert!(seen.violations.is_empty() && seen.timeline.iter().all(|t| t.len() == 100));
}
