//! Synthetic tensors drawn from a seed, with a stated kind of logits.

use super::layer::Tensors;
use crate::config::named;
use half::f16;
use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;

named! {
    /// Spread of a query's logits over its tokens.
    pub enum Logits {
        /// Standard deviation 1.
        Normal = "normal",
        /// Standard deviation 12: a few tokens have nearly all of the weight.
        Peaky = "peaky",
        /// Standard deviation 1/64.
        Flat = "flat",
        // The sink is 8 above the rest.
        /// A sink at the first token, and values over sixteen powers of two.
        LongTail = "long-tail",
    }
}

/// Parameters of synthetic tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synthetic {
    /// Seed; the same gives the same bits everywhere.
    pub seed: u64,
    /// Query heads.
    pub heads: usize,
    /// KV heads.
    pub kv_heads: usize,
    /// Queries of a head.
    pub positions: usize,
    /// Tokens.
    pub tokens: usize,
    /// Elements of a row.
    pub head_dim: usize,
    /// Spread of logits.
    pub logits: Logits,
}

/// Draws tensors.
///
/// # Panics
/// When the KV heads do not divide the heads.
pub fn synthetic(what: &Synthetic) -> Tensors {
    let &Synthetic { seed, heads, kv_heads, positions, tokens, head_dim, logits } = what;
    assert!(heads.is_multiple_of(kv_heads), "{heads} heads, {kv_heads} KV heads");
    let mut rng = Pcg64::new(u128::from(seed), 1);
    let mut draw = |count: usize, sd: f64| -> Vec<u16> {
        (0..count).map(|_| f16::from_f64(sd * normal(&mut rng)).to_bits()).collect()
    };
    let spread = match logits {
        Logits::Normal | Logits::LongTail => 1.0,
        Logits::Peaky => 12.0,
        Logits::Flat => 1.0 / 64.0,
    };
    // A logit sums head_dim products and divides by the square root of head_dim, so it spreads as a product
    // does.
    let mut q = draw(heads * positions * head_dim, spread);
    let mut k = draw(kv_heads * tokens * head_dim, 1.0);
    let mut v = draw(kv_heads * tokens * head_dim, 1.0);
    if logits == Logits::LongTail {
        // 8 = head_dim * 0.5 * sink / sqrt(head_dim).
        let sink = 16.0 / (head_dim as f64).sqrt();
        q.iter_mut().for_each(|bits| *bits = f16::from_f64(value(*bits) + 0.5).to_bits());
        for head in k.chunks_mut(tokens * head_dim) {
            head[..head_dim].fill(f16::from_f64(sink).to_bits());
        }
        let powers = v.iter().map(|_| (rng.next_u64() >> 60) as i32 - 10).collect::<Vec<_>>();
        for (bits, power) in v.iter_mut().zip(powers) {
            *bits = f16::from_f64(value(*bits) * 2f64.powi(power)).to_bits();
        }
    }
    Tensors::new([heads, kv_heads, positions, tokens, head_dim], [q, k, v])
}

/// Least and largest sink that is drawn: the heads of a model have some that take nearly all weight, and some that take none.
const SINKS: [f64; 2] = [-2.0, 6.0];

/// Draws a sink for each query head, evenly.
pub fn synthetic_sinks(seed: u64, heads: usize) -> Vec<f32> {
    let mut rng = Pcg64::new(u128::from(seed), 2);
    let [low, high] = SINKS;
    let mut share = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    (0..heads).map(|_| (low + (high - low) * share()) as f32).collect()
}

fn value(bits: u16) -> f64 {
    f16::from_bits(bits).to_f64()
}

/// Returns a sum of twelve uniform numbers. It is nearly normal, and its exact arithmetic gives the same on
/// every machine.
fn normal(rng: &mut Pcg64) -> f64 {
    (0..12).map(|_| (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
}
