//! Attention on the whole design equals the model of the datapath in every bit.

use crate::support::attention::{assert_exact, attend, lockstep, run, small, tensors, try_run, Trouble};
use crate::support::sources::source_mut;
use crate::support::verilated::emitted;
use meshkv::config::PlacementKind;
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::workloads::attention::Job;
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::model::tensors::{Logits, Tensors};

const MAPPINGS: [Mapping; 3] = [Mapping::RowAligned, Mapping::HeadTile, Mapping::StreamStriped];

/// Runs undisturbed and disturbed, and expects the model's bits both times.
fn exact(design: &Design, tensors: &Tensors, streams: u32, mapping: Mapping, what: &str) {
    for trouble in [Trouble::default(), Trouble { stall: 200, unruly: true, noise: 77 }] {
        let done = attend(design, tensors, streams, mapping, trouble);
        assert_exact(&done, &format!("{what}, {mapping:?}, {streams} streams, {trouble:?}"));
    }
}

#[test]
fn every_mapping_gives_the_models_bits_for_any_number_of_tokens() {
    let design = small(|_| {});
    for mapping in MAPPINGS {
        for tokens in [64, 61, 3, 1] {
            let tensors = tensors(&design, tokens, 2, Logits::Normal, 5);
            for streams in [1, 2] {
                exact(&design, &tensors, streams, mapping, &format!("{tokens} tokens"));
            }
        }
    }
}

#[test]
fn a_stream_is_closed_under_any_mapping_after_any_other() {
    let design = small(|_| {});
    let tensors = tensors(&design, 61, 2, Logits::Normal, 5);
    let [aligned, fixed, striped] = MAPPINGS;
    let pairs = MAPPINGS.into_iter().flat_map(|first| MAPPINGS.map(|last| vec![first, last]));
    for mappings in pairs.chain([vec![striped, fixed, fixed], vec![fixed, aligned, fixed]]) {
        let job = Job::new(&design, &tensors, (0, 2), fixed, Sharing::KvHead).unwrap().mapped(&mappings);
        let done = lockstep(&emitted(&design), &job, Trouble::default(), Clocks::IN_STEP).unwrap();
        assert_eq!(done.violations, [""; 0], "{mappings:?}");
        assert_exact(&done, &format!("{mappings:?}"));
    }
}

#[test]
fn a_close_that_leaves_partial_results_in_other_rows_is_found() {
    let design = small(|_| {});
    let tensors = tensors(&design, 61, 2, Logits::Normal, 5);
    let mut files = emitted(&design).to_vec();
    let file = source_mut(&mut files, "meshkv_column_controller");
    for (from, to) in [
        ("if (gathers_q) close_rows", "if (~head_tile) close_rows"),
        ("close & gathers_q & head_tile ? 2'd1 : mapping", "mapping"),
    ] {
        assert_eq!(file.text.matches(from).count(), 1, "{from}");
        file.text = file.text.replace(from, to);
    }
    let [aligned, fixed, _] = MAPPINGS;
    let job = Job::new(&design, &tensors, (0, 2), fixed, Sharing::KvHead).unwrap().mapped(&[aligned, fixed]);
    let done = try_run(&files, &job, Trouble::default(), BuildForm::CorePieces, Clocks::IN_STEP).unwrap();
    // Expected outputs are those of the merges that were observed, so the missing ones are a violation.
    let lost = done.violations.iter().filter(|what| what.contains("partial results were not merged"));
    assert!(lost.count() > 0, "{:?}", done.violations);
}

#[test]
fn logits_of_every_kind_give_the_models_bits() {
    let design = small(|_| {});
    for logits in Logits::ALL {
        let tensors = tensors(&design, 100, 1, logits, 11);
        exact(&design, &tensors, 1, Mapping::RowAligned, &format!("{logits:?}"));
    }
}

/// Tensors of `small` with elements changed.
fn changed(design: &Design, tokens: usize, change: impl FnOnce(&mut [Vec<u16>; 3])) -> Tensors {
    let (shape, mut parts) = tensors(design, tokens, 1, Logits::Normal, 3).into_parts();
    change(&mut parts);
    Tensors::new(shape, parts)
}

const ONE: u16 = 0x3c00;
const LARGEST: u16 = 0x7bff;
const MINUS_LARGEST: u16 = 0xfbff;
const SMALLEST: u16 = 0x0001;

#[test]
fn the_edges_of_the_softmax_give_the_models_bits() {
    let design = small(|_| {});
    type Change = fn(&mut [Vec<u16>; 3]);
    let cases: [(&str, Change); 6] = [
        ("equal logits", |[q, ..]| q.fill(0)),
        ("one huge logit", |[q, k, _]| {
            q.fill(ONE);
            k[32 * 7..32 * 8].fill(LARGEST);
        }),
        ("all logits very negative", |[q, k, _]| {
            q.fill(LARGEST);
            k.fill(MINUS_LARGEST);
        }),
        ("subnormals", |[q, k, v]| [q, k, v].into_iter().for_each(|all| all.fill(SMALLEST))),
        ("signed zeros", |[_, k, v]| {
            k.fill(0x8000);
            v.fill(0x8000);
        }),
        ("the largest values", |[_, _, v]| v.iter_mut().step_by(2).for_each(|v| *v = LARGEST)),
    ];
    for (what, change) in cases {
        exact(&design, &changed(&design, 45, change), 1, Mapping::RowAligned, what);
    }
}

