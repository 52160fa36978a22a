//! Random numbers of traffic, the same on every machine.

use rand_pcg::rand_core::Rng;

/// A number in 0..n; the bias of a single multiplication is below 2^-55 here.
pub(super) fn below(n: u64, rng: &mut impl Rng) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(n)) >> 64) as u64
}

/// A number in 0.0..1.0.
pub(in crate::cosim) fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
