//! Dot engine: one flit against a stationary vector, in integers with one exponent a vector.
//!
//! A flit is aligned once, to the largest exponent among its elements, for all rows of the array ([`align`]). A
//! stationary vector is aligned to its own largest exponent when it is loaded ([`Vector`]). A row only multiplies and
//! adds integers, without loss, except that a lane of the small scale drops the lowest bits of its element. So the error
//! of a dot is bounded by the largest element of the flit and the largest stationary number, not by each product.
//! `docs/numbers.md` has the bound.

use crate::model::datapath::numbers::formats::{Formats, FP16_SPECIAL, WEIGHT_RANGE};
use crate::model::datapath::numbers::fp16::{self, SIGNIFICAND_BITS};
use crate::model::datapath::numbers::rounding::half_up;

/// A flit as integers: each element is `elements[i] * 2^(exponent - 25 - (window_bits - 11))`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aligned {
    /// Signed, below 2^window_bits in magnitude.
    pub elements: Vec<i64>,
    /// Largest exponent of an element, 1..=31.
    pub exponent: u32,
}

/// Aligns a flit to the largest exponent of its elements, each to nearest, halves upwards.
///
/// With a fixed exponent elements are integers of its unit, and exact. Else an element within 2^(kept_bits - 11) of the
/// largest exponent is exact; of E5M2, 2^(kept_bits - 3). Lanes outside `counts` are zero.
pub fn align(flit: &[u16], counts: impl Fn(usize) -> bool, formats: &Formats) -> Aligned {
    let fields: Vec<_> = flit
        .iter()
        .enumerate()
        .map(|(lane, &bits)| fp16::fields(if counts(lane) { bits } else { 0 }))
        .collect();
    if let Some(exponent) = formats.fixed_exponent {
        return Aligned {
            elements: fields.iter().map(|f| integer(f, exponent, formats)).collect(),
            exponent,
        };
    }
    let exponent = fields.iter().map(|f| f.exponent).max().unwrap_or(1);
    let behind = formats.window_bits - formats.kept_bits;
    let element = |f: &fp16::Fields| {
        let magnitude = i64::from(f.significand) << (formats.kept_bits - SIGNIFICAND_BITS);
        half_up(if f.negative { -magnitude } else { magnitude }, exponent - f.exponent) << behind
    };
    Aligned { elements: fields.iter().map(element).collect(), exponent }
}

/// An element as an integer whose unit a fixed exponent gives. What is no number is multiplied like the one behind the
/// largest.
fn integer(f: &fp16::Fields, exponent: u32, formats: &Formats) -> i64 {
    let is_number = f.exponent != FP16_SPECIAL;
    let (significand, of) = if is_number { (f.significand, f.exponent) } else { formats.behind };
    let magnitude = i64::from(significand) << (formats.window_bits - SIGNIFICAND_BITS) >> (exponent - of);
    if f.negative {
        -magnitude
    } else {
        magnitude
    }
}

/// Bits of the lower half of a packed number.
const HALF: u32 = 9;
/// Significand of an FP16 from which on the upper half of a query's number would round beyond its eight bits.
const TOP_OF_QUERY: u32 = 0x7fc;

/// A number of a stationary vector. The default is the blank lane.
///
/// A packed number is `512 * upper + lower`, from -255 to 255 both. So none has -256 as its lower half: it is the number
/// below instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lane {
    /// A query's is signed and has `stationary_bits - 1` bits of magnitude, a weight's has `stationary_bits`.
    pub number: i64,
    /// Its last place is 2^-small_shift of that of other lanes.
    pub small: bool,
}

impl Lane {
    /// A number that lies `lack` powers of two below the largest of its vector: `significand`, with its leading bit at
    /// the top of the largest's. To nearest, halves away from zero.
    fn new(negative: bool, significand: u64, lack: u32, formats: &Formats) -> Lane {
        if formats.packed {
            let magnitude = half_up(significand as i64, lack);
            let number = if negative { -magnitude } else { magnitude };
            let middle = number & ((1 << HALF) - 1) == 1 << (HALF - 1);
            return Lane { number: number - i64::from(middle), small: false };
        }
        let small = lack >= formats.small_shift;
        let magnitude = half_up(significand as i64, if small { lack - formats.small_shift } else { lack });
        Lane { number: if negative { -magnitude } else { magnitude }, small }
    }
}

