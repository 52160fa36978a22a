//! The numbers of a file's tensors, by their types, as FP16 bits.

use super::error::TensorError;
use super::file::TensorFile;
use crate::config::KvFormat;
use crate::model::datapath::numbers::element::{is_token_scale, of_e4m3, of_int8};
use crate::model::datapath::numbers::fp16;
use crate::model::datapath::numbers::sink::Sink;
use half::{bf16, f16};
use safetensors::Dtype;
use std::io::{Read, Seek};

/// Numbers of a tensor of three dimensions, none of them 0. All are finite.
pub(super) struct Numbers {
    /// Heads, rows, elements of a row.
    pub(super) shape: [usize; 3],
    /// FP16 bits.
    pub(super) elements: Vec<u16>,
    /// The format of a cache that has them as they are.
    pub(super) format: KvFormat,
    /// Numbers that FP16 does not have.
    pub(super) rounded: usize,
    dtype: Dtype,
}

impl Numbers {
    /// Reads a tensor.
    pub(super) fn read(file: &mut TensorFile<impl Read + Seek>, name: &str) -> Result<Numbers, TensorError> {
        let info = file.info(name)?;
        let (dtype, shape) = (info.dtype, info.shape.clone());
        let format = match dtype {
            Dtype::F16 | Dtype::F32 => KvFormat::Fp16,
            Dtype::BF16 => KvFormat::Bf16,
            Dtype::F8_E4M3 => KvFormat::Fp8E4m3,
            Dtype::F8_E5M2 => KvFormat::Fp8E5m2,
            Dtype::I8 => KvFormat::Int8,
            _ => return Err(TensorError::WrongDtype { name: name.to_owned(), dtype }),
        };
        let shape: [usize; 3] = match shape.as_slice().try_into() {
            Ok(all) if !shape.contains(&0) => all,
            _ => {
                let rule =
                    "it must have three dimensions, none of them empty: heads, rows, head_dim".to_owned();
                return Err(TensorError::WrongShape { name: name.to_owned(), shape, rule });
            }
        };
        let bytes = file.bytes(name)?;
        let place = |index: usize| {
            (name.to_owned(), [index / (shape[1] * shape[2]), index / shape[2] % shape[1], index % shape[2]])
        };
        let mut rounded = 0;
        let mut elements = Vec::with_capacity(bytes.len() / dtype.bitsize() * 8);
        for (index, number) in bytes.chunks_exact(dtype.bitsize() / 8).enumerate() {
            let bits = match dtype {
                Dtype::F16 => u16::from_le_bytes([number[0], number[1]]),
                Dtype::F8_E4M3 => of_e4m3(number[0]),
                Dtype::F8_E5M2 => u16::from(number[0]) << 8,
                Dtype::I8 if number[0] == 0x80 => {
                    let (name, place) = place(index);
                    return Err(TensorError::NoInteger { name, place });
                }
                Dtype::I8 => of_int8(number[0]),
                _ => {
                    let value = match dtype {
                        Dtype::BF16 => bf16::from_le_bytes([number[0], number[1]]).to_f32(),
                        _ => f32::from_le_bytes([number[0], number[1], number[2], number[3]]),
                    };
                    let nearest = f16::from_f32(value);
                    if value.is_finite() && nearest.is_infinite() {
                        let (name, place) = place(index);
                        return Err(TensorError::Beyond { name, place, value });
                    }
                    rounded += usize::from(value.is_finite() && nearest.to_f32() != value);
                    nearest.to_bits()
                }
            };
            if fp16::is_special(bits) {
                let (name, [head, row, element]) = place(index);
                let what = if bits & 0x3ff == 0 { "infinite" } else { "NaN" };
                return Err(TensorError::NotFinite { name, head, row, element, what });
            }
            elements.push(bits);
        }
        Ok(Numbers { shape, elements, format, rounded, dtype })
    }

    /// Refuses queries of eight bits.
    pub(super) fn of_queries(self, name: &str) -> Result<Numbers, TensorError> {
        match self.format.bytes() {
            1 => Err(TensorError::NarrowQueries { name: name.to_owned(), dtype: self.dtype }),
            _ => Ok(self),
        }
    }

    /// Refuses values of another type than the keys.
    pub(super) fn like(self, keys: &Numbers, name: &str) -> Result<Numbers, TensorError> {
        match self.dtype == keys.dtype {
            true => Ok(self),
            false => {
                let (name, dtype, keys) = (name.to_owned(), self.dtype, keys.dtype);
                Err(TensorError::OtherThanKeys { name, dtype, keys })
            }
        }
    }
}

