//! Reference attention: exact in f64, and FP16 as FlashAttention-2 computes it.
//!
//! Neither shares a line with the datapath but the rounding to E4M3; FP16 is that of the `half` crate. Each takes one query
//! head: `q` has head_dim elements, `k` and `v` have `tokens x head_dim`, all FP16 bits.

use crate::config::KvFormat;
use crate::model::datapath::numbers::element;
use half::f16;

/// Returns softmax(q k^T / sqrt(head_dim)) v in f64, of at least one token.
pub fn exact(q: &[u16], k: &[u16], v: &[u16]) -> Vec<f64> {
    exact_scaled(q, k, v, (1.0, 1.0))
}

/// Returns the same for keys and values that have these factors beside their numbers.
pub fn exact_scaled(q: &[u16], k: &[u16], v: &[u16], (k_scale, v_scale): (f64, f64)) -> Vec<f64> {
    exact_tokens(q, k, v, &vec![[k_scale, v_scale]; k.len() / q.len()])
}

/// Returns the same for keys and values that have factors a token beside their numbers.
pub fn exact_tokens(q: &[u16], k: &[u16], v: &[u16], factors: &[[f64; 2]]) -> Vec<f64> {
    exact_sunk(q, k, v, factors, None)
}

/// Returns the same with a sink, a logit beside those of the tokens, whose value is 0.
pub fn exact_sunk(q: &[u16], k: &[u16], v: &[u16], factors: &[[f64; 2]], sink: Option<f32>) -> Vec<f64> {
    let head_dim = q.len();
    let scale = 1.0 / (head_dim as f64).sqrt();
    let q: Vec<f64> = q.iter().map(|&bits| f16::from_bits(bits).to_f64()).collect();
    let dot = |row: &[u16]| -> f64 {
        q.iter().zip(row).map(|(q, &k)| q * f16::from_bits(k).to_f64()).sum::<f64>() * scale
    };
    let logits: Vec<f64> =
        k.chunks(head_dim).zip(factors).map(|(row, [k_factor, _])| dot(row) * k_factor).collect();
    let sink = sink.map_or(f64::NEG_INFINITY, f64::from);
    let max = logits.iter().copied().fold(sink, f64::max);
    let (mut l, mut o) = ((sink - max).exp(), vec![0.0; head_dim]);
    for ((logit, row), [_, v_factor]) in logits.iter().zip(v.chunks(head_dim)).zip(factors) {
        let p = (logit - max).exp();
        l += p;
        o.iter_mut().zip(row).for_each(|(o, &v)| *o += p * v_factor * f16::from_bits(v).to_f64());
    }
    o.iter().map(|o| o / l).collect()
}

/// Rows of numbers times a factor each, rounded to FP16: what a kernel for FP16 is given instead of an eight-bit cache.
pub fn dequantised(rows: &[u16], head_dim: usize, factors: impl Iterator<Item = f64>) -> Vec<u16> {
    let row = |(row, factor): (&[u16], f64)| -> Vec<u16> {
        row.iter().map(|&bits| f16::from_f64(f16::from_bits(bits).to_f64() * factor).to_bits()).collect()
    };
    rows.chunks(head_dim).zip(factors).flat_map(row).collect()
}

/// Returns the same after FlashAttention-2 (T. Dao, 2023, algorithm 1, forward pass), as its FP16 kernels
/// compute it. S = q k^T is in FP32, and the online softmax over blocks of `block` tokens in FP32 and base 2.
/// P is rounded to FP16 before P V with FP32 accumulation. One division follows; the output is FP16.
///
/// This is more accurate than hardware: every FP32 operation is correctly rounded, powers of two too.
pub fn flash_attention2(q: &[u16], k: &[u16], v: &[u16], block: usize) -> Vec<u16> {
    flash_attention2_scaled(q, k, v, (1.0, 1.0), block)
}

