//! Scale of a logit, and its power of two.
//!
//! With an integer m, a softmax numerator 2^(z - m) has the significand 2^(fraction of z). So the significand
//! needs a table of one octave and does not wait for m. It is computed as soon as the logit is known, and the
//! scratchpad stores a [`Weight`] for each token. m affects only exponents, by integer subtraction.

use crate::config::KvFormat;
use crate::design::pad::octave;
use crate::model::datapath::numbers::fixed;
use crate::model::datapath::numbers::formats::{Formats, LOGIT_BITS};
use crate::model::datapath::numbers::fp16::{self, SIGNIFICAND_BITS};

/// Bias of an exponent of FP16.
const FP16_BIAS: i32 = 15;

/// Scale of a logit, `significand * 2^(rise - shift)`: the constant log2(e) / sqrt(model_dim), or what a host gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// `scale_bits` bits, the leading one set.
    pub significand: u32,
    /// Bits below the point.
    pub shift: u32,
    /// Powers of two by which dots are placed higher than without a scale; 0 of the constant.
    pub rise: i32,
}

impl Scale {
    /// Returns the scale of a head of `model_dim` elements, with a relative error below 2^-scale_bits.
    pub fn new(model_dim: u32, formats: &Formats) -> Scale {
        let (significand, shift) = octave::scale(model_dim, formats.scale_bits);
        Scale { significand, shift, rise: 0 }
    }

    /// Bits of a rise in a word, sign included.
    const RISE_BITS: u32 = 6;
    /// Bits below the point of the significand of a scale that a host gives: it is below a half.
    pub const GIVEN_SHIFT: u32 = octave::GIVEN_SHIFT;

    /// Returns a scale that a host gives, with a relative error below 2^-scale_bits; none if `value` is no positive number
    /// of the range. `value` has the factor log2(e).
    pub fn given(value: f64, format: KvFormat) -> Option<Scale> {
        if !(value.is_normal() && value > 0.0) {
            return None;
        }
        let formats = Formats::of(format);
        let top = formats.scale_bits as i32 - 1;
        let bits = value.to_bits();
        let mut exponent = (bits >> 52) as i32 - 1023;
        let mut significand = (value * 2f64.powi(top - exponent)).round() as u32;
        if significand >> formats.scale_bits == 1 {
            (significand, exponent) = (significand >> 1, exponent + 1);
        }
        let rise = exponent - top + Scale::GIVEN_SHIFT as i32;
        let least = -(1 << (Scale::RISE_BITS - 1));
        let scale = Scale { significand, shift: Scale::GIVEN_SHIFT, rise };
        (least..=octave::most_rise(format) as i32).contains(&rise).then_some(scale)
    }

    /// The word in which a host gives it: the significand, and the rise above it.
    pub fn word(&self) -> u32 {
        let mask = (1 << Scale::RISE_BITS) - 1;
        self.significand | (self.rise as u32 & mask) << Formats::default().scale_bits
    }

    /// Returns a sum of dot products within the bits that are multiplied.
    fn saturated(logit: i128) -> i128 {
        let limit = (1i128 << (LOGIT_BITS - 1)) - 1;
        logit.clamp(-limit - 1, limit)
    }

    /// True if a sum of dot products, with `logit_fraction` bits below the point, is beyond what is
    /// multiplied: its weight is then another than its logit asks for.
    pub fn saturates(logit: i128) -> bool {
        Scale::saturated(logit) != logit
    }

    /// Returns the scale of a token whose K has this scale beside that of its head, a normal FP16: significands are
    /// multiplied, and rounded to as many bits. The product is one bit lower than the rise makes up for.
    #[must_use]
    pub fn times(&self, token: u16) -> Scale {
        let fields = fp16::fields(token);
        let product = u64::from(self.significand) * u64::from(fields.significand);
        let significand = ((product + (1 << (SIGNIFICAND_BITS - 1))) >> SIGNIFICAND_BITS) as u32;
        Scale { significand, rise: self.rise + fields.exponent as i32 - (FP16_BIAS - 1), ..*self }
    }

