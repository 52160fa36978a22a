//! The emitted Verilog in a simulator with four states: a run that Verilator has done is played in Icarus. No output, no
//! register that a reset clears, no condition and no address is X, and all outputs are Verilator's in every cycle.

use super::append::{self, LENGTHS};
use crate::support::attention;
use crate::support::device::{
    assert_error, hasty, job, mutant, run_clean, small, tensors, MOST, MOST_WITH_TIMEOUT,
};
use crate::support::four_state::{recorded, Monitors, Record, Replay, Twin};
use crate::support::verilated::library_of;
use meshkv::config::{Config, KvScales, LayerGroup};
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::memory::{Fault, FaultKind};
use meshkv::cosim::workloads::device::{Bench, Device, Faults, Notice, Platform};
use meshkv::design::{Design, Mapping};
use meshkv::emit::SourceFile;
use meshkv::model::datapath::tensors::synthetic_sinks;
use std::sync::Arc;

const MAPPINGS: [Mapping; 3] = [Mapping::HeadTile, Mapping::RowAligned, Mapping::StreamStriped];

/// Two unrelated clocks with even edges.
const APART: Clocks = Clocks { noc_mhz: 250.0, pe_mhz: 283.0, jitter: 0, seed: 7 };

/// Runs a device and records it.
fn record(
    files: &[SourceFile],
    design: &Design,
    platform: &Platform,
    clocks: Clocks,
    run: impl FnOnce(&mut Bench),
) -> Record {
    let library = library_of(BuildForm::WholeDevice, design, files);
    let (dut, record) = recorded(verilated(&library, 1).unwrap(), design);
    let device = Device::new(dut, design, platform, &clocks).unwrap();
    let mut bench = Bench::new(device, design, platform).unwrap();
    run(&mut bench);
    drop(bench);
    Arc::into_inner(record).expect("the device is gone").into_inner().unwrap()
}

/// Records one run of few tokens under each of some mappings, and plays it with monitors.
fn runs_are_equal(design: &Design, tokens: usize, mappings: &[Mapping], what: &str) {
    let files = hasty(design);
    let tensors = tensors(design, tokens, 5);
    let tensors = match design.model.sinks {
        true => tensors.with_sinks(synthetic_sinks(5, design.model.heads as usize)),
        false => tensors,
    };
    let record = record(&files, design, &Platform::of(design), APART, |bench| {
        for &mapping in mappings {
            run_clean(bench, &job(design, &tensors, mapping), Notice::Polling, what);
        }
    });
    Replay::of(&record, design, &files, Monitors::In).assert_equal(what);
}

/// 2 x 2 tiles with one KV head: the least that has several homes. Monitors make Icarus slow.
fn least(change: impl FnOnce(&mut Config)) -> Design {
    attention::small(|c| {
        (c.mesh.cols, c.mesh.rows) = (2, 2);
        (c.model.heads, c.model.kv_heads) = (2, 1);
        c.pe.head_dim = 32;
        change(c);
    })
}

#[test]
fn a_short_run_has_the_outputs_of_verilator() {
    let design = least(|c| c.model.max_streams = 1);
    let files = hasty(&design);
    let tensors = attention::tensors(&design, 13, 1, meshkv::model::datapath::tensors::Logits::Normal, 5);
    let job = meshkv::cosim::workloads::attention::Job::new(
        &design,
        &tensors,
        (0, 1),
        Mapping::RowAligned,
        meshkv::design::Sharing::KvHead,
    )
    .unwrap();
    let record = record(&files, &design, &Platform::of(&design), Clocks::IN_STEP, |bench| {
        run_clean(bench, &job, Notice::Polling, "in Verilator");
    });
    Replay::of(&record, &design, &files, Monitors::Out).assert_equal("in Icarus");
    // The shift of an idle filler by what no register holds, as it once was.
    let unset = mutant(&files, "meshkv_filler", "            d_id_q     <= {ID_WIDTH{1'b0}};\n", "");
    let slip = mutant(
        &unset,
        "meshkv_filler",
        "{IDS{frees}} & FIRST_ID << d_id_q",
        "{{IDS-1{1'b0}}, frees} << d_id_q",
    );
    let slipped = Replay::of(&record, &design, &slip, Monitors::Out);
    assert!(!slipped.wrong.is_empty(), "an unset shift shows at the outputs");
}

#[test]
fn netlists_of_router_and_home_have_the_outputs_of_their_sources() {
    let design = least(|_| ());
    let files = hasty(&design);
    let tensors = tensors(&design, 13, 5);
    let record = record(&files, &design, &Platform::of(&design), APART, |bench| {
        let job = job(&design, &tensors, Mapping::RowAligned);
        run_clean(bench, &job, Notice::Polling, "in Verilator");
    });
    let fabric = "dut.u_top.u_core.u_fabric";
    let router =
        Twin::of(&files, "meshkv_router", &format!("{fabric}.u_mesh.gen_row[1].gen_col[0].u_router"));
    let home =
        Twin::of(&files, "meshkv_home_agent", &format!("{fabric}.gen_tile[1].u_tile.u_transport.u_home"));
    let twins = [router, home];
    Replay::beside(&record, &design, &files, Monitors::Out, &twins).assert_equal("netlists");
    // A netlist with one wrong table is noticed.
    let mut wrong = twins[1].clone();
    let slip = mutant(
        &files,
        "meshkv_home_agent",
        "own_fetch_ready = own & accepted;",
        "own_fetch_ready = accepted;",
    );
    wrong.netlist = Twin::of(&slip, "meshkv_home_agent", "").netlist;
    assert!(!Replay::beside(&record, &design, &files, Monitors::Out, &[wrong]).wrong.is_empty());
}