/// Returns the same with a sink, as FlashAttention-2's successors have it: the running maximum and sum begin with it.
pub fn flash_attention2_sunk(q: &[u16], k: &[u16], v: &[u16], block: usize, sink: Option<f32>) -> Vec<u16> {
    let scale = std::f32::consts::LOG2_E / (q.len() as f32).sqrt();
    let q: Vec<f32> = q.iter().map(|&bits| f16::from_bits(bits).to_f32()).collect();
    let sink = sink.map(|sink| sink * std::f32::consts::LOG2_E / scale);
    let of = Online { q: &q, scale, v_scale: 1.0, offset: 0.0, factors: None, sink };
    of.attend(k, v, block, |p| f16::from_f32(p).to_f32())
}

/// Returns the same for keys and values that have these factors beside their numbers: numbers enter the products as they
/// are, that of the keys is applied to S and that of the values to the output, in FP32.
pub fn flash_attention2_scaled(
    q: &[u16],
    k: &[u16],
    v: &[u16],
    (k_scale, v_scale): (f32, f32),
    block: usize,
) -> Vec<u16> {
    let scale = std::f32::consts::LOG2_E / (q.len() as f32).sqrt() * k_scale;
    let single = |&bits: &u16| f16::from_bits(bits).to_f32();
    let q: Vec<f32> = q.iter().map(single).collect();
    let of = Online { q: &q, scale, v_scale, offset: 0.0, factors: None, sink: None };
    of.attend(k, v, block, |p| f16::from_f32(p).to_f32())
}

/// Returns the same for keys and values that have factors a token: that of K is applied to S and that of V to P, in FP32,
/// before P is rounded.
pub fn flash_attention2_tokens(
    q: &[u16],
    k: &[u16],
    v: &[u16],
    factors: &[[f32; 2]],
    block: usize,
) -> Vec<u16> {
    let scale = std::f32::consts::LOG2_E / (q.len() as f32).sqrt();
    let q: Vec<f32> = q.iter().map(|&bits| f16::from_bits(bits).to_f32()).collect();
    let of = Online { q: &q, scale, v_scale: 1.0, offset: 0.0, factors: Some(factors), sink: None };
    of.attend(k, v, block, |p| f16::from_f32(p).to_f32())
}

/// Tokens of a block of FlashAttention-3 in FP8.
const FLASH3_BLOCK: usize = 128;
/// Powers of two by which it raises P before it rounds, so that P fills the range of E4M3.
const FLASH3_OFFSET: f32 = 8.0;

/// Returns the same after FlashAttention-3 in FP8 (J. Shah et al., 2024, section 3.3): q is brought into E4M3 by a factor of
/// its own, k and v are numbers of E4M3 with these factors, and P is raised by 2^8 and rounded to E4M3. Sums are in FP32,
/// which is more than Hopper's tensor cores have.
pub fn flash_attention3(q: &[u16], k: &[u16], v: &[u16], (k_scale, v_scale): (f32, f32)) -> Vec<u16> {
    let e4m3 = KvFormat::Fp8E4m3;
    let single = |bits: u16| f16::from_bits(bits).to_f32();
    let q_scale = element::largest_fits(e4m3, q);
    let narrow: Vec<f32> =
        q.iter().map(|&bits| single(element::quantised(e4m3, bits, 1.0 / q_scale))).collect();
    let scale = std::f32::consts::LOG2_E / (q.len() as f32).sqrt() * q_scale * k_scale;
    let of = Online { q: &narrow, scale, v_scale, offset: FLASH3_OFFSET, factors: None, sink: None };
    of.attend(k, v, FLASH3_BLOCK, |p| single(element::quantised(e4m3, f16::from_f32(1.0).to_bits(), p)))
}

/// A query, and how its kernel computes in FP32.
struct Online<'a> {
    q: &'a [f32],
    /// Factor of q k^T, base 2.
    scale: f32,
    /// Factor of the output.
    v_scale: f32,
    /// Powers of two by which P is raised.
    offset: f32,
    /// Factors of K and of V of each token.
    factors: Option<&'a [[f32; 2]]>,
    /// A logit beside those of the tokens, before the factor of q k^T.
    sink: Option<f32>,
}

