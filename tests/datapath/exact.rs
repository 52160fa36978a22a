//! Exact arithmetic on FP16, against which the datapath model is compared.

use meshkv::model::{Datapath, DatapathShape};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};

/// A datapath of a head of `head_dim` elements with `flit_elements` a flit.
pub(super) fn datapath(head_dim: u32, flit_elements: u32) -> Datapath {
    Datapath::new(DatapathShape::whole(head_dim, flit_elements))
}

pub(super) fn half(value: f64) -> u16 {
    half::f16::from_f64(value).to_bits()
}

pub(super) fn integer(value: impl Into<BigInt>) -> BigRational {
    BigRational::from_integer(value.into())
}

pub(super) fn power_of_two(exponent: i32) -> BigRational {
    let power = BigInt::one() << exponent.unsigned_abs();
    if exponent < 0 {
        BigRational::new(BigInt::one(), power)
    } else {
        integer(power)
    }
}

/// The value of a finite FP16, taken apart by the `half` crate and not by the model.
pub(super) fn rational(bits: u16) -> BigRational {
    BigRational::from_float(half::f16::from_bits(bits).to_f64()).expect("a finite number")
}

/// The FP16 nearest to an exact number, ties to even, by searching all of them.
pub(super) fn nearest_half(value: &BigRational) -> u16 {
    let (mut low, mut high) = (0u16, 0x7bff);
    let magnitude = if *value < BigRational::zero() { -value } else { value.clone() };
    // Positive finite FP16 are ordered as their bits.
    while high - low > 1 {
        let middle = (low + high) / 2;
        if rational(middle) <= magnitude {
            low = middle;
        } else {
            high = middle;
        }
    }
    if magnitude >= rational(high) {
        low = high;
    }
    let (below, above) = (&magnitude - rational(low), rational(high) - &magnitude);
    let up = above < below || above == below && low & 1 == 1;
    let bits = if up { high } else { low };
    if *value < BigRational::zero() {
        bits | 0x8000
    } else {
        bits
    }
}
