//! Caches of other formats than FP16, with scales and without: attention has the model's bits, and model and Verilog are in
//! lockstep.

use crate::support::attention::{assert_exact, attend, lockstep, small, tensors, Trouble};
use crate::support::device::{self, run_clean, whole};
use crate::support::verilated::emitted;
use meshkv::config::{Config, KvFormat, KvScales, Narrow};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::device::{Notice, Platform};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::emit::SourceFile;
use meshkv::model::datapath::reference::{exact_tokens, Error};
use meshkv::model::datapath::tensors::{Logits, Tensors};

const ALL: [(KvFormat, KvScales); 7] = [
    (KvFormat::Fp16, KvScales::Head),
    (KvFormat::Bf16, KvScales::None),
    (KvFormat::Fp8E4m3, KvScales::Head),
    (KvFormat::Fp8E4m3, KvScales::None),
    (KvFormat::Fp8E5m2, KvScales::Head),
    (KvFormat::Fp8E5m2, KvScales::None),
    (KvFormat::Int8, KvScales::Head),
];

/// Formats whose tokens may have scales.
const TOKENS: [(KvFormat, KvScales); 2] =
    [(KvFormat::Int8, KvScales::Token), (KvFormat::Fp8E4m3, KvScales::Token)];

fn formatted((format, scales): (KvFormat, KvScales), change: impl FnOnce(&mut Config)) -> Design {
    small(|c| {
        (c.kv.format, c.kv.scales) = (format, scales);
        change(c);
    })
}

/// The same tensors with factors that differ by KV head, where the design has some.
fn scaled(design: &Design, tensors: Tensors) -> Tensors {
    if !design.pe.is_scaled() {
        return tensors;
    }
    let factors = (0..design.model.kv_heads).map(|g| {
        let [k, v] = tensors.scales((g * design.model.group_heads()) as usize);
        [k * (0.8 + 0.3 * g as f32), v * (1.7 - 0.2 * g as f32)]
    });
    let factors = factors.collect();
    tensors.with_scales(factors)
}

/// Outputs are those of attention in f64 on the same numbers, but for the roundings of the datapath.
fn near(design: &Design, tensors: &Tensors, outputs: &std::collections::BTreeMap<(u32, u32), Vec<u16>>) {
    for ((stream, head), output) in outputs {
        let (head, stream) = (*head as usize, *stream as usize);
        let of_head = tensors.scales(head).map(f64::from);
        let ones = vec![[0x3c00; 2]; tensors.tokens];
        let of_tokens = tensors.token_scales(head).unwrap_or(&ones).iter();
        let factors: Vec<[f64; 2]> = of_tokens
            .map(|scales| [0, 1].map(|at| half::f16::from_bits(scales[at]).to_f64() * of_head[at]))
            .collect();
        let (q, k, v) = (tensors.query(head, stream), tensors.keys(head), tensors.values(head));
        let exact = exact_tokens(q, k, v, &factors);
        let error = Error::of(output, &exact);
        let largest = exact.iter().fold(0f64, |most, x| most.max(x.abs()));
        assert!(error.max < 1e-3 * largest.max(1.0), "{:?}, head {head}: {error:?}", design.pe.format);
    }
}

#[test]
fn every_format_has_the_models_bits() {
    for of in ALL {
        let design = formatted(of, |_| {});
        for (mapping, tokens) in
            [(Mapping::HeadTile, 61), (Mapping::RowAligned, 64), (Mapping::StreamStriped, 3)]
        {
            let tensors = scaled(&design, tensors(&design, tokens, 2, Logits::Normal, 5));
            for trouble in [Trouble::default(), Trouble { stall: 200, unruly: true, noise: 77 }] {
                let done = attend(&design, &tensors, 2, mapping, trouble);
                assert_exact(&done, &format!("{of:?}, {mapping:?}"));
                near(&design, &tensors, &done.outputs);
            }
        }
    }
}

