//! Normalisation of a head: one reciprocal by long division, then one multiplication per element.

use crate::model::datapath::numbers::fixed::{from_fp32, FP32_BITS};
use crate::model::datapath::numbers::formats::{DENOMINATOR_BITS, NUMERATOR_BITS, RECIPROCAL_FRACTION};
use crate::model::datapath::numbers::fp16;

/// Reciprocal of a denominator l, or that times the scale of the output. The point of l is that of the numerators.
///
/// A sequential divider gives a bit a cycle, 33 cycles a head. Only truncation is inexact: l loses less than
/// 2^-31 of itself, the reciprocal less than 2^-32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reciprocal {
    /// In (2^32, 2^33]; 2^33 only for a power of two.
    pub significand: u64,
    /// 1/l, or scale/l, is significand * 2^exponent.
    pub exponent: i32,
}

impl Reciprocal {
    /// Returns the reciprocal of a positive l; 0 has none.
    pub fn of(l: i128) -> Option<Reciprocal> {
        Reciprocal::scaled(l, 1.0)
    }

    /// Returns `scale / l` of a positive l; 0 has none. The scale is a positive normal number.
    pub fn scaled(l: i128, scale: f32) -> Option<Reciprocal> {
        if l <= 0 {
            return None;
        }
        let (leading, exponent) = leading(l.unsigned_abs(), DENOMINATOR_BITS);
        let (significand, power) = from_fp32(scale.to_bits());
        let whole = significand.unsigned_abs() << (DENOMINATOR_BITS - FP32_BITS);
        // A scale whose significand is above that of l is halved, so that the quotient is at most 1.
        let halved = u32::from(whole > u128::from(leading));
        let quotient = (whole << (RECIPROCAL_FRACTION - halved)) / u128::from(leading);
        let power = power - (DENOMINATOR_BITS - FP32_BITS) as i32 + halved as i32;
        Some(Reciprocal {
            significand: quotient as u64,
            exponent: power - exponent - RECIPROCAL_FRACTION as i32,
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
