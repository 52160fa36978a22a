//! Widths of the datapath's numbers.
//!
//! The Verilog implements [`Formats::default`]. The fields exist so that a bench can measure the value of
//! each bit. `docs/numbers.md` has the layouts, bit by bit, and the argument for each.

use crate::config::KvFormat;
use crate::design::pad::octave;

/// Magnitude bits of an aligned element of E5M2.
const E5M2_BITS: u32 = 20;
/// 480, which E4M3 has behind 448.
const BEHIND_E4M3: (u32, u32) = (15 << 7, 23);
/// 128.
const BEHIND_INT8: (u32, u32) = (1 << 11, 21);
/// Exponent field of an FP16 infinity or NaN.
pub const FP16_SPECIAL: u32 = 31;
/// Largest distance, in powers of two, of a block's largest softmax numerator below the running maximum; blocks further
/// below count as 0.
pub const WEIGHT_RANGE: u32 = 31;
/// Bits of a logit, sign included, that enter the multiplication by the scale; larger ones saturate.
pub const LOGIT_BITS: u32 = 52;
/// Bits of the normalised denominator that enter the reciprocal.
pub const DENOMINATOR_BITS: u32 = 32;
/// Bits below the point of the reciprocal, which is in (1/2, 1].
pub const RECIPROCAL_FRACTION: u32 = 33;
/// Leading bits of a numerator that are multiplied by the reciprocal.
pub const NUMERATOR_BITS: u32 = 26;

/// Widths that trade accuracy against LUTs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Formats {
    /// Magnitude bits of an aligned element; with its sign it fills a port of 27 bits.
    pub window_bits: u32,
    /// Leading bits of them to which an element is rounded; those behind are 0.
    pub kept_bits: u32,
    /// Exponent of all flits, where none is aligned: elements are integers of one unit.
    pub fixed_exponent: Option<u32>,
    /// There, significand and exponent of what no number is multiplied like: the one behind the largest.
    pub behind: (u32, u32),
    /// Stationary numbers have 18 bits, two halves of 9, and one scale ([`Lane`](crate::model::Lane)).
    pub packed: bool,
    /// Bits of a weight; with its sign it fills a port of 18 bits. A query has one less, and its sign.
    pub stationary_bits: u32,
    /// Distance, in powers of two, of the two scales of a stationary vector: numbers that lie at least as far below the
    /// largest have the small scale.
    pub small_shift: u32,
    /// Bits below the point of an unscaled logit and of a scaled one.
    pub logit_fraction: u32,
    /// Significand bits of the constant log2(e) / sqrt(model_dim).
    pub scale_bits: u32,
    /// Leading fraction bits that address the table of 2^x.
    pub table_bits: u32,
    /// Bits below the point of numerators o and denominator l.
    pub sum_fraction: u32,
}

impl Formats {
    /// Widths of the Verilog for keys and values of a format. E4M3 has so small a range that its numbers are integers, each
    /// of them exact with one exponent. E5M2 has so few significant bits that a shift of them to all
    /// 26 places would be most of a tile.
    pub fn of(format: KvFormat) -> Formats {
        let formats = Formats::default();
        match format {
            KvFormat::Fp16 | KvFormat::Bf16 => formats,
            KvFormat::Fp8E4m3 => Formats { fixed_exponent: octave::fixed_exponent(format), ..formats },
            KvFormat::Int8 => Formats {
                fixed_exponent: octave::fixed_exponent(format),
                behind: BEHIND_INT8,
                packed: true,
                ..formats
            },
            KvFormat::Fp8E5m2 => Formats { kept_bits: E5M2_BITS, ..formats },
        }
    }
}

impl Default for Formats {
    fn default() -> Formats {
        Formats {
            window_bits: 26,
            kept_bits: 26,
            fixed_exponent: None,
            behind: BEHIND_E4M3,
            packed: false,
            stationary_bits: 17,
            small_shift: 5,
            logit_fraction: 20,
            scale_bits: 26,
            table_bits: 7,
            sum_fraction: 36,
        }
    }
}
