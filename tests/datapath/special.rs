//! The datapath on infinities, NaN, and the largest and smallest numbers.

use super::exact::{datapath, half};
use meshkv::model::datapath::numbers::fp16;
use meshkv::model::{attend, split};

const SPECIAL: [u16; 5] = [0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xffff];

/// q, K and V of small numbers, 40 tokens of 32 elements.
fn plain() -> (Vec<u16>, Vec<u16>, Vec<u16>) {
    let numbers = |n: usize| (0..n).map(|i| half((i * 37 % 101) as f64 / 50.0 - 1.0)).collect();
    (numbers(32), numbers(40 * 32), numbers(40 * 32))
}

#[test]
fn an_infinity_or_nan_anywhere_makes_every_output_of_its_head_nan() {
    let split = split(40, 16, 3);
    for lanes in [8, 32, 64] {
        let datapath = datapath(32, lanes);
        for special in SPECIAL {
            for at in [0, 31, 500, 40 * 32 - 1] {
                for which in 0..3 {
                    let (mut q, mut k, mut v) = plain();
                    match which {
                        0 => q[at % 32] = special,
                        1 => k[at] = special,
                        _ => v[at] = special,
                    }
                    let output = attend(&datapath, &q, &k, &v, &split);
                    assert_eq!(output, vec![fp16::NAN; 32], "{special:x} at {at} of {which}");
                }
            }
        }
        let (q, k, v) = plain();
        assert!(attend(&datapath, &q, &k, &v, &split).iter().all(|&bits| !fp16::is_special(bits)));
    }
}

#[test]
fn no_finite_input_overflows() {
    let datapath = datapath(256, 64);
    for (query, key, value) in [
        (0x7bff, 0x7bff, 0x7bff),
        (0x7bff, 0xfbff, 0xfbff),
        (0xfbff, 0xfbff, 0x7bff),
        (1, 1, 1),
        (1, 0x8001, 0x8001),
    ] {
        let (q, k, v) = (vec![query; 256], vec![key; 256 * 100], vec![value; 256 * 100]);
        assert_eq!(attend(&datapath, &q, &k, &v, &split(100, 64, 2)), vec![value; 256]);
    }
}

#[test]
fn a_zero_is_positive_unless_rounding_made_it() {
    let datapath = datapath(32, 32);
    let (q, k) = (vec![0; 32], vec![0; 3 * 32]);
    let column = |values: [u16; 3]| values.iter().flat_map(|&bits| [bits; 32]).collect::<Vec<_>>();
    let of = |values| attend(&datapath, &q, &k, &column(values), &split(3, 64, 1))[0];
    assert_eq!(of([0x8000, 0x8000, 0x8000]), 0);
    assert_eq!(of([0x3c00, 0xbc00, 0]), 0);
    // A third of the smallest number rounds to zero and keeps its sign; two thirds round up.
    assert_eq!([of([1, 0, 0]), of([0x8001, 0, 0]), of([0x8001, 0x8001, 0])], [0, 0x8000, 0x8001]);
}

#[test]
fn logits_beyond_the_limit_count_as_equal() {
    // 2^31 before the scale: |q| and |k| of some thousands in every element of a head.
    let datapath = datapath(128, 32);
    let q = vec![half(8192.0); 128];
    let row = |key: f64| vec![half(key); 128];
    let v = [vec![half(1.0); 128], vec![half(3.0); 128]].concat();
    let at = |keys: [f64; 2]| attend(&datapath, &q, &keys.map(row).concat(), &v, &split(2, 64, 1))[0];
    assert_eq!(at([16384.0, 8192.0]), half(2.0));
    assert_eq!(at([1024.0, 1025.0]), half(3.0));
}
