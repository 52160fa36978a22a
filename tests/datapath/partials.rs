//! Partial results: masks, blocks, packets, merging.

use super::exact::datapath;
use meshkv::model::datapath::attention::tile;
use meshkv::model::datapath::layout::{k_flits, v_flits};
use meshkv::model::datapath::numbers::fp16;
use meshkv::model::datapath::reference::{exact, Error};
use meshkv::model::datapath::tensors::{synthetic, Logits, Synthetic, Tensors};
use meshkv::model::{attend, split, Datapath, Packet, Partial, Split};
use proptest::prelude::*;
use std::ops::Range;

fn tensors(tokens: usize, head_dim: usize, logits: Logits) -> Tensors {
    synthetic(&Synthetic { seed: 21, heads: 1, kv_heads: 1, positions: 1, tokens, head_dim, logits })
}

/// One segment of `tokens` tokens of which `rows` count.
fn masked<'a>(datapath: &'a Datapath, q: &[u16], k: &[u16], v: &[u16], rows: Range<usize>) -> Partial<'a> {
    let mut partial = datapath.partial(q);
    partial.begin_segment(rows);
    k_flits(k, datapath.shape.flit_elements).iter().for_each(|flit| partial.k_flit(flit));
    v_flits(v, datapath.shape.head_dim, datapath.shape.flit_elements)
        .iter()
        .for_each(|flit| partial.v_flit(flit));
    partial
}

#[test]
fn masked_heads_and_tails_are_as_if_they_were_not_there() {
    for (head_dim, lanes) in [(32, 32), (32, 64), (64, 16)] {
        let datapath = datapath(head_dim as u32, lanes);
        let t = tensors(128, head_dim, Logits::Peaky);
        let (q, k, v) = (t.query(0, 0), t.keys(0), t.values(0));
        for rows in [0..128, 0..1, 5..6, 127..128, 0..100, 37..128, 33..95, 64..70] {
            // Whatever is masked may be anything at all: infinities and NaN too.
            let garbage = |of: &[u16]| -> Vec<u16> {
                let kept = |(i, &bits): (usize, &u16)| match rows.contains(&(i / head_dim)) {
                    true => bits,
                    false => [0x7bff, 0x7c00, 0xfe01, 0xfbff, 0xffff][i % 5],
                };
                of.iter().enumerate().map(kept).collect()
            };
            let partial = masked(&datapath, q, &garbage(k), &garbage(v), rows.clone());
            assert!(!partial.special());
            let mut root = datapath.root();
            root.merge(&partial.to_flits());
            let elements = rows.start * head_dim..rows.end * head_dim;
            let exact = exact(q, &k[elements.clone()], &v[elements]);
            let scale = exact.iter().fold(0f64, |scale, x| scale.max(x.abs()));
            let error = Error::of(&root.output(), &exact);
            assert!(error.max <= scale * 2f64.powi(-11), "{head_dim} {rows:?} {error:?}");
        }
        assert_eq!(masked(&datapath, q, k, v, 9..9).max(), None);
    }
}

#[test]
fn a_saturated_logit_of_a_token_that_counts_is_told_to_the_root_and_changes_no_number() {
    let datapath = datapath(32, 32);
    let t = tensors(64, 32, Logits::Normal);
    let (v, usual) = (t.values(0), t.keys(0));
    // 32 products of 2^30.
    let q = vec![0x7800; 32];
    let mut large = usual.to_vec();
    large[10 * 32..11 * 32].fill(0x7800);
    for (rows, saturated) in [(0..64, true), (10..11, true), (0..10, false), (11..64, false)] {
        let partial = masked(&datapath, &q, &large, v, rows.clone());
        assert_eq!(partial.has_saturated(), saturated, "{rows:?}");
        let flits = partial.to_flits();
        let mut packet = Packet::from_flits(&flits, 32);
        assert_eq!(packet.saturated(), saturated, "{rows:?}");
        packet.set_saturated(false);
        let other = masked(&datapath, t.query(0, 0), usual, v, 0..64).to_flits();
        for order in [[&flits, &other], [&other, &flits]] {
            let (mut root, mut silent) = (datapath.root(), datapath.root());
            for part in order {
                root.merge(part);
                silent.merge(if part == &flits { packet.to_flits(32) } else { part.clone() }.as_slice());
            }
            assert_eq!((root.saturated(), silent.saturated()), (saturated, false), "{rows:?}");
            assert_eq!((root.sums(), root.output()), (silent.sums(), silent.output()), "{rows:?}");
        }
    }
    // An infinity in the head says more.
    let mut special = large.clone();
    special[20 * 32] = 0x7c00;
    let partial = masked(&datapath, &q, &special, v, 0..64);
    assert!(partial.special() && partial.has_saturated());
    let mut root = datapath.root();
    root.merge(&partial.to_flits());
    root.merge(&masked(&datapath, &q, &large, v, 0..64).to_flits());
    assert!(!root.saturated() && root.output().iter().all(|&bits| bits == fp16::NAN));
}

