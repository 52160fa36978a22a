//! Each step of the datapath by itself.

use super::exact::{datapath, integer, nearest_half, power_of_two, rational};
use meshkv::model::datapath::numbers::fixed::{from_fp32, place, shift, to_fp32, Phase};
use meshkv::model::datapath::numbers::formats::LOGIT_BITS;
use meshkv::model::datapath::numbers::fp16;
use meshkv::model::{align, dot, Dot, Exp2, Formats, Lane, Reciprocal, Scale, Vector, Weight};
use num_rational::BigRational;
use num_traits::Signed;
use proptest::prelude::*;

/// Finite FP16: any, and more often than by chance zeros, subnormals, powers of two and the largest.
fn finite() -> impl Strategy<Value = u16> {
    let whole = any::<u16>().prop_filter("finite", |bits| !fp16::is_special(*bits));
    let edge = prop::sample::select(vec![
        0x0000u16, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x3c00, 0xbc00, 0x3bff, 0x7bff,
        0xfbff, 0x7800, 0x0401,
    ]);
    // Numbers of one binade: what a head really has.
    let close = (0x3800u16..0x4400, any::<bool>()).prop_map(|(bits, sign)| bits | u16::from(sign) << 15);
    prop_oneof![3 => whole, 1 => edge, 2 => close]
}

/// A weight of a block: its significand, and by how much it lies below the largest.
fn weight() -> impl Strategy<Value = Option<(u32, u32)>> {
    prop_oneof![1 => Just(None), 6 => (1u32 << 16..1 << 17, 0u32..40).prop_map(Some)]
}

fn dot_value(dot: Dot, bias: i32) -> BigRational {
    integer(dot.sum) * power_of_two(dot.exponent as i32 - bias - 41)
}

/// Largest error of an element that lies `short` powers of two below the largest, whose exponent is `exponent`: half a
/// last place where bits are lost, and what the small scale cuts off.
fn element_error(exponent: u32, short: u32, small: bool) -> BigRational {
    let rounding = if short > 15 { power_of_two(exponent as i32 - 41) } else { integer(0) };
    rounding + if small && short > 10 { power_of_two(exponent as i32 - 35) } else { integer(0) }
}

/// Checks a dot against the exact one: the sum of the lanes' errors bounds its own. `lanes` has each stationary number
/// with the largest error of its conversion.
fn check_dot(flit: &[u16], vector: &Vector, lanes: &[(BigRational, BigRational)], bias: i32) {
    let formats = Formats::default();
    let found = dot(&align(flit, |_| true, &formats), vector, &formats);
    let exponent = flit.iter().map(|&bits| fp16::fields(bits).exponent).max().unwrap();
    assert_eq!(found.exponent, exponent + vector.exponent);
    let (mut exact, mut bound) = (integer(0), integer(0));
    for ((&bits, (number, error)), lane) in flit.iter().zip(lanes).zip(&vector.lanes) {
        exact += rational(bits) * number;
        let of_element = element_error(exponent, exponent - fp16::fields(bits).exponent, lane.small);
        bound += of_element * (number.abs() + error) + rational(bits).abs() * error;
    }
    assert!((dot_value(found, 15 + bias) - &exact).abs() <= bound, "{found:?} {exact} {bound}");
    // The bound by norms: 2^-20 a lane for a query, 2^-15 for weights, of the largest element and the largest number.
    let largest = power_of_two(exponent as i32 - 14 + vector.exponent as i32 - bias);
    let norms = integer(flit.len() as i64) * power_of_two(if bias == 15 { -21 } else { -16 }) * largest;
    assert!(bound <= norms, "{bound} {norms}");
}

