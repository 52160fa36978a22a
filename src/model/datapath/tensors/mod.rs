//! Queries, keys and values of one layer: read from a safetensors file, or drawn from a seed.
//!
//! A file has for each layer L `layers.L.q` of shape `[heads, positions, head_dim]`, `layers.L.k` and `layers.L.v` of
//! shape `[kv_heads, tokens, head_dim]`, all F16; other tensors are ignored. Every query sees all tokens.

mod error;
mod file;
mod layer;
mod seems;
mod synthetic;

pub use error::{Missing, TensorError};
pub use layer::{layers, Tensors};
pub use synthetic::{synthetic, Logits, Synthetic};
