//! The whole datapath against attention in f64 and against a FlashAttention-2 style computation.

use super::exact::{datapath, half};
use meshkv::model::datapath::numbers::fp16;
use meshkv::model::datapath::reference::{exact, flash_attention2, Error};
use meshkv::model::datapath::tensors::{synthetic, Logits, Synthetic, Tensors};
use meshkv::model::{attend, split, Datapath};
use proptest::prelude::*;
use std::path::Path;

/// Outputs of the datapath, of FlashAttention-2 with blocks of 64, and of exact attention, for all queries of a head.
fn head(
    datapath: &Datapath,
    t: &Tensors,
    head: usize,
    segment: usize,
    tiles: usize,
) -> (Vec<u16>, Vec<u16>, Vec<f64>) {
    let (k, v) = (t.keys(head), t.values(head));
    let split = split(t.tokens, segment, tiles);
    let (mut ours, mut flash, mut true_ones) = (vec![], vec![], vec![]);
    for q in (0..t.positions).map(|position| t.query(head, position)) {
        ours.extend(attend(datapath, q, k, v, &split));
        flash.extend(flash_attention2(q, k, v, 64));
        true_ones.extend(exact(q, k, v));
    }
    (ours, flash, true_ones)
}

/// Asserts that the datapath is no worse than FlashAttention-2. Single outputs decide the largest error: if FlashAttention-2
/// has one right that lies nearly half-way between two FP16, ours may have the other, which is little more than half a last
/// place away.
fn assert_no_worse(what: &str, ours: &[u16], flash: &[u16], exact: &[f64]) {
    let (ours, flash) = (Error::of(ours, exact), Error::of(flash, exact));
    let slack = 1.0 + 1e-4;
    let largest = exact.iter().fold(0f64, |largest, value| largest.max(value.abs()));
    let half_place = 2f64.powf(largest.log2().floor() - 11.0);
    assert!(
        ours.max <= (flash.max * slack).max(half_place * 1.05) && ours.rms <= flash.rms * slack,
        "{what}: ours {ours:?}, FlashAttention-2 {flash:?}"
    );
}

#[test]
fn every_kind_of_logits_is_no_worse_than_flash_attention() {
    for logits in Logits::ALL {
        for (kv_heads, tokens) in [(4, 1024), (1, 1000)] {
            let what = Synthetic { seed: 5, heads: 4, kv_heads, positions: 1, tokens, head_dim: 128, logits };
            let tensors = synthetic(&what);
            for h in 0..4 {
                let (ours, flash, exact) = head(&datapath(128, 32), &tensors, h, 64, 8);
                assert_no_worse(&format!("{what:?} head {h}"), &ours, &flash, &exact);
            }
        }
    }
}

#[test]
fn every_legal_shape_is_no_worse_than_flash_attention() {
    for head_dim in [32, 64, 128, 256] {
        for flit_elements in [4, 8, 16, 32, 64] {
            // P is no multiple of a block, and T none of P.
            let (segment, tokens) = (50, 333);
            let logits = Logits::Normal;
            let what = Synthetic { seed: 9, heads: 1, kv_heads: 1, positions: 2, tokens, head_dim, logits };
            let datapath = datapath(head_dim as u32, flit_elements);
            let (ours, flash, exact) = head(&datapath, &synthetic(&what), 0, segment, 3);
            assert_no_worse(&format!("{head_dim} by {flit_elements}"), &ours, &flash, &exact);
        }
    }
}

/// Captured attention of a real encoder, if the file is present.
#[test]
fn real_tensors_are_no_worse_than_flash_attention() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/minilm_qkv.safetensors");
    if !path.exists() {
        return;
    }
    for layer in 0..6 {
        let tensors = Tensors::read(&path, layer).unwrap();
        for h in 0..tensors.heads {
            let (ours, flash, exact) = head(&datapath(32, 32), &tensors, h, 64, 8);
            let (ours, flash) = (Error::of(&ours, &exact), Error::of(&flash, &exact));
            assert!(ours.within(&flash), "layer {layer} head {h}: {ours:?} {flash:?}");
        }
    }
}

/// The last place of an exponential may decide a tie of two FP16 values; it decides no comparison.
#[test]
fn a_tie_is_no_difference_and_a_millionth_part_is() {
    let of = |rms| Error { max: 3.405e-4, rms };
    assert!(of(7.896355811361885e-5).within(&of(7.896355753870602e-5)));
    assert!(!of(7.8964e-5).within(&of(7.8963e-5)));
    assert!(!Error { max: 3.406e-4, rms: 7e-5 }.within(&of(7.8963e-5)));
    assert!(!of(f64::NAN).within(&of(7.8963e-5)));
}

/// K rows that all give q the same logit, and V rows of one value each.
fn rows(values: &[f64], head_dim: usize) -> Vec<u16> {
    values.iter().flat_map(|&value| vec![half(value); head_dim]).collect()
}

#[test]
fn equal_logits_give_the_mean() {
    let datapath = datapath(32, 32);
    let v = rows(&(1..=96).map(f64::from).collect::<Vec<_>>(), 32);
    for (key, query) in [(0.0, 0.0), (1.0, 3.0), (-7.5, 11.0), (60000.0, 60000.0), (-60000.0, 60000.0)] {
        let (q, k) = (rows(&[query], 32), rows(&[key; 96], 32));
        assert_eq!(attend(&datapath, &q, &k, &v, &split(96, 64, 2)), vec![half(48.5); 32], "{key} {query}");
    }
}