#[test]
fn a_head_without_a_token_is_zero_and_disturbs_no_other() {
    let datapath = datapath(32, 32);
    let t = tensors(64, 32, Logits::Normal);
    let (q, k, v) = (t.query(0, 0), t.keys(0), t.values(0));
    assert_eq!(datapath.root().output(), vec![0; 32]);
    let (none, all) = (masked(&datapath, q, k, v, 0..0), masked(&datapath, q, k, v, 0..64));
    let mut root = datapath.root();
    root.merge(&none.to_flits());
    assert_eq!((root.output(), root.max()), (vec![0; 32], None));
    root.merge(&all.to_flits());
    root.merge(&none.to_flits());
    let mut alone = datapath.root();
    alone.merge(&all.to_flits());
    assert_eq!(root.output(), alone.output());
    assert_eq!(root.sums(), alone.sums());
}

/// Sums depend on blocks, not on segments: they are the same in every bit for every P that is a multiple of E.
#[test]
fn the_size_of_segments_changes_no_bit() {
    let datapath = datapath(128, 32);
    for logits in Logits::ALL {
        let t = tensors(512, 128, logits);
        let of = |segment: usize| {
            let segments = split(512, segment, 1).remove(0);
            let partial = tile(&datapath, t.query(0, 0), t.keys(0), t.values(0), &segments);
            (partial.max(), partial.sums().to_vec())
        };
        assert!([32, 64, 96, 256, 512].into_iter().all(|segment| of(segment) == of(128)));
    }
}

/// The path from the flits to the packet for one block, composed by hand from the documented steps.
#[test]
fn intermediate_values_are_what_the_steps_give() {
    use meshkv::model::datapath::numbers::fixed::{place, to_fp32, Phase};
    use meshkv::model::{align, dot, Vector};
    let datapath = datapath(64, 16);
    let t = tensors(16, 64, Logits::Peaky);
    let (q, k, v) = (t.query(0, 0), t.keys(0), t.values(0));
    let partial = masked(&datapath, q, k, v, 0..16);
    let aligned = |flit: &[u16]| align(flit, |_| true, &datapath.formats);
    let query: Vec<_> = q.chunks(16).map(|part| Vector::query(part, &datapath.formats)).collect();
    let mut weights = Vec::new();
    for (token, row) in k.chunks(64).enumerate() {
        let logit: i128 = row
            .chunks(16)
            .zip(&query)
            .map(|(flit, part)| {
                place(dot(&aligned(flit), part, &datapath.formats), &datapath.formats, Phase::Logit)
            })
            .sum();
        assert_eq!(logit, partial.logits()[token]);
        weights.push(datapath.exp2.weight(datapath.scale.apply(logit)));
        assert_eq!(Some(weights[token]), partial.weights()[token]);
    }
    let max = weights.iter().map(|weight| weight.integer).max().unwrap();
    assert_eq!(partial.max(), Some(max));
    // The block is the first of its head: its largest weight is m.
    let lacks: Vec<_> = weights.iter().map(|w| Some((w.significand, (max - w.integer) as u32))).collect();
    let lanes = Vector::weights(&lacks, 0, &datapath.formats);
    assert_eq!(partial.block(), Some(&lanes));
    assert!(lanes.lanes.iter().any(|lane| lane.number != 0) && partial.sums().len() == 65);
    let sum =
        |flit: &[u16]| place(dot(&aligned(flit), &lanes, &datapath.formats), &datapath.formats, Phase::Sum);
    for dim in 0..64 {
        let flit: Vec<_> = (0..16).map(|token| v[token * 64 + dim]).collect();
        assert_eq!(partial.sums()[dim], sum(&flit));
    }
    assert_eq!(partial.sums()[64], sum(&[0x3c00; 16]));
    let packet = Packet::from_flits(&partial.to_flits(), 64);
    let words: Vec<_> = partial.sums().iter().map(|&sum| to_fp32(sum, 36)).collect();
    assert_eq!(packet, Packet { max, sums: words });
}

