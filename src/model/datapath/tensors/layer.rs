//! Tensors of one layer, and their reader for safetensors files.

use crate::model::datapath::fp16;
use safetensors::{Dtype, SafeTensorError, SafeTensors};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use thiserror::Error;

/// Bytes of a file's header at most, as the format has it.
const MOST_HEADER: u64 = 100_000_000;

/// Attention inputs of one layer, FP16 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensors {
    /// Query heads.
    pub heads: usize,
    /// KV heads; `heads` is a multiple.
    pub kv_heads: usize,
    /// Queries of a head.
    pub positions: usize,
    /// Tokens of K and V.
    pub tokens: usize,
    /// Elements of a row.
    pub head_dim: usize,
    q: Vec<u16>,
    k: Vec<u16>,
    v: Vec<u16>,
}

/// Error in a file's tensors.
#[derive(Debug, Error)]
pub enum TensorError {
    /// The file cannot be read.
    #[error("cannot read it: {0}")]
    Unreadable(#[from] std::io::Error),
    /// It is truncated, or no safetensors file.
    #[error("no whole safetensors file: {0}; is the download complete?")]
    Damaged(SafeTensorError),
    /// A tensor is missing.
    #[error("no tensor {name}; {}", layers_there(.layers))]
    Missing {
        /// Name of the tensor.
        name: String,
        /// Layers of which the file has some of q, k and v.
        layers: Vec<u32>,
    },
    /// A tensor is not FP16.
    #[error("{name} is {dtype:?}; the datapath takes F16: convert it, `tensor.half()` in PyTorch")]
    WrongDtype {
        /// Name of the tensor.
        name: String,
        /// Its type.
        dtype: Dtype,
    },
    /// A tensor's shape does not fit.
    #[error("{name} has shape {shape:?}; {rule}")]
    WrongShape {
        /// Name of the tensor.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// Required shape.
        rule: String,
    },
    /// A number is infinite or NaN.
    #[error("{name}[{head}, {row}, {element}] is {what}; attention of it has no finite result")]
    NotFinite {
        /// Name of the tensor.
        name: String,
        /// First index.
        head: usize,
        /// Second index.
        row: usize,
        /// Third index.
        element: usize,
        /// NaN or an infinity.
        what: &'static str,
    },
}

fn layers_there(layers: &[u32]) -> String {
    match (layers.first(), layers.last()) {
        (Some(first), Some(last)) => format!("the file has layers {first} to {last}"),
        _ => "it has no tensor named as layers.0.q".to_owned(),
    }
}

impl Tensors {
    /// Creates tensors from FP16 bits: `q` is `[heads, positions, head_dim]`, `k` and `v` are `[kv_heads,
    /// tokens, head_dim]`. Infinities and NaN are accepted.
    ///
    /// # Panics
    /// When they have another number of elements.
    pub fn new(
        [heads, kv_heads, positions, tokens, head_dim]: [usize; 5],
        [q, k, v]: [Vec<u16>; 3],
    ) -> Tensors {
        assert_eq!(q.len(), heads * positions * head_dim, "elements of q");
        assert_eq!((k.len(), v.len()), (kv_heads * tokens * head_dim, k.len()), "elements of k and v");
        Tensors { heads, kv_heads, positions, tokens, head_dim, q, k, v }
    }

    /// Creates zero queries without keys and values, for runs that measure only time.
    pub fn blank([heads, kv_heads, positions, tokens, head_dim]: [usize; 5]) -> Tensors {
        let q = vec![0; heads * positions * head_dim];
        Tensors { heads, kv_heads, positions, tokens, head_dim, q, k: Vec::new(), v: Vec::new() }
    }

    /// Returns the shape and the FP16 bits, in the order of [`Tensors::new`].
    pub fn into_parts(self) -> ([usize; 5], [Vec<u16>; 3]) {
        let shape = [self.heads, self.kv_heads, self.positions, self.tokens, self.head_dim];
        (shape, [self.q, self.k, self.v])
    }

    /// Reads a layer of a file.
    ///
    /// # Errors
    /// When the file or the layer's tensors are invalid; the message does not name the file.
    pub fn read(path: &Path, layer: u32) -> Result<Tensors, TensorError> {
        let mut file = File::open(path)?;
        let mut bytes = Vec::new();
        // What has no end, or is no such file, ends at its header.
        file.by_ref().take(8).read_to_end(&mut bytes)?;
        let header = <[u8; 8]>::try_from(bytes.as_slice()).map_or(0, u64::from_le_bytes);
        file.by_ref().take(header.min(MOST_HEADER)).read_to_end(&mut bytes)?;
        let tensors: Map<String, Value> =
            bytes.get(8..).and_then(|header| serde_json::from_slice(header).ok()).unwrap_or_default();
        let data =
            tensors.values().filter_map(|tensor| tensor["data_offsets"][1].as_u64()).max().unwrap_or(0);
        // One byte more than there should be, which is an error.
        file.take(data.saturating_add(1)).read_to_end(&mut bytes)?;
        Tensors::parse(&bytes, layer)
    }