#[test]
fn infinities_and_nan_make_their_heads_nan_and_no_other() {
    let design = small(|_| {});
    // KV head 1 is attended to by heads 2 and 3; query 5 by itself.
    let at = |kv_head: usize, token: usize| (kv_head * 45 + token) * 32 + 9;
    for (what, wrong, change) in [
        ("NaN in q", vec![5], [(0, 5 * 32 + 31, 0x7e01)]),
        ("infinity in K", vec![2, 3], [(1, at(1, 44), 0x7c00)]),
        ("infinity in V", vec![2, 3], [(2, at(1, 0), 0xfc00)]),
    ] {
        let tensors =
            changed(&design, 45, |parts| change.iter().for_each(|&(p, i, bits)| parts[p][i] = bits));
        for mapping in MAPPINGS {
            let done = attend(&design, &tensors, 1, mapping, Trouble::default());
            assert_exact(&done, what);
            let nan = |of: &u32| done.outputs[&(0, *of)].iter().all(|&bits| bits == 0x7e00);
            let some_nan = |of: &u32| done.outputs[&(0, *of)].iter().any(|&bits| bits & 0x7c00 == 0x7c00);
            assert_eq!((0..6).filter(nan).collect::<Vec<_>>(), wrong, "{what}");
            assert_eq!((0..6).filter(some_nan).collect::<Vec<_>>(), wrong, "{what}");
        }
    }
}

#[test]
fn what_is_in_masked_tokens_has_no_effect() {
    // A window of 21 of 45 tokens begins in the middle of a segment and of a block.
    let design = small(|c| c.model.sliding_window = Some(21));
    let tensors = changed(&design, 45, |[_, k, v]| {
        for g in 0..3 {
            k[g * 45 * 32..(g * 45 + 24) * 32].fill(0x7e00);
            v[g * 45 * 32..(g * 45 + 24) * 32].fill(0x7c00);
        }
    });
    for mapping in MAPPINGS {
        let done = attend(&design, &tensors, 1, mapping, Trouble::default());
        assert_exact(&done, "window");
        assert!(done.outputs.values().flatten().all(|&bits| bits & 0x7c00 != 0x7c00), "{mapping:?}");
    }
}

#[test]
fn other_fabrics_compute_the_same() {
    type Change = fn(&mut meshkv::config::Config);
    // Those of `pad::lockstep`, which are built once for both.
    let cases: [(&str, Change); 6] = [
        ("one row of the array", |c| c.pe.array_rows = 1),
        ("four rows, four heads of one KV head", |c| {
            (c.pe.array_rows, c.model.heads, c.model.kv_heads) = (4, 12, 3);
        }),
        ("no overlap", |c| c.pad.enable = false),
        ("no MaRe, all on a hub", |c| {
            (c.mare.enable, c.takv.placement) = (false, PlacementKind::Hub);
        }),
        ("segments that blocks do not divide", |c| {
            (c.kv.segment_tokens, c.noc.flit_width) = (7, 128);
            c.kv.uram_per_tile = 2;
        }),
        ("a FIFO of an odd depth, four rows of tiles", |c| (c.pad.fifo_depth, c.mesh.rows) = (Some(13), 4)),
    ];
    for (what, change) in cases {
        let design = small(change);
        let tensors = tensors(&design, 50, 2, Logits::Normal, 9);
        exact(&design, &tensors, 2, Mapping::RowAligned, what);
    }
}

#[test]
fn flits_of_several_tokens_and_rows_of_several_flits_are_computed_right() {
    for (flit_width, head_dim, tokens) in [(1024, 32, 40), (512, 128, 64), (256, 32, 64), (64, 64, 8)] {
        let design = small(|c| {
            (c.noc.flit_width, c.pe.head_dim, c.kv.segment_tokens) = (flit_width, head_dim, tokens);
            (c.kv.uram_per_tile, c.pad.fifo_depth) = (flit_width.div_ceil(72), Some(48));
        });
        let tensors = tensors(&design, 2 * tokens as usize + 5, 1, Logits::Peaky, 2);
        // Parts of the stationary vectors are never written: whatever registers hold at first, those stay blank.
        for noise in 1..3 {
            let trouble = Trouble { noise, ..Trouble::default() };
            let done = attend(&design, &tensors, 1, Mapping::RowAligned, trouble);
            assert_exact(
                &done,
                &format!("{flit_width} bits, rows of {head_dim}, segments of {tokens}, {noise}"),
            );
        }
    }
}

/// Real tensors, eight streams on four contexts a pass: a block begins while the one before is loaded.
#[test]
fn eight_streams_of_the_example_give_the_models_bits() {
    let tensors = Tensors::read("examples/minilm.safetensors".as_ref(), 0).unwrap();
    let mut config = Design::load("configs/minilm.toml".as_ref()).unwrap().0.config;
    (config.model.max_tokens, config.model.max_streams) = (250, 8);
    let design = Design::from_config("minilm", &config).unwrap();
    let done = attend(&design, &tensors, 8, Mapping::RowAligned, Trouble::default());
    assert_exact(&done, "eight streams");
}

#[test]
fn slices_that_all_heads_receive_are_attended_to_by_their_own() {
    let design = small(|_| {});
    let tensors = tensors(&design, 30, 1, Logits::Normal, 4);
    for mapping in MAPPINGS {
        let job = Job::new(&design, &tensors, (0, 1), mapping, Sharing::Segment).unwrap();
        assert_exact(&run(&job, Trouble::default()), &format!("segment sharing, {mapping:?}"));
    }
}

#[test]
fn without_overlap_it_takes_longer() {
    let cycles = |enable: bool| {
        let design = small(|c| c.pad.enable = enable);
        let tensors = tensors(&design, 64, 1, Logits::Normal, 1);
        attend(&design, &tensors, 1, Mapping::RowAligned, Trouble::default()).cycles
    };
    let (with, without) = (cycles(true), cycles(false));
    assert!(without > with, "{without} cycles without overlap, {with} with it");
}
