//! Queries, keys and values of one layer: read from a safetensors file, or drawn from a seed; and written into one.
//!
//! A file has for each layer L `layers.L.q` of shape `[heads, positions, head_dim]`, `layers.L.k` and `layers.L.v` of
//! shape `[kv_heads, tokens, head_dim]`, F16, BF16 or F32; keys and values may be F8_E4M3, F8_E5M2 or I8, with factors of their
//! KV heads in `layers.L.k_scale` and `layers.L.v_scale`, F32. Other tensors are ignored. Every query sees all tokens.

mod error;
mod file;
mod layer;
mod numbers;
mod seems;
mod synthetic;
mod written;

pub use error::{Missing, TensorError};
pub use layer::{layers, Tensors};
pub use synthetic::{synthetic, synthetic_sinks, Logits, Synthetic};
