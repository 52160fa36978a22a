//! Queries, keys and values of one layer: read from a safetensors file, or drawn from a seed.
//!
//! A file has for each layer L `layers.L.q` of shape `[heads, positions, head_dim]`, `layers.L.k` and `layers.L.v` of
//! shape `[kv_heads, tokens, head_dim]`, all F16; other tensors are ignored. Every query sees all tokens.

mod layer;
mod synthetic;

pub use layer::{layers, TensorError, Tensors};
pub use synthetic::{synthetic, Logits, Synthetic};