proptest! {
    #[test]
    fn a_dot_with_a_query_errs_by_its_lanes_at_most(
        pairs in prop::collection::vec((finite(), finite()), 1..65)
    ) {
        let (flit, query): (Vec<u16>, Vec<u16>) = pairs.into_iter().unzip();
        let vector = Vector::query(&query, &Formats::default());
        let largest = query.iter().map(|&bits| fp16::fields(bits).exponent).max().unwrap();
        prop_assert_eq!(vector.exponent, largest + 1);
        let lanes: Vec<_> = query
            .iter()
            .zip(&vector.lanes)
            .map(|(&bits, lane)| {
                let lack = largest - fp16::fields(bits).exponent;
                let unit = power_of_two(vector.exponent as i32 - 31 - if lane.small { 5 } else { 0 });
                let error = if lack > 10 { unit.clone() / integer(2) } else { integer(0) };
                assert!((integer(lane.number) * unit - rational(bits)).abs() <= error);
                assert!(lane.small == (lack >= 5) && lane.number.abs() < 1 << 16);
                (rational(bits), error)
            })
            .collect();
        check_dot(&flit, &vector, &lanes, 15);
    }

    #[test]
    fn a_dot_with_weights_errs_by_its_lanes_at_most(
        pairs in prop::collection::vec((finite(), weight()), 1..65), below in 0u32..40
    ) {
        let (flit, mut weights): (Vec<u16>, Vec<_>) = pairs.into_iter().unzip();
        weights[0] = Some((1 << 16, 0));
        let vector = Vector::weights(&weights, i64::from(below), &Formats::default());
        if below > 31 {
            prop_assert!(vector.lanes.iter().all(|lane| *lane == Lane::default()));
            return Ok(());
        }
        prop_assert_eq!(vector.exponent, 31 - below);
        let lanes: Vec<_> = weights
            .iter()
            .zip(&vector.lanes)
            .map(|(weight, lane)| {
                let Some((significand, lack)) = *weight else {
                    assert_eq!(*lane, Lane::default());
                    return (integer(0), integer(0));
                };
                let unit = power_of_two(-16 - below as i32 - if lane.small { 5 } else { 0 });
                let exact = integer(significand) * power_of_two(-16 - below as i32 - lack as i32);
                let error = if lack == 0 { integer(0) } else { unit.clone() / integer(2) };
                assert!((integer(lane.number) * unit - &exact).abs() <= error);
                assert!(lane.small == (lack >= 5) && (0..1 << 17).contains(&lane.number));
                (exact, error)
            })
            .collect();
        check_dot(&flit, &vector, &lanes, 31);
    }

    #[test]
    fn lanes_that_do_not_count_change_nothing(
        flit in prop::collection::vec(finite(), 8), garbage in prop::collection::vec(any::<u16>(), 8), counts in any::<u8>()
    ) {
        let mixed: Vec<_> =
            (0..8).map(|lane| if counts >> lane & 1 == 1 { flit[lane] } else { garbage[lane] }).collect();
        let zeroed: Vec<_> = (0..8).map(|lane| if counts >> lane & 1 == 1 { flit[lane] } else { 0 }).collect();
        let formats = Formats::default();
        prop_assert_eq!(
            align(&mixed, |lane| counts >> lane & 1 == 1, &formats),
            align(&zeroed, |_| true, &formats)
        );
    }

    #[test]
    fn shifting_rounds_to_nearest_with_halves_upwards(value in any::<i64>(), by in -90i32..20) {
        let exact = integer(value) * power_of_two(by) + power_of_two(-1);
        prop_assert_eq!(integer(shift(i128::from(value), by)), exact.floor());
    }

    #[test]
    fn a_row_is_placed_by_its_inverted_exponent(sum in -(1i64 << 48)..1 << 48, exponent in 0u32..63) {
        let dot = Dot { sum, exponent };
        let shifter = (i128::from(sum) << 12) >> (!exponent & 63);
        let carry = if exponent == 63 { 0 } else { (i128::from(sum) << 12) >> ((!exponent & 63) - 1) & 1 };
        for (phase, bias, fraction) in [(Phase::Logit, 30, 20), (Phase::Sum, 46, 36)] {
            let placed = place(dot, &Formats::default(), phase);
            prop_assert_eq!(placed, shifter + carry);
            let error = integer(placed) * power_of_two(-fraction) - dot_value(dot, bias);
            prop_assert!(error.abs() <= power_of_two(-fraction - 1));
        }
    }

    #[test]
    fn sums_leave_as_the_nearest_fp32(value in -(1i128 << 68)..1 << 68, drop in 0u32..68, fraction in 0u32..60) {
        let value = value >> drop;
        let bits = to_fp32(value, fraction);
        // Rust's conversion rounds to nearest even, and the division by a power of two is exact.
        prop_assert_eq!(f32::from_bits(bits), value as f32 / 2f32.powi(fraction as i32));
        let (integer_part, exponent) = from_fp32(bits);
        let back = integer(integer_part) * power_of_two(exponent);
        prop_assert_eq!(back, BigRational::from_float(f32::from_bits(bits)).unwrap());
    }

    #[test]
    fn every_finite_fp32_is_read_exactly(bits in any::<u32>()) {
        prop_assume!(f32::from_bits(bits).is_finite());
        let (integer_part, exponent) = from_fp32(bits);
        let exact = BigRational::from_float(f32::from_bits(bits)).unwrap();
        prop_assert_eq!(integer(integer_part) * power_of_two(exponent), exact);
    }

    #[test]
    fn fp16_is_rounded_to_nearest_with_ties_to_even(
        magnitude in 1u64..1 << 60, drop in 0u32..60, exponent in -90i32..10, negative: bool
    ) {
        let magnitude = (magnitude >> drop).max(1);
        let exact = integer(magnitude) * power_of_two(exponent);
        prop_assume!(exact < integer(65520));
        let signed = if negative { -exact } else { exact };
        // The sign of what rounds to zero stays; a search among values cannot tell.
        let sign = u16::from(negative) << 15;
        prop_assert_eq!(fp16::round(negative, magnitude, exponent, false), nearest_half(&signed) | sign);
    }

    #[test]
    fn what_lies_below_the_last_place_only_breaks_ties(bits in 0u16..0x7bff, drop in 1i32..30) {
        let f = fp16::fields(bits);
        // Exactly between a number and the next, as seen with and without a rest.
        let middle = (u64::from(f.significand) * 2 + 1) << (drop - 1);
        let exponent = f.exponent as i32 - 25 - drop;
        prop_assert_eq!(fp16::round(false, middle, exponent, true), bits + 1);
        prop_assert_eq!(fp16::round(false, middle, exponent, false), bits + (bits & 1));
        prop_assert_eq!(fp16::round(false, middle - 1, exponent, true), bits);
    }

    #[test]
    fn a_logit_is_scaled_with_an_error_below_its_last_place(logit in -(1i128 << 62)..1 << 62, drop in 0u32..62) {
        let logit = logit >> drop;
        for head_dim in [32, 64, 128, 256] {
            let scale = datapath(head_dim, 32).scale;
            let limit = 1i128 << (LOGIT_BITS - 1);
            let kept = integer(logit.clamp(-limit, limit - 1));
            let exact = kept * integer(scale.significand) * power_of_two(-(scale.shift as i32));
            let error = integer(scale.apply(logit)) - exact;
            prop_assert!(error.abs() <= power_of_two(-1));
        }
    }

    #[test]
    fn a_quotient_is_the_nearest_unless_within_its_error_of_a_tie(
        o in -(1i128 << 67)..1 << 67, l in 1i128..1 << 60, drops in (0u32..67, 0u32..40)
    ) {
        let (o, l) = (o >> drops.0, (l >> drops.1).max(1));
        let exact = BigRational::new(o.into(), l.into());
        prop_assume!(exact.abs() < integer(65000));
        let found = Reciprocal::of(l).unwrap().times(o);
        // Before it is rounded: below the exact quotient by less than 2^-24.9 of it, or above by less than 2^-31.
        let least = &exact * (integer(1) - power_of_two(-24));
        let most = &exact * (integer(1) + power_of_two(-31));
        let sign = u16::from(o < 0) << 15;
        let around = [&exact, &least, &most].map(|quotient| nearest_half(quotient) | sign);
        prop_assert!(around.contains(&found), "{found:x} {around:x?}");
    }

    #[test]
    fn a_quotient_by_a_power_of_two_is_rounded_exactly(o in -(1i128 << 26) + 1..1 << 26, power in 20u32..60) {
        let l = 1i128 << power;
        let exact = BigRational::new(o.into(), l.into());
        prop_assume!(exact.abs() < integer(65520));
        let found = Reciprocal::of(l).unwrap().times(o);
        let zero = if o < 0 { 0x8000 } else { 0 };
        prop_assert_eq!(found, nearest_half(&exact) | zero);
    }
}