#[test]
fn a_packet_comes_back_as_it_was_sent() {
    for (head_dim, lanes) in [(32u32, 4u32), (32, 64), (128, 32), (256, 8)] {
        let sums: Vec<u32> = (0..=head_dim).map(|i| i.wrapping_mul(0x0101_0101)).collect();
        let packet = Packet { max: -123_456_789, sums };
        let flits = packet.to_flits(lanes);
        assert_eq!(flits.len() as u32, 1 + (head_dim * 32).div_ceil(lanes * 16));
        assert!(flits.iter().all(|flit| flit.len() == lanes as usize));
        assert_eq!(Packet::from_flits(&flits, head_dim), packet);
    }
    let flits = Packet { max: -2, sums: vec![0x3f80_0000, 0x4000_0000, 0x4040_0000] }.to_flits(4);
    assert_eq!(flits, [[0xfffe, 0xffff, 0, 0x4040], [0, 0x3f80, 0, 0x4000]]);
}

#[test]
fn one_tile_or_sixteen_give_the_same_but_for_the_last_bit() {
    let datapath = datapath(64, 32);
    for logits in Logits::ALL {
        let t = tensors(1000, 64, logits);
        let (q, k, v) = (t.query(0, 0), t.keys(0), t.values(0));
        let one = attend(&datapath, q, k, v, &split(1000, 64, 1));
        for tiles in 2..=16 {
            assert_close(&attend(&datapath, q, k, v, &split(1000, 64, tiles)), &one);
        }
    }
}

/// Asserts that the numbers are equal or neighbours in FP16.
fn assert_close(a: &[u16], b: &[u16]) {
    let steps = |bits: u16| if bits >> 15 == 1 { -i32::from(bits & 0x7fff) } else { i32::from(bits) };
    for (&a, &b) in a.iter().zip(b) {
        assert!((steps(a) - steps(b)).abs() <= 1, "{a:x} {b:x}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// In any order, the sums differ by less than a unit of 2^-36 a partial, outputs by a neighbour at most.
    #[test]
    fn the_order_of_partials_matters_only_in_the_last_bits(
        order in Just((0..8usize).collect::<Vec<_>>()).prop_shuffle(), kind in 0usize..4
    ) {
        let datapath = datapath(32, 32);
        let t = tensors(512, 32, Logits::ALL[kind]);
        let split: Split = split(512, 64, 8);
        let packets: Vec<_> = split
            .iter()
            .map(|segments| tile(&datapath, t.query(0, 0), t.keys(0), t.values(0), segments).to_flits())
            .collect();
        let (mut straight, mut shuffled) = (datapath.root(), datapath.root());
        packets.iter().for_each(|packet| straight.merge(packet));
        order.iter().for_each(|&tile| shuffled.merge(&packets[tile]));
        prop_assert_eq!(straight.max(), shuffled.max());
        for (a, b) in straight.sums().iter().zip(shuffled.sums()) {
            prop_assert!((a - b).unsigned_abs() <= 8);
        }
        assert_close(&straight.output(), &shuffled.output());
        prop_assert!(straight.output().iter().all(|&bits| !fp16::is_special(bits)));
    }
}