#[test]
fn one_huge_logit_gives_its_value() {
    let datapath = datapath(64, 16);
    let q = rows(&[65504.0], 64);
    let values: Vec<_> = (0..100).map(|i| f64::from(i) - 31.0).collect();
    for huge in [0, 50, 99] {
        let mut keys = vec![-65504.0; 100];
        keys[huge] = 65504.0;
        for (keys, expected) in [
            (keys, values[huge]),
            // 256 above all others, which are then too small to count, all of them far from 0.
            ((0..100).map(|i| if i == huge { 1.0 } else { 0.9995 }).collect(), values[huge]),
        ] {
            let (k, v) = (rows(&keys, 64), rows(&values, 64));
            let output = attend(&datapath, &q, &k, &v, &split(100, 64, 2));
            assert_eq!(output, vec![half(expected); 64], "token {huge}");
        }
    }
}

#[test]
fn very_negative_logits_are_as_good_as_others() {
    let datapath = datapath(32, 32);
    let tensors = synthetic(&Synthetic {
        seed: 3,
        heads: 1,
        kv_heads: 1,
        positions: 1,
        tokens: 200,
        head_dim: 32,
        logits: Logits::Normal,
    });
    // One channel gives every token a logit of -30000 / sqrt(32) on top.
    let mut q = tensors.query(0, 0).to_vec();
    let mut k = tensors.keys(0).to_vec();
    q[0] = half(-300.0);
    k.chunks_mut(32).for_each(|row| row[0] = half(100.0));
    let v = tensors.values(0);
    let ours = attend(&datapath, &q, &k, v, &split(200, 64, 4));
    assert_no_worse("negative", &ours, &flash_attention2(&q, &k, v, 64), &exact(&q, &k, v));
}

#[test]
fn a_single_token_gives_its_value_in_every_bit() {
    let datapath = datapath(32, 32);
    let v: Vec<u16> = (0..32u16).map(|i| i * 0x07ff).filter(|&bits| !fp16::is_special(bits)).collect();
    let v: Vec<u16> = v.iter().copied().cycle().take(32).collect();
    for query in [0.0, 1.0, 0.3, -17.25, 65504.0, 2f64.powi(-24)] {
        let q = rows(&[query], 32);
        for key in [0.0, 1.0, -0.7, 65504.0, -65504.0] {
            let output = attend(&datapath, &q, &rows(&[key], 32), &v, &split(1, 64, 1));
            assert_eq!(output, v, "{query} {key}");
        }
    }
}

#[test]
fn a_long_tail_is_not_lost() {
    // One token 16 in base 2 above 65535 others: the tail has half of the weight.
    let datapath = datapath(32, 32);
    let tokens = 1 << 16;
    let mut q = rows(&[0.0], 32);
    q[0] = half(16.0);
    let mut k = vec![0; tokens * 32];
    // 16 * key * log2(e) / sqrt(32) = 16.
    k[0] = half(32f64.sqrt() / std::f64::consts::LOG2_E);
    let mut v = rows(&vec![1.0; tokens], 32);
    v[..32].fill(half(-1.0));
    let ours = attend(&datapath, &q, &k, &v, &split(tokens, 64, 8));
    assert_no_worse("tail", &ours, &flash_attention2(&q, &k, &v, 64), &exact(&q, &k, &v));
}

#[test]
fn the_reference_is_the_one_the_captured_tensors_came_with() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/minilm_qkv.safetensors");
    let Ok(bytes) = std::fs::read(path) else { return };
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let tensors = Tensors::parse(&bytes, 3).unwrap();
    let outputs = file.tensor("layers.3.o").unwrap();
    let stored = outputs.data().chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let computed = (0..tensors.heads)
        .flat_map(|h| (0..tensors.positions).map(move |p| (h, p)))
        .flat_map(|(h, p)| exact(tensors.query(h, p), tensors.keys(h), tensors.values(h)));
    for (stored, computed) in stored.zip(computed) {
        assert!((f64::from(stored) - computed).abs() <= computed.abs() * 1e-7 + 1e-12);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any finite FP16 for q, K and V: the output lies between the smallest and the largest value.
    #[test]
    fn an_output_is_a_mean_of_values(
        q in prop::collection::vec(any::<u16>(), 32),
        k in prop::collection::vec(any::<u16>(), 32 * 40),
        v in prop::collection::vec(any::<u16>(), 32 * 40),
    ) {
        let finite = |bits: Vec<u16>| -> Vec<u16> {
            bits.into_iter().map(|b| if fp16::is_special(b) { b & 0x83ff } else { b }).collect()
        };
        let (q, k, v) = (finite(q), finite(k), finite(v));
        let output = attend(&datapath(32, 16), &q, &k, &v, &split(40, 24, 2));
        for (dim, &bits) in output.iter().enumerate() {
            let column = || v.iter().skip(dim).step_by(32).map(|&b| fp16::to_f64(b));
            let (low, high) = (column().fold(f64::MAX, f64::min), column().fold(f64::MIN, f64::max));
            prop_assert!((low..=high).contains(&fp16::to_f64(bits)), "{dim}: {low} {high} {bits:x}");
        }
    }
}