    /// Parses a layer of a file's bytes.
    ///
    /// # Errors
    /// As [`Tensors::read`].
    pub fn parse(bytes: &[u8], layer: u32) -> Result<Tensors, TensorError> {
        let file = SafeTensors::deserialize(bytes).map_err(TensorError::Damaged)?;
        let name = |part: &str| format!("layers.{layer}.{part}");
        let (q_shape, q) = tensor(&file, &name("q"))?;
        let (k_shape, k) = tensor(&file, &name("k"))?;
        let (v_shape, v) = tensor(&file, &name("v"))?;
        let wrong = |part: &str, shape: [usize; 3], rule: String| {
            Err(TensorError::WrongShape { name: name(part), shape: shape.to_vec(), rule })
        };
        let [heads, positions, head_dim] = q_shape;
        let [kv_heads, tokens, _] = k_shape;
        if k_shape[2] != head_dim {
            return wrong("k", k_shape, format!("its rows must have the {head_dim} elements of the queries"));
        }
        if v_shape != k_shape {
            return wrong("v", v_shape, format!("it must be that of k, {k_shape:?}"));
        }
        if !heads.is_multiple_of(kv_heads) {
            return wrong("k", k_shape, format!("its heads must divide the {heads} of q"));
        }
        Ok(Tensors { heads, kv_heads, positions, tokens, head_dim, q, k, v })
    }

    /// Returns a query.
    pub fn query(&self, head: usize, position: usize) -> &[u16] {
        let first = (head * self.positions + position) * self.head_dim;
        &self.q[first..first + self.head_dim]
    }

    /// Returns the keys that a query head attends to, `tokens x head_dim`.
    pub fn keys(&self, head: usize) -> &[u16] {
        self.rows(&self.k, head)
    }

    /// Returns the values that a query head attends to, `tokens x head_dim`.
    pub fn values(&self, head: usize) -> &[u16] {
        self.rows(&self.v, head)
    }

    fn rows<'a>(&self, of: &'a [u16], head: usize) -> &'a [u16] {
        let elements = self.tokens * self.head_dim;
        let kv_head = head / (self.heads / self.kv_heads);
        &of[kv_head * elements..(kv_head + 1) * elements]
    }
}

/// Returns the layers with queries in a file's bytes, ascending.
///
/// # Errors
/// When it is no safetensors file.
pub fn layers(bytes: &[u8]) -> Result<Vec<u32>, TensorError> {
    Ok(layers_of(&SafeTensors::deserialize(bytes).map_err(TensorError::Damaged)?))
}

fn layers_of(file: &SafeTensors) -> Vec<u32> {
    let layer = |name: &&str| name.strip_prefix("layers.")?.strip_suffix(".q")?.parse().ok();
    let mut layers: Vec<u32> = file.names().iter().filter_map(layer).collect();
    layers.sort_unstable();
    layers
}

/// Returns shape and elements of a tensor with three dimensions, none of them 0. All elements are finite.
fn tensor(file: &SafeTensors, name: &str) -> Result<([usize; 3], Vec<u16>), TensorError> {
    let Ok(view) = file.tensor(name) else {
        return Err(TensorError::Missing { name: name.to_owned(), layers: layers_of(file) });
    };
    if view.dtype() != Dtype::F16 {
        return Err(TensorError::WrongDtype { name: name.to_owned(), dtype: view.dtype() });
    }
    let shape: [usize; 3] = match view.shape().try_into() {
        Ok(shape) if !view.shape().contains(&0) => shape,
        _ => {
            let rule = "it must have three dimensions, none of them empty: heads, rows, head_dim".to_owned();
            let (name, shape) = (name.to_owned(), view.shape().to_vec());
            return Err(TensorError::WrongShape { name, shape, rule });
        }
    };
    let bits: Vec<u16> = view.data().chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
    if let Some(index) = bits.iter().position(|&bits| fp16::is_special(bits)) {
        return Err(TensorError::NotFinite {
            name: name.to_owned(),
            head: index / (shape[1] * shape[2]),
            row: index / shape[2] % shape[1],
            element: index % shape[2],
            what: if bits[index] & 0x3ff == 0 { "infinite" } else { "NaN" },
        });
    }
    Ok((shape, bits))
}
