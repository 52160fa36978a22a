//! Attention on the whole design equals the model of the datapath in every bit.

use crate::support::attention::{assert_exact, attend, lockstep, run, small, tensors, try_run, Trouble};
use crate::support::device::mutant;
use crate::support::saturation::beyond;
use crate::support::sources::source_mut;
use crate::support::verilated::emitted;
use meshkv::config::PlacementKind;
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::memory::Behaviour;
use meshkv::cosim::workloads::attention::{Bench, Job};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::emit::SourceFile;
use meshkv::model::datapath::reference;
use meshkv::model::datapath::tensors::{Logits, Tensors};

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

/// Zeros fill rows of 32 up; the scale is that of heads of 20.
#[test]
fn heads_that_fill_no_row_have_the_models_bits_and_zeros_behind_them() {
    let design = small(|c| c.model.head_dim = Some(20));
    let mut narrow = design.clone();
    narrow.pe.head_dim = 20;
    let tensors = tensors(&narrow, 61, 2, Logits::Normal, 5).filled_up(32);
    for mapping in MAPPINGS {
        exact(&design, &tensors, 2, mapping, "heads of 20");
    }
    let done = attend(&design, &tensors, 1, Mapping::HeadTile, Trouble::default());
    for ((stream, head), output) in &done.outputs {
        let (head, stream) = (*head as usize, *stream as usize);
        let [q, k, v] = [tensors.query(head, stream), tensors.keys(head), tensors.values(head)];
        let [q, k, v] = [q, k, v].map(|rows| tensors.of_model(rows));
        let error = reference::Error::of(&output[..20], &reference::exact(&q, &k, &v));
        assert!(error.max < 1e-3 && output[20..].iter().all(|&bits| bits == 0), "{error:?} {output:x?}");
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

/// Attention in f64 of the tokens that a stream has, cut out of the tensors here.
fn of_stream(tensors: &Tensors, head: usize, stream: usize, lengths: &[u32], window: usize) -> Vec<f64> {
    let end = lengths[..=stream].iter().sum::<u32>() as usize;
    let from = end - window.min(lengths[stream] as usize);
    let rows = from * tensors.head_dim..end * tensors.head_dim;
    let (k, v) = (&tensors.keys(head)[rows.clone()], &tensors.values(head)[rows]);
    reference::exact(tensors.query(head, stream), k, v)
}

/// One token, the last of a segment, the first of the next, and a full cache.
#[test]
fn streams_of_different_lengths_attend_to_their_own_caches() {
    let lengths = [17, 1, 256, 8, 9, 64];
    for window in [None, Some(20)] {
        let design = small(|c| (c.model.max_streams, c.model.sliding_window) = (6, window));
        let tensors = tensors(&design, lengths.iter().sum::<u32>() as usize, 6, Logits::Normal, 5);
        for (mapping, trouble) in MAPPINGS.into_iter().zip([
            Trouble::default(),
            Trouble { stall: 200, unruly: true, noise: 77 },
            Trouble { unruly: true, ..Trouble::default() },
        ]) {
            let job = Job::ragged(&design, &tensors, 0, &lengths, mapping, Sharing::KvHead).unwrap();
            let done = lockstep(&emitted(&design), &job, trouble, Clocks::IN_STEP).unwrap();
            assert_eq!(done.violations, [""; 0], "{mapping:?}");
            assert_exact(&done, &format!("{mapping:?}, window {window:?}"));
            assert_eq!(done.outputs.len(), 6 * lengths.len());
            for ((stream, head), output) in &done.outputs {
                let window = window.map_or(usize::MAX, |tokens| tokens as usize);
                let exact = of_stream(&tensors, *head as usize, *stream as usize, &lengths, window);
                let error = reference::Error::of(output, &exact);
                assert!(error.max < 2e-3, "{mapping:?}, stream {stream}, head {head}: {error:?}");
            }
        }
    }
}

#[test]
fn streams_that_a_design_or_tensors_cannot_have_are_refused_by_their_number() {
    let design = small(|c| c.model.max_streams = 3);
    let tensors = tensors(&design, 300, 3, Logits::Normal, 5);
    let of = |lengths: &[u32]| {
        let job = Job::ragged(&design, &tensors, 0, lengths, Mapping::RowAligned, Sharing::KvHead);
        job.map(|_| ()).unwrap_err().to_string()
    };
    for (lengths, words) in [
        (
            &[17, 257][..],
            "stream 1 of --lengths has 257 tokens, and must have 1 to 256\n  help: model.max_tokens",
        ),
        (&[17, 8, 0], "stream 2 of --lengths has 0 tokens, and must have 1 to 256"),
        (&[1, 1, 1, 1], "--lengths has 4 streams, and must have 1 to 3\n  help: model.max_streams"),
        (&[], "--lengths has 0 streams, and must have 1 to 3"),
        (&[200, 101], "the streams of --lengths have 301 tokens together, and the tensors have 300"),
    ] {
        let said = of(lengths);
        assert!(said.starts_with(words), "{lengths:?}: {said}");
    }
}

/// The passes that sum up l wait for results that are read beside them, and are counted when they pass.
#[test]
fn events_are_counted_alike_while_results_are_read_beside_slices() {
    let design = small(|c| {
        (c.mesh.cols, c.noc.flit_width, c.noc.vc_depth) = (2, 128, 8);
        (c.kv.segment_tokens, c.kv.uram_per_tile, c.kv.banks) = (16, 2, 4);
        (c.takv.column_stride, c.pad.fifo_depth) = (1, None);
        (c.model.layers, c.model.heads, c.model.kv_heads, c.model.max_tokens) = (2, 8, 4, 1024);
    });
    let tensors = tensors(&design, 1000, 2, Logits::Normal, 5);
    let job = Job::new(&design, &tensors, (0, 2), Mapping::RowAligned, Sharing::KvHead).unwrap();
    let done = lockstep(&emitted(&design), &job, Trouble::default(), Clocks::IN_STEP).unwrap();
    assert_eq!(done.violations, [""; 0]);
    assert_exact(&done, "all counters");
}

#[test]
fn a_close_that_leaves_partial_results_in_other_rows_is_found() {
    let design = small(|_| {});
    let tensors = tensors(&design, 61, 2, Logits::Normal, 5);
    let mut files = emitted(&design).to_vec();
    let file = source_mut(&mut files, "meshkv_column_controller");
    for (from, to) in [
        (".gathers   (gathers_q)", ".gathers   (~head_tile)"),
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

/// Weights of a block of few tokens are due while those of the block before it are still on their way.
#[test]
fn segments_of_any_number_of_tokens_are_computed_right_on_wide_flits() {
    for (flit_width, head_dim) in [(512, 128), (1024, 64), (256, 64)] {
        let design = small(|c| {
            (c.noc.flit_width, c.pe.head_dim, c.kv.segment_tokens) = (flit_width, head_dim, 64);
            (c.kv.uram_per_tile, c.pad.fifo_depth) = (flit_width.div_ceil(72), Some(96));
        });
        for tokens in 1..=66 {
            let tensors = tensors(&design, tokens, 1, Logits::Normal, 2);
            let trouble = Trouble { noise: tokens as u64, ..Trouble::default() };
            let done = attend(&design, &tensors, 1, Mapping::RowAligned, trouble);
            assert_exact(&done, &format!("{flit_width} bits, rows of {head_dim}, {tokens} tokens"));
        }
    }
}

/// Real tensors, eight streams on four contexts a pass: a block begins while the one before is loaded.
#[test]
fn eight_streams_of_the_example_give_the_models_bits() {
    let tensors = Tensors::read("examples/minilm.safetensors".as_ref(), 0).unwrap();
    let mut config = Design::load("configs/minilm.toml".as_ref()).unwrap().0.configuration().clone();
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

/// A window of 20 tokens. Of 45 tokens it begins with token 25, in the middle of a chunk: token 24 is fetched,
/// multiplied and masked.
fn windowed() -> Design {
    let design = small(|c| (c.model.sliding_window, c.pad.fifo_depth) = (Some(20), Some(48)));
    assert_eq!(design.mare.chunk_flits, 16, "two tokens");
    design
}

/// Two streams of tokens of which some are beyond the range, and the heads that a run reports.
fn reported(files: &[SourceFile], job: &Job) -> (Vec<(u32, u32)>, Vec<String>) {
    let done = try_run(files, job, Trouble::default(), BuildForm::CorePieces, Clocks::IN_STEP).unwrap();
    assert_exact(&done, "outputs of saturated logits are the model's");
    (done.void.into_iter().collect(), done.violations)
}

#[test]
fn saturated_logits_are_reported_with_their_head_and_no_other() {
    let design = windowed();
    // Queries of both streams of head 2, and of stream 1 of head 5.
    let queries = [(0, 2), (1, 2), (1, 5)];
    for (keys, void) in [
        (&[(1, 25)][..], &[(0, 2), (1, 2)][..]),
        (&[(1, 44), (2, 30), (2, 31)], &[(0, 2), (1, 2), (1, 5)]),
        (&[(2, 36)], &[(1, 5)]),
        // No large query attends with this KV head; the others are masked.
        (&[(0, 30), (1, 24), (2, 24), (2, 3)], &[]),
    ] {
        let tensors = beyond(&design, 45, &queries, keys);
        for mapping in MAPPINGS {
            let job = Job::new(&design, &tensors, (0, 2), mapping, Sharing::KvHead).unwrap();
            let what = format!("{keys:?}, {mapping:?}");
            assert_eq!(reported(&emitted(&design), &job), (void.to_vec(), Vec::new()), "{what}");
            let trouble = Trouble { stall: 200, unruly: true, noise: 77 };
            let done = lockstep(&emitted(&design), &job, trouble, Clocks::IN_STEP).unwrap();
            assert_eq!(
                (done.void.into_iter().collect::<Vec<_>>(), done.violations),
                (void.to_vec(), Vec::new())
            );
            let model = Bench::on_model(&job, Behaviour::of(&design), Clocks::IN_STEP, true).unwrap();
            let model = model.run(0, 0, &mut |_| false).unwrap();
            assert_eq!(
                (model.void.into_iter().collect::<Vec<_>>(), model.violations),
                (void.to_vec(), Vec::new())
            );
        }
    }
}

#[test]
fn a_logit_is_saturated_beyond_the_limit_and_not_at_it() {
    let design = small(|_| {});
    let (half, less, last) = (0x7800, 0x77ff, 0x1400); // 2^15, the FP16 below it, 2^-10.
                                                       // Products of 2^30 and less, and one of 2^-20, the last bit of a logit.
    for (elements, saturates) in [
        ([half, half, 0], true),
        ([half, less, last], false),
        ([half | 0x8000, half | 0x8000, 0], false),
        ([half | 0x8000, half | 0x8000, last | 0x8000], true),
        ([half | 0x8000, half | 0x8000, last], false),
    ] {
        let tensors = changed(&design, 9, |[q, k, _]| {
            for (all, row) in [(q, [half, half, last]), (k, elements)] {
                all.fill(0);
                // The last product is of another flit: aligned to the others it would be cut off.
                for of in all.chunks_mut(32) {
                    (of[0], of[1], of[9]) = (row[0], row[1], row[2]);
                }
            }
        });
        let job = Job::new(&design, &tensors, (0, 1), Mapping::RowAligned, Sharing::KvHead).unwrap();
        let (void, violations) = reported(&emitted(&design), &job);
        assert_eq!((void.len(), violations), (if saturates { 6 } else { 0 }, Vec::new()), "{elements:x?}");
    }
}

#[test]
fn a_saturated_logit_that_is_lost_or_reported_for_another_is_found() {
    let design = windowed();
    let queries = [(0, 2), (1, 5)];
    // Tokens of different tiles: a root merges a partial result with the flag first or last.
    let [void, masked] =
        [[(1, 25), (2, 36)], [(1, 24), (2, 24)]].map(|keys| beyond(&design, 45, &queries, &keys));
    let [void, masked] = [&void, &masked]
        .map(|of| Job::new(&design, of, (0, 2), Mapping::RowAligned, Sharing::KvHead).unwrap());
    let count = |files: &[SourceFile], job: &Job| reported(files, job).1.len();
    let files = emitted(&design);
    assert_eq!((count(&files, &void), count(&files, &masked)), (0, 0));
    for (job, module, from, to) in [
        (&masked, "meshkv_scratchpad", "s_valid & s_counts & s_saturates", "s_valid & s_saturates"),
        (
            &void,
            "meshkv_scratchpad",
            "assign max_saturated = saturated_q[max_slot];",
            "assign max_saturated = saturated_q[0];",
        ),
        (&void, "meshkv_weight", ".CYCLES(12)", ".CYCLES(11)"),
        (&void, "meshkv_part_former", "negative | (saturated_q & first_q[STAGES-2])", "negative"),
        (
            &void,
            "meshkv_reduce_root",
            "saturated_q  <= saturated | header_l[31];",
            "saturated_q  <= header_l[31];",
        ),
        (
            &void,
            "meshkv_reduce_root",
            "{more, special_q, saturated_q, some_q,",
            "{more, special_q, 1'b0, some_q,",
        ),
        (
            &void,
            "meshkv_reduce_finisher",
            "(done_saturated | (partial & far & ~next_no_l_q)) & ~done_special",
            "1'b0",
        ),
    ] {
        assert_ne!(count(&mutant(&files, module, from, to), job), 0, "{module}: nothing shows `{to}`");
    }
}
