//! Normalisation of a head: one reciprocal by long division, then one multiplication per element.

use crate::model::datapath::numbers::formats::{DENOMINATOR_BITS, NUMERATOR_BITS, RECIPROCAL_FRACTION};
use crate::model::datapath::numbers::fp16;

/// Reciprocal of a denominator l, whose point is that of the numerators.
///
/// A sequential divider gives a bit a cycle, 33 cycles a head. Only truncation is inexact: l loses less than
/// 2^-31 of itself, the reciprocal less than 2^-32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reciprocal {
    /// In (2^32, 2^33]; 2^33 only for a power of two.
    pub significand: u64,
    /// 1/l = significand * 2^exponent.
    pub exponent: i32,
}

impl Reciprocal {
    /// Returns the reciprocal of a positive l; 0 has none.
    pub fn of(l: i128) -> Option<Reciprocal> {
        if l <= 0 {
            return None;
        }
        let (leading, exponent) = leading(l.unsigned_abs(), DENOMINATOR_BITS);
        let dividend = 1u128 << (DENOMINATOR_BITS - 1 + RECIPROCAL_FRACTION);
        let significand = (dividend / u128::from(leading)) as u64;
        Some(Reciprocal {
            significand,
            exponent: -exponent - (DENOMINATOR_BITS - 1 + RECIPROCAL_FRACTION) as i32,
        })
    }

    /// Returns o / l as FP16, to nearest, ties to even.
    ///
    /// The leading 26 bits of o are multiplied. The quotient before rounding is below the true one by less
    /// than 2^-24.9 of it, or above by less than 2^-31 because l is truncated.
    pub fn times(&self, o: i128) -> u16 {
        let magnitude = o.unsigned_abs();
        if magnitude == 0 {
            return 0;
        }
        let (kept, exponent) = leading(magnitude, NUMERATOR_BITS);
        let sticky = exponent > 0 && magnitude & ((1 << exponent) - 1) != 0;
        fp16::round(o < 0, kept * self.significand, exponent + self.exponent, sticky)
    }
}

/// Returns the leading `bits` bits of a positive number, and the exponent of the last of them.
fn leading(value: u128, bits: u32) -> (u64, i32) {
    let exponent = 128 - value.leading_zeros() as i32 - bits as i32;
    let kept = if exponent >= 0 { value >> exponent } else { value << -exponent };
    (kept as u64, exponent)
}