impl Lane {
    /// The number whose lower half is 0: the upper half alone.
    fn narrow(self) -> Lane {
        Lane { number: (self.number + (1 << (HALF - 1))) >> HALF << HALF, ..self }
    }
}

/// The exponent of an element of a query that counts as the largest of its part.
fn top_of_query(f: &fp16::Fields, formats: &Formats) -> u32 {
    let beyond = formats.packed && f.significand >= TOP_OF_QUERY && f.exponent < FP16_SPECIAL;
    f.exponent + u32::from(beyond)
}

/// A stationary vector: each lane is `number * 2^(exponent - 31)`, of the small scale `2^(exponent - 31 - small_shift)`,
/// with 16 more bits below the point for a weight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector {
    /// Its numbers.
    pub lanes: Vec<Lane>,
    /// Of a query 2..=32, one more than the largest exponent of an element, which of packed numbers is one bit less; of
    /// weights 0..=31.
    pub exponent: u32,
}

impl Vector {
    /// Converts elements of a query.
    pub fn query(elements: &[u16], formats: &Formats) -> Vector {
        let fields: Vec<_> = elements.iter().map(|&bits| fp16::fields(bits)).collect();
        let largest = fields.iter().map(|f| top_of_query(f, formats)).max().unwrap_or(1);
        let sign = u32::from(!formats.packed);
        let up = formats.stationary_bits - sign - SIGNIFICAND_BITS;
        let lane = |f: &fp16::Fields| {
            Lane::new(f.negative, u64::from(f.significand) << up, largest - f.exponent, formats)
        };
        Vector { lanes: fields.iter().map(lane).collect(), exponent: largest + sign }
    }

    /// The same with the upper halves of packed numbers alone.
    #[must_use]
    pub fn narrow(self) -> Vector {
        Vector { lanes: self.lanes.into_iter().map(Lane::narrow).collect(), ..self }
    }

    /// Weights of a block: significands, each with the powers of two by which it lies below the largest of the block;
    /// none is a blank lane. `below`: the powers of two by which that one lies below m; one with a scale may lie above it.
    pub fn weights(weights: &[Option<(u32, u32)>], below: i64, formats: &Formats) -> Vector {
        let range = i64::from(WEIGHT_RANGE);
        let lane = |weight: &Option<(u32, u32)>| match weight {
            Some((significand, lack)) if below <= range => {
                Lane::new(false, u64::from(*significand), *lack, formats)
            }
            _ => Lane::default(),
        };
        Vector { lanes: weights.iter().map(lane).collect(), exponent: (range - below).max(0) as u32 }
    }
}

/// Result of a row for a flit: `sum * 2^(exponent - bias - 41)`. The bias is 15 of the flit's FP16, plus 15 of a query's
/// or 31 of a weight's exponent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dot {
    /// |sum| < 2^(26 + 17) * lanes: 49 bits signed for 32 lanes.
    pub sum: i64,
    /// Sum of the exponents of both vectors, 1..=63.
    pub exponent: u32,
}

impl Dot {
    /// The dot placed so many powers of two higher. Below the lowest place it stays there: it rounds to 0 or to one unit.
    pub fn risen(self, rise: i32) -> Dot {
        Dot { exponent: self.exponent.saturating_add_signed(rise), ..self }
    }
}

/// Returns the dot product of an aligned flit with a stationary vector of as many lanes.
pub fn dot(flit: &Aligned, stationary: &Vector, formats: &Formats) -> Dot {
    assert_eq!(
        flit.elements.len(),
        stationary.lanes.len(),
        "a flit and its stationary vector have the same lanes"
    );
    let product = |(&element, lane): (&i64, &Lane)| {
        let scaled = if lane.small { element >> formats.small_shift } else { element };
        scaled * lane.number
    };
    Dot {
        sum: flit.elements.iter().zip(&stationary.lanes).map(product).sum(),
        exponent: flit.exponent + stationary.exponent,
    }
}
