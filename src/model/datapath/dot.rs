//! Dot engine: one flit against a stationary vector, with exact products and an exact sum.
//!
//! It models one row of the array, for K and V alike. Exponents are added lane by lane. The element of a lane
//! is shifted down by the difference to the largest exponent, to 26 bits of magnitude; bits below are cut
//! off. A product within 2^15 of the largest exponent is therefore exact. A smaller one is short by less than
//! 2^-24 of the scale of the largest, one unit of FP32. All later integer arithmetic is exact.

use super::formats::Formats;
use super::fp16::{self, SIGNIFICAND_BITS};

/// Stationary number: `±significand * 2^(exponent - bias)`. The default is the blank lane.
///
/// The significand of a query is that of FP16, shifted up to the width of a weight's. So a row treats both
/// alike: `stationary_bits` bits with `stationary_bits - 1` below the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lane {
    /// Sign; a weight has none.
    pub negative: bool,
    /// At most 17 bits; 0 makes the lane blank.
    pub significand: u32,
    /// 0..=31.
    pub exponent: u32,
}

impl Lane {
    /// Converts an element of a query, exactly.
    pub fn query(bits: u16, formats: &Formats) -> Lane {
        let f = fp16::fields(bits);
        let significand = f.significand << (formats.stationary_bits - SIGNIFICAND_BITS);
        Lane { negative: f.negative, significand, exponent: f.exponent }
    }
}

/// Result of a row for a flit: `sum * 2^(exponent - bias - 41)`. The last places of the operands are 2^-25
/// and 2^-16. The bias is 15 of the flit's FP16, plus 15 of a query's or 31 of a weight's exponent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dot {
    /// |sum| < 2^(26 + 17) * lanes: 49 bits signed for 32 lanes.
    pub sum: i64,
    /// Largest sum of exponents, 0..=62.
    pub exponent: u32,
}

/// Returns the dot product of a flit with a stationary vector of as many lanes.
pub fn dot(flit: &[u16], stationary: &[Lane], formats: &Formats) -> Dot {
    assert_eq!(flit.len(), stationary.len(), "a flit and its stationary vector have the same lanes");
    let lanes = || flit.iter().map(|&bits| fp16::fields(bits)).zip(stationary);
    let exponent = lanes().map(|(f, s)| f.exponent + s.exponent).max().unwrap_or_default();
    let sum = lanes()
        .map(|(f, s)| {
            let short = exponent - (f.exponent + s.exponent);
            let aligned = u64::from(f.significand) << (formats.window_bits - SIGNIFICAND_BITS) >> short;
            let product = (aligned * u64::from(s.significand)) as i64;
            if f.negative != s.negative {
                -product
            } else {
                product
            }
        })
        .sum();
    Dot { sum, exponent }
}