impl Online<'_> {
    /// Online softmax over blocks of tokens. P is rounded before it meets V; the denominator sums what is not rounded.
    fn attend(&self, k: &[u16], v: &[u16], block: usize, rounded: impl Fn(f32) -> f32) -> Vec<u16> {
        let (q, scale, head_dim) = (self.q, self.scale, self.q.len());
        let single = |&bits: &u16| f16::from_bits(bits).to_f32();
        let exp2 = |x: f32| f64::from(x).exp2() as f32;
        let begun = (self.sink.unwrap_or(f32::NEG_INFINITY), if self.sink.is_some() { 1f32 } else { 0.0 });
        let ((mut max, mut l), mut o) = (begun, vec![0f32; head_dim]);
        let factor = |token: usize| self.factors.map_or([1.0; 2], |factors| factors[token]);
        let mut begun = 0;
        for (k, v) in k.chunks(block * head_dim).zip(v.chunks(block * head_dim)) {
            // Products of FP16 are exact in FP32, so this is what a fused multiply-add gives.
            let dot = |row: &[u16]| q.iter().zip(row).fold(0f32, |sum, (q, k)| sum + q * single(k));
            let logits: Vec<f32> =
                (begun..).zip(k.chunks(head_dim)).map(|(token, row)| dot(row) * factor(token)[0]).collect();
            let old = max;
            max = logits.iter().copied().fold(max, f32::max);
            let rescale = exp2((old - max) * scale);
            l *= rescale;
            o.iter_mut().for_each(|o| *o *= rescale);
            for ((token, logit), row) in (begun..).zip(&logits).zip(v.chunks(head_dim)) {
                let p = exp2(logit.mul_add(scale, self.offset - max * scale));
                l += p;
                let p = rounded(p * factor(token)[1]);
                o.iter_mut().zip(row).for_each(|(o, v)| *o += p * single(v));
            }
            begun += logits.len();
        }
        o.iter().map(|o| f16::from_f32(o / l * self.v_scale).to_bits()).collect()
    }
}

/// Block sizes of FlashAttention-2 in tokens. The better one counts, for maximum and RMS separately.
pub const FLASH_BLOCKS: [usize; 2] = [64, 128];

/// Relative difference of errors below which they are the same.
const SAME: f64 = 1e-6;

/// Error of an output against the exact one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Error {
    /// Largest absolute error; NaN if an element is.
    pub max: f64,
    /// Square root of the mean square error.
    pub rms: f64,
}

impl Error {
    /// Returns the error of FP16 outputs against as many exact ones.
    pub fn of(outputs: &[u16], exact: &[f64]) -> Error {
        assert_eq!(outputs.len(), exact.len());
        let errors =
            outputs.iter().zip(exact).map(|(&bits, exact)| (f16::from_bits(bits).to_f64() - exact).abs());
        let (mut max, mut square) = (0f64, 0f64);
        for error in errors {
            max = if error.is_nan() || error > max { error } else { max };
            square += error * error;
        }
        Error { max, rms: (square / exact.len() as f64).sqrt() }
    }

    /// The smallest maximum and the smallest RMS of some errors; NaN only if all are.
    ///
    /// # Panics
    /// If there are none.
    pub fn least(errors: impl IntoIterator<Item = Error>) -> Error {
        let least = |a: Error, b: Error| Error { max: a.max.min(b.max), rms: a.rms.min(b.rms) };
        errors.into_iter().reduce(least).expect("there are errors")
    }

    /// The error is no larger than another in maximum and in RMS, but for a difference that says nothing.
    ///
    /// An exact output may lie so nearly half-way between two FP16 values that the last place of an exponential decides
    /// which of them FlashAttention-2 takes. That place differs from one CPU's library to another's.
    pub fn within(&self, other: &Error) -> bool {
        let slack = 1.0 + SAME;
        self.max <= other.max * slack && self.rms <= other.rms * slack
    }
}