    /// Returns the scaled logit z of a sum of dot products; both have `logit_fraction` bits below the point.
    pub fn apply(&self, logit: i128) -> i64 {
        let saturated = Scale::saturated(logit);
        fixed::shift(saturated * i128::from(self.significand), -(self.shift as i32)) as i64
    }
}

/// Softmax numerator of a token before m is known: `significand * 2^(integer - stationary_bits + 1)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// 31 bits signed.
    pub integer: i32,
    /// In [2^16, 2^17) for 17 bits; the leading one need not be stored.
    pub significand: u32,
}

impl Weight {
    /// Significand from which on the upper half of a packed number would round beyond its eight bits.
    const TOP: u32 = 0x1ff00;
    /// Bits of a significand.
    const BITS: u32 = 17;

    /// Returns the weight times the scale of its token's V, a normal FP16.
    #[must_use]
    pub fn times(&self, token: u16) -> Weight {
        // Rounded as if the product were below 2: one beyond is cut off after it.
        const HALF: u32 = 1 << (SIGNIFICAND_BITS - 2);
        let fields = fp16::fields(token);
        let product = self.significand * fields.significand + HALF;
        let doubles = product >> (Weight::BITS + SIGNIFICAND_BITS - 1);
        let significand = product >> (SIGNIFICAND_BITS - 1 + doubles);
        Weight { integer: self.integer + fields.exponent as i32 - FP16_BIAS + doubles as i32, significand }
    }

    /// The integer part that counts where the largest of a block is looked for.
    pub fn top(&self, formats: &Formats) -> i32 {
        self.integer + i32::from(formats.packed && self.significand >= Weight::TOP)
    }
}

/// Piecewise linear 2^x for x in [0, 1), with the best line for each interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exp2 {
    /// Value at the left of each interval, in [1, 2), with [`Exp2::BASE_FRACTION`] bits below the point. Half
    /// of the curve's bulge is subtracted; half of the result's last place is added, so that truncation
    /// rounds.
    pub base: Vec<u32>,
    /// Rise over one unit of x, in [0.69, 1.39), with [`Exp2::SLOPE_FRACTION`] bits below the point.
    pub slope: Vec<u32>,
    formats: Formats,
}

impl Exp2 {
    /// Bits below the point of a base; its leading one is not stored.
    pub const BASE_FRACTION: u32 = octave::BASE_FRACTION;
    /// Bits below the point of a slope.
    pub const SLOPE_FRACTION: u32 = octave::SLOPE_FRACTION;

    /// Creates the table of `2^table_bits` entries of 21 + 15 bits.
    pub fn new(formats: &Formats) -> Exp2 {
        let (base, slope) = octave::octave(formats.table_bits, formats.stationary_bits).into_iter().unzip();
        Exp2 { base, slope, formats: *formats }
    }

    /// Returns the weight of a scaled logit. Its relative error is below 2^-17 + 2^-18.
    pub fn weight(&self, z: i64) -> Weight {
        let f = &self.formats;
        let fraction = (z & ((1 << f.logit_fraction) - 1)) as u64;
        let below = f.logit_fraction - f.table_bits;
        let (index, offset) = ((fraction >> below) as usize, fraction & ((1 << below) - 1));
        // One DSP: slope * offset + {base, zeros}.
        let point = Self::SLOPE_FRACTION + f.logit_fraction;
        let sum = u64::from(self.slope[index]) * offset
            + (u64::from(self.base[index]) << (point - Self::BASE_FRACTION));
        let significand = (sum >> (point - (f.stationary_bits - 1))) as u32;
        let integer = (z >> f.logit_fraction) as i32;
        if significand >> f.stationary_bits == 1 {
            // Rounded up to 2, the 1 of the next octave. The bits below the leading one are 0 already.
            Weight { integer: integer + 1, significand: 1 << (f.stationary_bits - 1) }
        } else {
            Weight { integer, significand }
        }
    }
}