#[test]
fn the_widest_dots_have_the_width_that_is_stated() {
    let formats = Formats::default();
    for lanes in [4, 8, 16, 32, 64] {
        let weights = Vector::weights(&vec![Some(((1 << 17) - 1, 0)); lanes], 0, &formats);
        let found = dot(&align(&vec![0x7bff; lanes], |_| true, &formats), &weights, &formats);
        assert_eq!(found.sum, lanes as i64 * (0x7ff << 15) * ((1 << 17) - 1));
        assert!(found.sum < lanes as i64 * (1 << 43) && found.exponent == 61);
        let query = Vector::query(&vec![0xfbff; lanes], &formats);
        let logit = dot(&align(&vec![0x7bff; lanes], |_| true, &formats), &query, &formats);
        assert!(logit.sum == -(lanes as i64) * (0x7ff << 15) * (0x7ff << 5) && logit.exponent == 61);
        // A DSP cascade of 48 bits holds the sum of 16 lanes.
        assert!(lanes > 16 || found.sum < 1 << 47);
    }
}

#[test]
fn every_fp16_is_taken_apart_exactly() {
    for bits in (0..=u16::MAX).filter(|&bits| !fp16::is_special(bits)) {
        let f = fp16::fields(bits);
        let value = integer(f.significand) * power_of_two(f.exponent as i32 - 25);
        assert_eq!(if f.negative { -value } else { value }, rational(bits));
        assert_eq!(fp16::to_f64(bits), half::f16::from_bits(bits).to_f64());
        assert_eq!(
            fp16::round(f.negative, f.significand.into(), f.exponent as i32 - 25, false),
            if f.significand == 0 { 0 } else { bits }
        );
    }
    assert!(fp16::is_special(0x7c00) && fp16::is_special(0xfe00) && !fp16::is_special(0x7bff));
    assert_eq!([fp16::round(false, 65519, 0, false), fp16::round(true, 65520, 0, false)], [0x7bff, 0xfc00]);
}

