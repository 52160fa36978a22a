//! The model of the whole design, arrays included, equals the Verilog at every port in every cycle.

use crate::support::attention::{assert_exact, lockstep, on_model, small, tensors, Trouble};
use crate::support::sources::source_mut;
use crate::support::verilated::{emitted, library_of};
use meshkv::config::{Config, PlacementKind};
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::dut::pins::Pins;
use meshkv::cosim::workloads::attention::{AttentionResult, Job};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::emit::{emit, SourceFile};
use meshkv::model::datapath::tensors::{Logits, Tensors};

const CALM: Trouble = Trouble { stall: 0, unruly: false, noise: 3 };
const ROUGH: Trouble = Trouble { stall: 200, unruly: true, noise: 77 };

fn drawn(design: &Design, tokens: usize, streams: u32) -> Tensors {
    tensors(design, tokens, streams as usize, Logits::Normal, 5)
}

/// Runs both; then the model by itself, which must give the same numbers.
fn same(job: &Job, trouble: Trouble, clocks: Clocks, what: &str) -> AttentionResult {
    let what = format!("{what}, {:?}, {} streams, {trouble:?}, {clocks:?}", job.mappings, job.streams);
    let files = emitted(job.design);
    let rtl = lockstep(&files, job, trouble, clocks).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_exact(&rtl, &what);
    let model = on_model(job, trouble, clocks, true);
    assert_eq!(model.outputs, rtl.outputs, "{what}");
    assert_eq!((model.cycles, model.kv_cycles, &model.pad), (rtl.cycles, rtl.kv_cycles, &rtl.pad), "{what}");
    assert_eq!((&model.events, &model.links, &model.beats), (&rtl.events, &rtl.links, &rtl.beats), "{what}");
    assert_eq!((rtl.violations.len(), model.violations.len()), (0, 0), "{what}");
    rtl
}

#[test]
fn every_mapping_takes_the_cycles_of_the_verilog() {
    let design = small(|_| {});
    for mapping in [Mapping::RowAligned, Mapping::HeadTile, Mapping::StreamStriped] {
        for (tokens, streams) in [(64, 1), (61, 2), (3, 2)] {
            let tensors = drawn(&design, tokens, streams);
            let job = Job::new(&design, &tensors, (0, streams), mapping, Sharing::KvHead).unwrap();
            same(&job, CALM, Clocks::IN_STEP, &format!("{tokens} tokens"));
            same(&job, ROUGH, Clocks::IN_STEP, &format!("{tokens} tokens"));
        }
    }
}

type Change = fn(&mut Config);

/// Runs each case with a few tokens more than two segments and two streams, undisturbed and disturbed.
fn fabrics(cases: &[(&str, Change)]) {
    for (what, change) in cases {
        let design = small(*change);
        let tensors = drawn(&design, 2 * design.placement.segment_tokens as usize + 5, 2);
        let job = Job::new(&design, &tensors, (0, 2), Mapping::RowAligned, Sharing::KvHead).unwrap();
        same(&job, CALM, Clocks::IN_STEP, what);
        same(&job, ROUGH, Clocks::IN_STEP, what);
    }
}

#[test]
fn arrays_of_any_number_of_rows_do_too() {
    fabrics(&[
        ("one row", |c| c.pe.array_rows = 1),
        ("three rows", |c| (c.pe.array_rows, c.model.heads, c.model.kv_heads) = (3, 12, 3)),
        ("four rows, four heads of one KV head", |c| {
            (c.pe.array_rows, c.model.heads, c.model.kv_heads) = (4, 12, 3);
        }),
    ]);
}

#[test]
fn fabrics_that_wait_otherwise_do_too() {
    fabrics(&[
        ("no overlap", |c| c.pad.enable = false),
        ("no MaRe, all on a hub", |c| (c.mare.enable, c.takv.placement) = (false, PlacementKind::Hub)),
        ("a FIFO of an odd depth, four rows of tiles", |c| (c.pad.fifo_depth, c.mesh.rows) = (Some(13), 4)),
        ("segments that blocks do not divide", |c| {
            (c.kv.segment_tokens, c.noc.flit_width, c.kv.uram_per_tile) = (7, 128, 2);
        }),
    ]);
}

fn sized(c: &mut Config, flit_width: u32, head_dim: u32, tokens: u32) {
    (c.noc.flit_width, c.pe.head_dim, c.kv.segment_tokens) = (flit_width, head_dim, tokens);
    (c.kv.uram_per_tile, c.pad.fifo_depth) = (flit_width.div_ceil(72), Some(48));
}

/// Flits of several tokens, tokens of several flits.
#[test]
fn flits_and_heads_of_any_size_do_too() {
    fabrics(&[
        ("1024 bits, heads of 32", |c| sized(c, 1024, 32, 40)),
        ("512 bits, heads of 128", |c| sized(c, 512, 128, 64)),
        ("256 bits, heads of 32", |c| sized(c, 256, 32, 64)),
        ("64 bits, heads of 64", |c| sized(c, 64, 64, 8)),
    ]);
}

