//! Fixed-point numbers of logits and sums.
//!
//! They are integers with a stated number of bits below the point. Additions are exact and have no order;
//! only shifting down rounds. FP32 occurs in PART packets alone.

use crate::model::datapath::dot::Dot;
use crate::model::datapath::numbers::formats::Formats;

pub use crate::model::datapath::numbers::rounding::shift;

/// Exponent of FP32 numbers with field 1 and of subnormals, for the significand read as an integer.
const FP32_SMALLEST: i32 = -149;
/// Significand bits of FP32, the leading one included.
pub const FP32_BITS: u32 = 24;
/// Value of every number of a head with an infinity or a NaN.
pub const FP32_NAN: u32 = 0x7fc0_0000;

/// Converts a row's result to fixed point.
///
/// One formula serves both phases. The unit of `exponent` is that of q*k for logits, whose point is
/// `logit_fraction` bits up. For p*v it is 2^-16 of that, and the point is `sum_fraction` = 16 bits further
/// up. With the default widths this is `{sum, 12'b0} >>> ~exponent`, 63 - exponent being the inverted
/// exponent.
pub fn place(dot: Dot, formats: &Formats, phase: Phase) -> i128 {
    let unit = match phase {
        Phase::Logit => 30 - formats.logit_fraction as i32,
        Phase::Sum => 46 - formats.sum_fraction as i32,
    };
    let below = (formats.window_bits - 1 + formats.stationary_bits - 1) as i32;
    shift(i128::from(dot.sum), dot.exponent as i32 - below - unit)
}

/// Phase of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// K against q; exponents are biased by 15 + 15.
    Logit,
    /// V against p; exponents are biased by 15 + 31.
    Sum,
}

/// Returns the FP32 nearest to `value * 2^-fraction`, ties to even, as bits.
///
/// The result is never subnormal and never infinite: |value| is between 1 and 2^69, fraction about 36.
pub fn to_fp32(value: i128, fraction: u32) -> u32 {
    if value == 0 {
        return 0;
    }
    let magnitude = value.unsigned_abs();
    let top = 127 - magnitude.leading_zeros();
    let kept = if top < FP32_BITS {
        magnitude << (FP32_BITS - 1 - top)
    } else {
        let drop = top - (FP32_BITS - 1);
        let (kept, rest) = (magnitude >> drop, magnitude & ((1 << drop) - 1));
        let half = 1 << (drop - 1);
        kept + u128::from(rest > half || rest == half && kept & 1 == 1)
    };
    // The leading one adds 1 to the field, as does a carry of the rounding.
    let field = (top as i32 - fraction as i32 + 126) as u32;
    u32::from(value < 0) << 31 | ((field << 23) + kept as u32)
}

/// Splits a finite FP32 into `(integer, exponent)`: its value is `integer * 2^exponent`.
pub fn from_fp32(bits: u32) -> (i128, i32) {
    let (field, fraction) = (bits >> 23 & 0xff, i128::from(bits & 0x7f_ffff));
    let leading = i128::from(field != 0) << (FP32_BITS - 1);
    let magnitude = leading | fraction;
    let exponent = FP32_SMALLEST + field.max(1) as i32 - 1;
    (if bits >> 31 == 1 { -magnitude } else { magnitude }, exponent)
}

/// The FP32 is an infinity or a NaN.
pub fn is_special(bits: u32) -> bool {
    bits >> 23 & 0xff == 0xff
}