/// Factors beside numbers: of KV heads, and of their tokens, in FP16, where a file has those.
pub(super) struct Factors {
    pub(super) of_heads: Vec<f32>,
    pub(super) of_tokens: Vec<u16>,
}

/// Reads factors: F32, one for each KV head or one for all; or F32 or F16, one for each KV head and token. 1 where the file has
/// none.
pub(super) fn factors(
    file: &mut TensorFile<impl Read + Seek>,
    name: &str,
    (kv_heads, tokens): (usize, usize),
) -> Result<Factors, TensorError> {
    let none = || Factors { of_heads: vec![1.0; kv_heads], of_tokens: Vec::new() };
    if !file.names().iter().any(|one| one == name) {
        return Ok(none());
    }
    let info = file.info(name)?;
    let (dtype, shape) = (info.dtype, info.shape.clone());
    let count: usize = shape.iter().product();
    let (name, bytes) = (name.to_owned(), file.bytes(name)?);
    let numbers: Vec<f32> = match dtype {
        Dtype::F32 => bytes.chunks_exact(4).map(|n| f32::from_le_bytes([n[0], n[1], n[2], n[3]])).collect(),
        Dtype::F16 => bytes.chunks_exact(2).map(|n| f16::from_le_bytes([n[0], n[1]]).to_f32()).collect(),
        _ => Vec::new(),
    };
    if numbers.len() == count && shape.len() > 1 && count == kv_heads * tokens {
        let scale = |number: &f32| f16::from_f32(*number).to_bits();
        if let Some(index) = numbers.iter().position(|number| !is_token_scale(scale(number))) {
            return Err(TensorError::WrongTokenFactor {
                name,
                place: [index / tokens, index % tokens],
                value: numbers[index],
            });
        }
        return Ok(Factors { of_tokens: numbers.iter().map(scale).collect(), ..none() });
    }
    if dtype != Dtype::F32 || !(count == 1 || count == kv_heads) {
        let rule = format!(
            "factors are F32, one for all KV heads or one for each of {kv_heads}; or [{kv_heads}, {tokens}], one for each \
             KV head and token"
        );
        return Err(TensorError::WrongShape { name, shape, rule });
    }
    let mut of_heads = numbers;
    if let Some(index) = of_heads.iter().position(|factor| !(factor.is_normal() && *factor > 0.0)) {
        return Err(TensorError::WrongFactor { name, index, value: of_heads[index] });
    }
    of_heads.resize(kv_heads, of_heads[0]);
    Ok(Factors { of_heads, of_tokens: Vec::new() })
}

/// Reads sinks: a logit for each query head, F32, F16 or BF16. None where the file has none.
pub(super) fn sinks(
    file: &mut TensorFile<impl Read + Seek>,
    name: &str,
    heads: usize,
) -> Result<Vec<f32>, TensorError> {
    if !file.names().iter().any(|one| one == name) {
        return Ok(Vec::new());
    }
    let info = file.info(name)?;
    let (dtype, shape) = (info.dtype, info.shape.clone());
    let (name, bytes) = (name.to_owned(), file.bytes(name)?);
    let sinks: Vec<f32> = match dtype {
        Dtype::F32 => bytes.chunks_exact(4).map(|n| f32::from_le_bytes([n[0], n[1], n[2], n[3]])).collect(),
        Dtype::F16 => bytes.chunks_exact(2).map(|n| f16::from_le_bytes([n[0], n[1]]).to_f32()).collect(),
        Dtype::BF16 => bytes.chunks_exact(2).map(|n| bf16::from_le_bytes([n[0], n[1]]).to_f32()).collect(),
        _ => Vec::new(),
    };
    if sinks.len() != heads {
        let rule = format!("sinks are F32, F16 or BF16, one for each of {heads} query heads");
        return Err(TensorError::WrongShape { name, shape, rule });
    }
    match sinks.iter().position(|&sink| Sink::new(sink).is_none()) {
        Some(head) => Err(TensorError::WrongSink { name, head, value: sinks[head] }),
        None => Ok(sinks),
    }
}

/// Scales of tokens, of keys and of values together; those that a file does not have are 1, if it has the others.
pub(super) fn pairs(mut k: Vec<u16>, mut v: Vec<u16>) -> Vec<[u16; 2]> {
    const ONE: u16 = 0x3c00;
    let count = k.len().max(v.len());
    k.resize(count, ONE);
    v.resize(count, ONE);
    k.into_iter().zip(v).map(|(k, v)| [k, v]).collect()
}
