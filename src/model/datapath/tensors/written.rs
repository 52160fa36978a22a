//! Tensors of one layer as a safetensors file, in the types of their format.

use super::layer::Tensors;
use crate::config::KvFormat;
use crate::model::datapath::numbers::element;
use half::{bf16, f16};
use safetensors::tensor::{Dtype, SafeTensorError, TensorView};

/// A tensor of the file.
struct Part {
    name: &'static str,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensors {
    /// A safetensors file that [`Tensors::parse`] reads as these numbers: queries F16, keys and values of the type of their
    /// format, without the zeros that fill up rows. Factors that are not all 1 stand in `k_scale` and `v_scale`: F16 of
    /// shape `[kv_heads, tokens]` where tokens have scales, else F32 of shape `[kv_heads]`.
    ///
    /// # Errors
    /// When the file's header would be too large.
    ///
    /// # Panics
    /// When there are no keys and values ([`Tensors::blank`]), or both tokens and KV heads have scales: a file has one or
    /// the other. Sinks stand in `sinks`: F32 of shape `[heads]`.
    pub fn to_safetensors(&self, layer: u32) -> Result<Vec<u8>, SafeTensorError> {
        assert!(!self.is_blank(), "tensors with keys and values");
        let mut parts = vec![self.queries()];
        for (at, (numbers, scales)) in [("k", "k_scale"), ("v", "v_scale")].into_iter().enumerate() {
            parts.push(self.cached(at, numbers));
            parts.extend(self.factors(at, scales));
        }
        let sinks: Vec<u8> =
            (0..self.heads).filter_map(|head| self.sink(head)).flat_map(f32::to_le_bytes).collect();
        if !sinks.is_empty() {
            parts.push(Part { name: "sinks", dtype: Dtype::F32, shape: vec![self.heads], bytes: sinks });
        }
        let views = parts.iter().map(|part| {
            let view = TensorView::new(part.dtype, part.shape.clone(), &part.bytes)?;
            Ok((format!("layers.{layer}.{}", part.name), view))
        });
        safetensors::serialize(views.collect::<Result<Vec<_>, SafeTensorError>>()?, None)
    }

    fn queries(&self) -> Part {
        let all: Vec<u16> = (0..self.heads)
            .flat_map(|head| (0..self.positions).map(move |position| (head, position)))
            .flat_map(|(head, position)| self.query(head, position))
            .copied()
            .collect();
        let bytes = self.of_model(&all).into_iter().flat_map(u16::to_le_bytes).collect();
        Part { name: "q", dtype: Dtype::F16, shape: vec![self.heads, self.positions, self.model_dim], bytes }
    }

    /// Keys, which are the first part, or values.
    fn cached(&self, part: usize, name: &'static str) -> Part {
        let first_heads = (0..self.kv_heads).map(|kv_head| kv_head * (self.heads / self.kv_heads));
        let all = first_heads.flat_map(|head| [self.keys(head), self.values(head)][part]);
        let all = self.of_model(&all.copied().collect::<Vec<_>>());
        let bytes = match self.format {
            KvFormat::Bf16 => {
                let wide = |bits: u16| bf16::from_f32(f16::from_bits(bits).to_f32());
                all.into_iter().flat_map(|bits| wide(bits).to_le_bytes()).collect()
            }
            format => element::bytes_of(format, &all),
        };
        let dtype = match self.format {
            KvFormat::Fp16 => Dtype::F16,
            KvFormat::Bf16 => Dtype::BF16,
            KvFormat::Fp8E4m3 => Dtype::F8_E4M3,
            KvFormat::Fp8E5m2 => Dtype::F8_E5M2,
            KvFormat::Int8 => Dtype::I8,
        };
        Part { name, dtype, shape: vec![self.kv_heads, self.tokens, self.model_dim], bytes }
    }

    /// The scales of keys or of values, if one is not 1.
    fn factors(&self, part: usize, name: &'static str) -> Option<Part> {
        let group = self.heads / self.kv_heads;
        let of_heads: Vec<f32> =
            (0..self.kv_heads).map(|kv_head| self.scales(kv_head * group)[part]).collect();
        let is_scaled = of_heads.iter().any(|&scale| scale != 1.0);
        let of_tokens: Vec<u8> = (0..self.kv_heads)
            .filter_map(|kv_head| self.token_scales(kv_head * group))
            .flatten()
            .flat_map(|scales| scales[part].to_le_bytes())
            .collect();
        if !of_tokens.is_empty() {
            assert!(!is_scaled, "scales of KV heads beside those of tokens");
            let shape = vec![self.kv_heads, self.tokens];
            return Some(Part { name, dtype: Dtype::F16, shape, bytes: of_tokens });
        }
        let bytes = of_heads.into_iter().flat_map(f32::to_le_bytes).collect();
        is_scaled.then(|| Part { name, dtype: Dtype::F32, shape: vec![self.kv_heads], bytes })
    }
}

#[cfg(test)]
mod tests {
    use crate::config::KvFormat;
    use crate::model::datapath::tensors::{synthetic, Logits, Synthetic, Tensors};

    fn drawn(seed: u64, head_dim: usize) -> Tensors {
        let (heads, kv_heads, positions, tokens, logits) = (6, 3, 2, 7, Logits::Normal);
        synthetic(&Synthetic { seed, heads, kv_heads, positions, tokens, head_dim, logits })
    }

    #[test]
    fn what_is_written_is_read_again_in_every_format_and_with_every_kind_of_scale() {
        const ALL: [KvFormat; 5] =
            [KvFormat::Fp16, KvFormat::Bf16, KvFormat::Fp8E4m3, KvFormat::Fp8E5m2, KvFormat::Int8];
        for (seed, format) in (1..).zip(ALL) {
            let plain = drawn(seed, 20).with_sinks(vec![0.5, -1.25, 3.0, 0.0, -7.5, 2.0]);
            let mut all = vec![plain.clone().rounded(format), plain.clone().quantised(format)];
            if matches!(format, KvFormat::Fp8E4m3 | KvFormat::Int8) {
                all.push(plain.quantised_by_token(format));
            }
            for tensors in all {
                let bytes = tensors.to_safetensors(3).unwrap();
                assert_eq!(Tensors::parse(&bytes, 3).unwrap(), tensors, "{}", format.name());
                let filled = tensors.clone().filled_up(32);
                assert_eq!(filled.to_safetensors(3).unwrap(), bytes, "zeros behind rows are not written");
            }
        }
    }
}