#[test]
fn every_mapping_is_free_of_x() {
    runs_are_equal(&least(|_| ()), 13, &MAPPINGS, "2 x 2 tiles");
    runs_are_equal(&small(), 5, &MAPPINGS[1..2], "3 x 2 tiles");
}

#[test]
fn flits_of_512_bits_are_free_of_x_under_either_router() {
    for stages in [2, 3] {
        let design = least(|c| {
            (c.noc.flit_width, c.noc.router_stages, c.kv.segment_tokens) = (512, stages, 32);
            (c.kv.uram_per_tile, c.kv.banks) = (8, 2);
            c.kv.append = stages == 3;
        });
        runs_are_equal(&design, 37, &MAPPINGS[..2], &format!("512 bits, {stages} stages"));
    }
}

#[test]
fn homes_by_slice_are_free_of_x() {
    let design = least(|c| {
        (c.takv.spread, c.takv.swap_epoch) = (meshkv::config::Spread::Slice, None);
        (c.model.heads, c.model.kv_heads) = (4, 4);
    });
    runs_are_equal(&design, 13, &MAPPINGS[..2], "homes by slice");
}

#[test]
fn other_features_are_free_of_x() {
    type Change = fn(&mut Config);
    let ablations: [(&str, Change); 6] = [
        ("no pad", |c| c.pad.enable = false),
        ("no mare", |c| c.mare.enable = false),
        ("no bloom", |c| c.mare.dedup = false),
        ("parity, and caches that grow", |c| (c.noc.parity, c.kv.append) = (true, true)),
        ("pages, and sinks", |c| {
            let sinks = LayerGroup { count: 1, window: Some(12), sinks: true };
            (c.kv.pages, c.kv.append, c.kv.scales) = (true, true, KvScales::Head);
            c.model.groups = Some(vec![sinks]);
        }),
        ("homes in turn", |c| c.takv.placement = meshkv::design::PlacementKind::RoundRobin),
    ];
    for (what, change) in ablations {
        runs_are_equal(&least(change), 9, &MAPPINGS[1..2], what);
    }
}

#[test]
fn new_tokens_are_free_of_x() {
    let design = least(|c| c.kv.append = true);
    let (files, tensors) = (hasty(&design), tensors(&design, 100, 5));
    let record = record(&files, &design, &Platform::of(&design).unruly(2), APART, |bench| {
        for (lengths, mapping) in LENGTHS[..3].iter().zip(MAPPINGS) {
            let job = append::job(&design, &tensors, lengths, mapping);
            run_clean(bench, &job, Notice::Interrupt, "new tokens");
        }
    });
    Replay::of(&record, &design, &files, Monitors::In).assert_equal("new tokens");
}

#[test]
fn a_hard_life_is_free_of_x() {
    // Homes swap after each step; half of the segments make them.
    let design = least(|c| c.takv.swap_epoch = Some(1));
    let (files, tensors) = (hasty(&design), tensors(&design, 37, 5));
    let job = job(&design, &tensors, Mapping::RowAligned);
    let record = record(&files, &design, &Platform::of(&design).unruly(4), APART, |bench| {
        run_clean(bench, &job, Notice::Interrupt, "two streams, memory that pauses");
        let before = bench.driver.device.beats();
        run_clean(bench, &job.part(0..18), Notice::Polling, "partial results");
        run_clean(bench, &job, Notice::Polling, "again");
        assert_ne!(
            before,
            bench.driver.device.beats().iter().zip(&before).map(|(b, a)| b - a).collect::<Vec<_>>()
        );
        // A list.
        bench.load(&job).unwrap();
        bench.list(&job).unwrap();
        bench.driver.start().unwrap();
        assert_eq!(bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap().error, 0);
        bench.driver.write("LIST_COUNT", 0).unwrap();
        // A run that is cut off.
        bench.load(&job).unwrap();
        bench.start(&job).unwrap();
        for _ in 0..300 {
            bench.driver.device.tick().unwrap();
        }
        bench.driver.write("SOFT_RESET", 1).unwrap();
        bench.driver.wait(Notice::Polling, MOST_WITH_TIMEOUT, &mut |_| false).unwrap();
        bench.driver.settle(MOST_WITH_TIMEOUT).unwrap();
        bench.driver.clear().unwrap();
        // Memory that fails, and a run after it.
        let taken = bench.driver.device.requests().0[0];
        let fault = Fault::of_port(0, FaultKind::SlaveError).after(taken + 1);
        bench.driver.device.set_faults(Faults { hbm: vec![fault], ..Faults::default() });
        bench.load(&job).unwrap();
        bench.start(&job).unwrap();
        let outcome = bench.driver.wait(Notice::Polling, MOST_WITH_TIMEOUT, &mut |_| false).unwrap();
        assert_error(&outcome, "MEMORY", "memory that fails");
        bench.driver.device.set_faults(Faults::default());
        bench.driver.settle(MOST_WITH_TIMEOUT).unwrap();
        bench.driver.clear().unwrap();
        run_clean(bench, &job, Notice::Polling, "after all that");
    });
    Replay::of(&record, &design, &files, Monitors::In).assert_equal("a hard life");
}
