//! Constants of PaD's arithmetic: the scale of a logit and the table of powers of two.
//!
//! The model computes with them and the Verilog holds them; `docs/numbers.md` gives the reasons.

use crate::config::KvFormat;

/// Fraction bits of a base of the table; its leading one is not stored.
pub const BASE_FRACTION: u32 = 21;
/// Fraction bits of a slope of the table.
pub const SLOPE_FRACTION: u32 = 14;

/// Bits below the point of the significand of a scale that a host gives: it is below a half.
pub const GIVEN_SHIFT: u32 = 27;

/// Exponent of all flits of a format whose elements are integers of one unit: 448, the largest of E4M3, has 25 of the 26
/// bits of an aligned element, and -128 of INT8 all of them.
pub fn fixed_exponent(format: KvFormat) -> Option<u32> {
    match format {
        KvFormat::Fp8E4m3 => Some(24),
        KvFormat::Int8 => Some(21),
        KvFormat::Fp16 | KvFormat::Bf16 | KvFormat::Fp8E5m2 => None,
    }
}

/// Powers of two by which a scale that a host gives may place dots higher: the exponents of the largest flit and of the
/// largest query leave so many of 63.
pub fn most_rise(format: KvFormat) -> u32 {
    const LARGEST: u32 = 63;
    const OF_QUERY: u32 = 32;
    const OF_FP16: u32 = 31;
    LARGEST - OF_QUERY - fixed_exponent(format).unwrap_or(OF_FP16)
}

/// log2(e) / sqrt(model_dim) as `significand * 2^-shift`, the significand of `bits` bits with the leading one set.
pub fn scale(model_dim: u32, bits: u32) -> (u32, u32) {
    // Every operation is correctly rounded by IEEE 754, so this is the same everywhere.
    let scale = std::f64::consts::LOG2_E / f64::from(model_dim).sqrt();
    let mut shift = 0;
    while scale * 2f64.powi(shift as i32 + 1) < f64::from(1u32 << bits) {
        shift += 1;
    }
    ((scale * 2f64.powi(shift as i32)).round() as u32, shift)
}

/// Base and slope of the `2^table_bits` intervals of [0, 1) of 2^x, for results of `significand_bits` bits.
pub fn octave(table_bits: u32, significand_bits: u32) -> Vec<(u32, u32)> {
    // One is 2^60, so chords and middles are exact far below the last place of an entry.
    const ONE: u32 = 60;
    let at = |half_steps: u32| power(half_steps, table_bits + 1, ONE);
    let rounded = |value: u128, fraction: u32| {
        let drop = ONE - fraction;
        ((value + (1 << (drop - 1))) >> drop) as u32
    };
    let interval = |i: u32| {
        let (left, middle, right) = (at(2 * i), at(2 * i + 1), at(2 * i + 2));
        // The chord is above the curve, most in the middle. Subtracting half of that balances the error.
        let bulge = (left + right) / 2 - middle;
        let half_place = 1 << (ONE - significand_bits);
        let base = rounded(left - bulge / 2 + half_place, BASE_FRACTION);
        (base, rounded((right - left) << table_bits, SLOPE_FRACTION))
    };
    (0..1u32 << table_bits).map(interval).collect()
}

/// 2^(numerator / 2^log_denominator) with `fraction` fraction bits, by repeated square roots of 2.
fn power(numerator: u32, log_denominator: u32, fraction: u32) -> u128 {
    let mut root = 2u128 << fraction;
    let mut result = 1u128 << fraction;
    if numerator >> log_denominator == 1 {
        return root;
    }
    for bit in (0..log_denominator).rev() {
        root = (root << fraction).isqrt();
        if numerator >> bit & 1 == 1 {
            result = (result * root) >> fraction;
        }
    }
    result
}
