//! Tensors of one layer, and their reader for safetensors files.

use super::error::{layers_of, TensorError};
use super::file::{self, TensorFile};
use crate::model::datapath::numbers::fp16;
use safetensors::Dtype;
use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::Path;

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
    /// Elements of a head of the model: those behind them are 0 in every row.
    pub model_dim: usize,
    q: Vec<u16>,
    k: Vec<u16>,
    v: Vec<u16>,
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
        Tensors { heads, kv_heads, positions, tokens, head_dim, model_dim: head_dim, q, k, v }
    }

    /// Creates zero queries without keys and values, for runs that measure only time.
    pub fn blank([heads, kv_heads, positions, tokens, head_dim]: [usize; 5]) -> Tensors {
        let (q, model_dim) = (vec![0; heads * positions * head_dim], head_dim);
        Tensors { heads, kv_heads, positions, tokens, head_dim, model_dim, q, k: Vec::new(), v: Vec::new() }
    }

    /// True if there are no keys and values ([`Tensors::blank`]).
    pub fn is_blank(&self) -> bool {
        self.k.is_empty()
    }

    /// Makes the first `prefix` tokens of each cache, which begin at these tokens, those of the first.
    ///
    /// # Panics
    /// When a cache has fewer tokens behind its first.
    pub fn share_prefix(&mut self, starts: &[u32], prefix: u32) {
        let (dim, elements) = (self.head_dim, self.tokens * self.head_dim);
        for head in [&mut self.k, &mut self.v].into_iter().flat_map(|all| all.chunks_mut(elements)) {
            for &start in starts {
                head.copy_within(..prefix as usize * dim, start as usize * dim);
            }
        }
    }

    /// Fills all rows up to `head_dim` elements with zeros. That changes no logit and no output, as long as the scale of
    /// logits remains that of the model's heads.
    ///
    /// # Panics
    /// When rows have more elements already.
    #[must_use]
    pub fn filled_up(self, head_dim: usize) -> Tensors {
        assert!(head_dim >= self.head_dim, "rows of {} elements", self.head_dim);
        let filled = |rows: Vec<u16>| {
            let mut all = Vec::with_capacity(rows.len() / self.head_dim * head_dim);
            for row in rows.chunks(self.head_dim) {
                all.extend_from_slice(row);
                all.resize(all.len() + head_dim - row.len(), 0);
            }
            all
        };
        let [q, k, v] = [self.q, self.k, self.v].map(filled);
        Tensors { head_dim, q, k, v, ..self }
    }

    /// Rows of the tensors, or outputs, without the zeros that fill them up.
    pub fn of_model<T: Copy>(&self, rows: &[T]) -> Vec<T> {
        rows.chunks(self.head_dim).flat_map(|row| &row[..self.model_dim]).copied().collect()
    }

    /// Returns the shape and the FP16 bits, in the order of [`Tensors::new`].
    pub fn into_parts(self) -> ([usize; 5], [Vec<u16>; 3]) {
        let shape = [self.heads, self.kv_heads, self.positions, self.tokens, self.head_dim];
        (shape, [self.q, self.k, self.v])
    }

    /// Reads a layer of a file: its header, and of the data these three tensors only.
    ///
    /// # Errors
    /// When the file or the layer's tensors are invalid; the message does not name the file.
    pub fn read(path: &Path, layer: u32) -> Result<Tensors, TensorError> {
        let opened = File::open(path)?;
        if opened.metadata()?.is_file() {
            return Tensors::of(TensorFile::open(opened)?, layer);
        }
        Tensors::parse(&file::piped(opened)?, layer)
    }

    /// Parses a layer of a file's bytes.
    ///
    /// # Errors
    /// As [`Tensors::read`].
    pub fn parse(bytes: &[u8], layer: u32) -> Result<Tensors, TensorError> {
        Tensors::of(TensorFile::open(Cursor::new(bytes))?, layer)
    }

    fn of(mut file: TensorFile<impl Read + Seek>, layer: u32) -> Result<Tensors, TensorError> {
        let name = |part: &str| format!("layers.{layer}.{part}");
        let (q_shape, q) = tensor(&mut file, &name("q"))?;
        let (k_shape, k) = tensor(&mut file, &name("k"))?;
        let (v_shape, v) = tensor(&mut file, &name("v"))?;
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
        Ok(Tensors::new([heads, kv_heads, positions, tokens, head_dim], [q, k, v]))
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
    Ok(layers_of(&TensorFile::open(Cursor::new(bytes))?.names()))
}

/// Returns shape and elements of a tensor with three dimensions, none of them 0. All elements are finite.
fn tensor(
    file: &mut TensorFile<impl Read + Seek>,
    name: &str,
) -> Result<([usize; 3], Vec<u16>), TensorError> {
    let info = file.info(name)?;
    if info.dtype != Dtype::F16 {
        return Err(TensorError::WrongDtype { name: name.to_owned(), dtype: info.dtype });
    }
    let shape: [usize; 3] = match info.shape.as_slice().try_into() {
        Ok(shape) if !info.shape.contains(&0) => shape,
        _ => {
            let rule = "it must have three dimensions, none of them empty: heads, rows, head_dim".to_owned();
            let (name, shape) = (name.to_owned(), info.shape.clone());
            return Err(TensorError::WrongShape { name, shape, rule });
        }
    };
    let bytes = file.bytes(name)?;
    let bits: Vec<u16> = bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
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