#[test]
fn slices_that_all_heads_receive_take_as_long() {
    let design = small(|_| {});
    let tensors = drawn(&design, 30, 1);
    for mapping in [Mapping::RowAligned, Mapping::HeadTile, Mapping::StreamStriped] {
        let job = Job::new(&design, &tensors, (0, 1), mapping, Sharing::Segment).unwrap();
        same(&job, CALM, Clocks::IN_STEP, "segment sharing");
    }
}

#[test]
fn a_clock_of_their_own_is_modelled_edge_by_edge() {
    for (what, change) in [("overlap", (|_| {}) as Change), ("no overlap", |c| c.pad.enable = false)] {
        let design = small(change);
        let tensors = drawn(&design, 45, 2);
        let job = Job::new(&design, &tensors, (0, 2), Mapping::RowAligned, Sharing::KvHead).unwrap();
        for (noc_mhz, pe_mhz) in [(250.0, 300.0), (300.0, 250.0), (20.0, 70.0), (70.0, 20.0), (250.0, 250.0)]
        {
            let clocks = Clocks { noc_mhz, pe_mhz, jitter: 0, seed: 2 };
            same(&job, CALM, clocks, what);
        }
        same(&job, ROUGH, Clocks { noc_mhz: 200.0, pe_mhz: 100.0, jitter: 0, seed: 5 }, what);
    }
}

#[test]
fn without_numbers_the_time_is_the_same() {
    let design = small(|_| {});
    let tensors = drawn(&design, 61, 2);
    let blank = Tensors::blank([6, 3, 2, 61, 32]);
    let run = |tensors, numbers| {
        let job = Job::new(&design, tensors, (0, 2), Mapping::RowAligned, Sharing::KvHead).unwrap();
        on_model(&job, ROUGH, Clocks::IN_STEP, numbers)
    };
    let (with, without) = (run(&tensors, true), run(&blank, false));
    assert_exact(&with, "with numbers");
    assert!(without.outputs.values().all(Vec::is_empty) && !without.numbers);
    assert_eq!((with.cycles, with.pad, with.timeline), (without.cycles, without.pad, without.timeline));
}

/// Runs the Verilog of `files` beside the model of `design`.
fn difference(design: &Design, files: &[SourceFile], trouble: Trouble) -> String {
    let tensors = drawn(design, 85, 2);
    let job = Job::new(design, &tensors, (0, 2), Mapping::RowAligned, Sharing::KvHead).unwrap();
    match lockstep(files, &job, trouble, Clocks::IN_STEP) {
        Ok(_) => String::new(),
        Err(e) => e.to_string(),
    }
}

#[test]
fn a_change_of_the_verilog_is_found() {
    // Segments of four blocks, each half as long as a head: buffers of weights are waited for. And four rows and slow
    // roots: part formers wait for them where flits are narrow.
    let slow = |c: &mut Config| (c.mesh.rows, c.pe.root_lanes) = (4, Some(1));
    let narrow = small(slow);
    let wide = small(|c| {
        sized(c, 256, 32, 64);
        slow(c);
    });
    // Roots that wait for a division.
    let quick = small(|c| sized(c, 256, 32, 64));
    for (design, module, from, to) in [
        (
            &wide,
            "meshkv_weight_loader",
            "{freed_q[FREE_CYCLES-2:0], finishes}",
            "{freed_q[FREE_CYCLES-3:0], finishes, 1'b0}",
        ),
        (&wide, "meshkv_pad_row", "localparam TO_WEIGHT   = 17;", "localparam TO_WEIGHT   = 18;"),
        (&narrow, "meshkv_part_former", "count_d <= ROOM_NUM", "count_d < ROOM_NUM"),
        (&wide, "meshkv_reduce_inlet", "(turn_q & {SOURCES{start} })", "(turn_q & {SOURCES{picked_q} })"),
        (&quick, "meshkv_reciprocal", "left_q  <= 5'd17", "left_q  <= 5'd16"),
    ] {
        let mut files = emit(design).unwrap();
        let file = source_mut(&mut files, module);
        assert!(file.text.contains(from), "{module} has no `{from}`");
        file.text = file.text.replacen(from, to, 1);
        let found = difference(design, &files, ROUGH);
        println!("{module}, {to}: {found}");
        assert!(found.contains("the model has"), "{module}, {to}: {found}");
    }
}

#[test]
fn a_model_of_another_design_is_found() {
    let right = small(|_| {});
    let files = emit(&right).unwrap();
    assert_eq!(difference(&right, &files, CALM), "");
    let changes: [Change; 3] =
        [|c| c.pe.array_rows = 1, |c| c.pad.fifo_depth = Some(12), |c| c.noc.vc_depth = 5];
    for change in changes {
        let found = difference(&small(change), &files, CALM);
        assert!(found.contains("the model has"), "{found}");
    }
}

#[test]
fn whatever_registers_hold_before_the_reset_it_begins() {
    let design = small(|_| {});
    let library = library_of(BuildForm::CorePieces, &design, &emit(&design).unwrap());
    for seed in 0..5_000 {
        Pins::new(&library, seed).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
}