#[test]
fn other_shapes_of_every_format_have_the_models_bits() {
    type Change = fn(&mut Config);
    // Several tokens a flit; groups of words, and scales of four heads in one; several parts a query; odd segments.
    let shapes: [Change; 4] = [
        |c| (c.noc.flit_width, c.kv.uram_per_tile) = (512, 8),
        |c| {
            (c.noc.flit_width, c.kv.uram_per_tile, c.model.heads, c.model.kv_heads) = (256, 8, 12, 6);
            (c.kv.segment_tokens, c.pe.head_dim) = (40, 128);
        },
        |c| (c.kv.segment_tokens, c.pe.array_rows, c.pe.head_dim) = (13, 3, 64),
        |c| (c.pad.enable, c.mare.multicast, c.noc.router_stages) = (false, false, 3),
    ];
    for of in ALL {
        for (at, shape) in shapes.into_iter().enumerate() {
            let design = formatted(of, shape);
            let tensors = scaled(&design, tensors(&design, 61, 2, Logits::LongTail, 7));
            let done = attend(&design, &tensors, 2, Mapping::RowAligned, Trouble::default());
            assert_exact(&done, &format!("{of:?}, shape {at}"));
            near(&design, &tensors, &done.outputs);
        }
    }
}

/// Scales come before K, and meet the logit of their token and its weight.
#[test]
fn scales_of_tokens_have_the_models_bits_and_its_cycles() {
    type Change = fn(&mut Config);
    // Several flits of scales a chunk; several tokens a flit; several parts a query in odd segments; one stage after the other.
    let shapes: [Change; 4] = [
        |_| {},
        |c| (c.noc.flit_width, c.kv.uram_per_tile) = (512, 8),
        |c| (c.kv.segment_tokens, c.pe.array_rows, c.pe.head_dim) = (13, 3, 64),
        |c| (c.pad.enable, c.mare.multicast, c.kv.segment_tokens) = (false, false, 16),
    ];
    for of in TOKENS {
        for (at, shape) in shapes.into_iter().enumerate() {
            let design = formatted(of, shape);
            for (tokens, logits) in [(61, Logits::LongTail), (37, Logits::Normal), (3, Logits::Peaky)] {
                let tensors = scaled(&design, tensors(&design, tokens, 2, logits, 7));
                let job = Job::new(&design, &tensors, (0, 2), Mapping::RowAligned, Sharing::KvHead).unwrap();
                let done = lockstep(&emitted(&design), &job, Trouble::default(), Clocks::IN_STEP).unwrap();
                assert_eq!(done.violations, [""; 0], "{of:?}, shape {at}, {tokens} tokens");
                assert_exact(&done, &format!("{of:?}, shape {at}, {tokens} tokens"));
                near(&design, &tensors, &done.outputs);
            }
        }
    }
}

/// Rows that share their multipliers, one of them alone or not, with numbers of either width, and contexts that pass one
/// after the other.
#[test]
fn packed_rows_have_the_models_bits_and_its_cycles() {
    for (rows, heads) in [(1, 6), (2, 6), (3, 12), (4, 12), (8, 24)] {
        for narrow in Narrow::ALL {
            let design = formatted((KvFormat::Int8, KvScales::Head), |c| {
                (c.pe.array_rows, c.pe.narrow, c.model.heads) = (rows, narrow, heads);
            });
            let tensors = scaled(&design, tensors(&design, 37, 2, Logits::Normal, 5));
            let job = Job::new(&design, &tensors, (0, 2), Mapping::HeadTile, Sharing::KvHead).unwrap();
            let done = lockstep(&emitted(&design), &job, Trouble::default(), Clocks::IN_STEP).unwrap();
            assert_eq!(done.violations, [""; 0], "{rows} rows, {narrow:?}");
            assert_exact(&done, &format!("{rows} rows, {narrow:?}"));
        }
    }
}

#[test]
fn model_and_verilog_of_every_format_are_in_lockstep() {
    for of in ALL {
        let design = formatted(of, |_| {});
        let tensors = scaled(&design, tensors(&design, 61, 2, Logits::Normal, 5));
        let job = Job::new(&design, &tensors, (0, 2), Mapping::HeadTile, Sharing::KvHead).unwrap();
        let done = lockstep(&emitted(&design), &job, Trouble::default(), Clocks::IN_STEP).unwrap();
        assert_eq!(done.violations, [""; 0], "{of:?}");
        assert_exact(&done, &format!("{of:?}"));
    }
}

#[test]
fn new_tokens_of_eight_bits_are_written_in_lockstep() {
    written_in_lockstep(&[ALL[2], ALL[4], ALL[6]]);
}

/// Scales are written over those that memory had, and are there before K of their slice is read.
#[test]
fn new_tokens_with_scales_of_their_own_are_written_in_lockstep() {
    written_in_lockstep(&TOKENS);
}

