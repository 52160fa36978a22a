//! FP16 in the datapath: fields without special cases, and one rounding at the very end.

use crate::model::datapath::numbers::formats::FP16_SPECIAL;

/// Significand bits of FP16, the leading one included.
pub const SIGNIFICAND_BITS: u32 = 11;
/// Every output of a head with an infinity or a NaN.
pub const NAN: u16 = 0x7e00;
/// Positive infinity.
const INFINITY: u16 = 0x7c00;
/// Exponent of the last place of a subnormal: the smallest positive number is 2^-24.
const SMALLEST: i32 = -24;

/// Fields of an FP16 number. Its value is `±significand * 2^(exponent - 25)`.
///
/// A subnormal, and so a zero, has exponent 1 and no leading one. Exponent 31 marks infinities and NaN.
/// Integer arithmetic treats it like any other; [`is_special`] detects it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields {
    /// Sign bit.
    pub negative: bool,
    /// 1..=31, biased by 15.
    pub exponent: u32,
    /// Below 2^11.
    pub significand: u32,
}

/// Splits a number into its fields.
pub fn fields(bits: u16) -> Fields {
    let (exponent, fraction) = (u32::from(bits >> 10) & 31, u32::from(bits) & 0x3ff);
    let normal = u32::from(exponent != 0);
    Fields {
        negative: bits >> 15 == 1,
        exponent: exponent | (1 - normal),
        significand: normal << (SIGNIFICAND_BITS - 1) | fraction,
    }
}

/// The number is an infinity or a NaN.
pub fn is_special(bits: u16) -> bool {
    u32::from(bits >> 10) & 31 == FP16_SPECIAL
}

/// Returns the FP16 nearest to `±magnitude * 2^exponent`, ties to even, subnormals included; infinity beyond
/// 65504.
///
/// `sticky`: the true magnitude is above the given one by less than one of its last place. A zero magnitude
/// gives positive zero. A value too small to round to anything else keeps its sign.
pub fn round(negative: bool, magnitude: u64, exponent: i32, sticky: bool) -> u16 {
    let sign = u16::from(negative) << 15;
    if magnitude == 0 {
        return 0;
    }
    let top = 63 - magnitude.leading_zeros() as i32;
    // Exponent of the last place of the result.
    let place = (exponent + top - (SIGNIFICAND_BITS as i32 - 1)).max(SMALLEST);
    let drop = place - exponent;
    let (kept, half, rest) = if drop <= 0 {
        (magnitude << -drop, false, sticky)
    } else if drop > 64 {
        (0, false, true)
    } else {
        let kept = if drop == 64 { 0 } else { magnitude >> drop };
        let half = magnitude >> (drop - 1) & 1 == 1;
        (kept, half, sticky || magnitude & ((1 << (drop - 1)) - 1) != 0)
    };
    let rounded = kept + u64::from(half && (rest || kept & 1 == 1));
    // The leading one adds 1 to the exponent field, and a carry of the rounding does so again.
    let field = ((place - SMALLEST) as u64) << 10;
    sign | (field + rounded).min(u64::from(INFINITY)) as u16
}

/// Returns the value of a finite number.
pub fn to_f64(bits: u16) -> f64 {
    let f = fields(bits);
    let magnitude = f64::from(f.significand) * 2f64.powi(f.exponent as i32 - 25);
    if f.negative {
        -magnitude
    } else {
        magnitude
    }
}