/// All 2^20 fractions: within the stated error of 2^x, rising, and no jump where the octave ends.
#[test]
fn powers_of_two_are_within_their_error_and_rise() {
    let exp2 = Exp2::new(&Formats::default());
    let mut last = 0;
    let mut largest = 0f64;
    for fraction in 0..1i64 << 20 {
        let Weight { integer, significand } = exp2.weight(fraction);
        assert!((1 << 16..1 << 17).contains(&significand) && (0..2).contains(&integer));
        let value = i64::from(significand) << integer;
        assert!(value >= last);
        last = value;
        let exact = 2f64.powf(fraction as f64 / f64::from(1 << 20)) * 65536.0;
        largest = largest.max((value as f64 / exact - 1.0).abs());
    }
    assert!(largest < 2f64.powi(-17) + 2f64.powi(-18), "{largest}");
    assert!(largest > 2f64.powi(-17), "the stated error is too large");
    assert_eq!(exp2.weight(0), Weight { integer: 0, significand: 1 << 16 });
    assert_eq!(exp2.weight((1 << 20) - 1), Weight { integer: 1, significand: 1 << 16 });
    assert_eq!(exp2.weight(-1 << 19), Weight { integer: -1, significand: 92682 });
    assert!(exp2.base.iter().all(|&base| base >> Exp2::BASE_FRACTION == 1));
    assert!(exp2.slope.iter().all(|&slope| slope >> (Exp2::SLOPE_FRACTION + 1) == 0));
}

/// The squares of the table's chords, exactly: no entry depends on a rounding of the machine.
#[test]
fn the_table_is_what_square_roots_of_two_give() {
    let exp2 = Exp2::new(&Formats::default());
    let unit = power_of_two(-(Exp2::BASE_FRACTION as i32));
    for (i, &base) in exp2.base.iter().enumerate() {
        // base^128 against 2^i, with the half place that was added taken off: within the bulge of the interval.
        let value = integer(base) * &unit - power_of_two(-17);
        let power = |v: &BigRational| num_traits::pow(v.clone(), 128);
        let slack = power_of_two(-18) + power_of_two(-21);
        assert!(
            power(&(&value - &slack)) < power_of_two(i as i32)
                && power_of_two(i as i32) < power(&(&value + &slack))
        );
    }
}

#[test]
fn the_scale_is_within_half_of_its_last_place() {
    for head_dim in [32u32, 64, 128, 256] {
        let scale = Scale::new(head_dim, &Formats::default());
        assert!((1 << 25..1 << 26).contains(&scale.significand));
        // scale^2 * head_dim against log2(e)^2 to 60 digits' worth of a rational.
        let log2_e = BigRational::new(14426950408889634073599246810019u128.into(), 10u128.pow(31).into());
        let of = |significand: BigRational| {
            let value = significand * power_of_two(-(scale.shift as i32));
            &value * &value * integer(head_dim)
        };
        let half = BigRational::new(501.into(), 1000.into());
        let exact = &log2_e * &log2_e;
        assert!(
            of(integer(scale.significand) - &half) < exact && exact < of(integer(scale.significand) + half)
        );
    }
}

#[test]
fn nothing_is_divided_by_nothing() {
    assert_eq!(Reciprocal::of(0), None);
    assert_eq!(Reciprocal::of(1 << 36).unwrap().times(0), 0);
}