fn written_in_lockstep(formats: &[(KvFormat, KvScales)]) {
    type Change = fn(&mut Config);
    let shapes: [Change; 2] =
        [|_| {}, |c| (c.noc.flit_width, c.kv.uram_per_tile, c.pe.head_dim) = (256, 8, 64)];
    for &of in formats {
        for shape in shapes {
            let design = formatted(of, |c| {
                (c.kv.append, c.takv.column_stride) = (true, 1);
                shape(c);
            });
            let tensors = scaled(&design, tensors(&design, 100, 2, Logits::Normal, 5));
            for lengths in [[17, 16], [1, 24], [60, 37]] {
                let job = Job::ragged(&design, &tensors, 0, &lengths, Mapping::RowAligned, Sharing::KvHead);
                let job = job.unwrap().appending();
                let done = lockstep(&emitted(&design), &job, Trouble::default(), Clocks::IN_STEP).unwrap();
                assert_eq!(done.violations, [""; 0], "{of:?}, {lengths:?}");
                assert_exact(&done, &format!("{of:?}, {lengths:?}"));
            }
        }
    }
}

#[test]
fn slips_in_the_scales_of_tokens_are_found() {
    let design = formatted(TOKENS[0], |c| (c.kv.append, c.takv.column_stride) = (true, 1));
    let tensors = scaled(&design, tensors(&design, 100, 2, Logits::Normal, 5));
    let job = Job::ragged(&design, &tensors, 0, &[60, 37], Mapping::RowAligned, Sharing::KvHead);
    let job = job.unwrap().appending();
    let slips = [
        ("meshkv_pad", "scale_flit_q[{scale_lane_q, 5'b0}+:32]", "scale_flit_q[31:0]"),
        ("meshkv_pad_array", "op_scales[14:10]} - 7'd14", "op_scales[14:10]} - 7'd15"),
        ("meshkv_pad_array", "(op_scales[9:0])", "(op_scales[25:16])"),
        ("meshkv_pad_row", "doubles ? product[26:11] : product[25:10]", "product[25:10]"),
        ("meshkv_pad_row", "p_rise_s3_q + {4'b0, doubles}", "p_rise_s3_q"),
        ("meshkv_scratchpad", "rises ? value_to_new_s3_q : value_to_old_s3_q", "value_to_new_s3_q"),
        ("meshkv_scratchpad", "ones_shown_s5_q       <= within_s4_q & ", "ones_shown_s5_q       <= "),
        ("meshkv_filler", "next_scales ? scales_here_q", "next_scales ? 1'b1"),
        ("meshkv_filler", "patch_row[SCALES_LOG-1:0] ==", "~patch_row[SCALES_LOG-1:0] =="),
        ("meshkv_new_token", "{2{word[31:0]} }", "{2{word[63:32]} }"),
        ("meshkv_prefetcher", "last >> 3", "last >> 4"),
    ];
    let run = |files: &[SourceFile]| match lockstep(files, &job, Trouble::default(), Clocks::IN_STEP) {
        Ok(done) => done.violations.is_empty() && done.bit_exact(),
        Err(_) => false,
    };
    let files = emitted(&design);
    assert!(run(&files));
    for (module, from, to) in slips {
        assert!(!run(&device::mutant(&files, module, from, to)), "{module}: {from} is missed");
    }
}

/// The host puts scales behind its queries, and the device takes them with the queries of each run.
#[test]
fn a_device_takes_the_scales_of_each_run() {
    for (of, heads) in [(ALL[0], 6), (ALL[2], 6), (ALL[2], 12)] {
        let design = formatted(of, |c| {
            (c.takv.column_stride, c.model.heads) = (1, heads);
            (c.noc.flit_width, c.kv.uram_per_tile) = if heads == 12 { (256, 8) } else { (64, 1) };
        });
        let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
        for (step, seed) in [5, 6].into_iter().enumerate() {
            let mut tensors = scaled(&design, device::tensors(&design, 61, seed));
            if step == 1 {
                let factors = (0..design.model.kv_heads).map(|g| [0.5 - 0.1 * g as f32, 3.0]).collect();
                tensors = tensors.with_scales(factors);
            }
            let job = device::job(&design, &tensors, Mapping::RowAligned);
            let done = run_clean(&mut bench, &job, Notice::Interrupt, &format!("{of:?}, step {step}"));
            near(&design, &tensors, &done.outputs);
        }
    }
}
