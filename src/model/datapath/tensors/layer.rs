//! Tensors of one layer, and their reader for safetensors files.

use super::error::{layers_of, TensorError};
use super::file::{self, TensorFile};
use super::numbers::{self, Numbers};
use crate::config::{KvFormat, KvScales};
use crate::design::Design;
use crate::model::datapath::numbers::element::{self, nearest};
use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::Path;

/// Attention inputs of one layer, as FP16 bits: those of keys and values are numbers of their format.
#[derive(Debug, Clone, PartialEq)]
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
    /// Format of which all keys and values are numbers.
    pub format: KvFormat,
    /// Numbers of a file that are not of FP16, and were rounded.
    pub rounded: usize,
    /// Factors of keys and of values, by KV head.
    scales: Vec<[f32; 2]>,
    /// Scales of keys and of values beside those factors, in FP16, by KV head and token; none if tokens have none.
    token_scales: Vec<[u16; 2]>,
    /// Sink of each query head, a logit to base e; none if the layer has none.
    sinks: Vec<f32>,
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
        let (model_dim, format) = (head_dim, KvFormat::Fp16);
        let (scales, token_scales) = (vec![[1.0; 2]; kv_heads], Vec::new());
        Tensors {
            heads,
            kv_heads,
            positions,
            tokens,
            head_dim,
            model_dim,
            format,
            rounded: 0,
            scales,
            token_scales,
            sinks: Vec::new(),
            q,
            k,
            v,
        }
    }

    /// Creates zero queries without keys and values, for runs that measure only time.
    pub fn blank([heads, kv_heads, positions, tokens, head_dim]: [usize; 5]) -> Tensors {
        let q = vec![0; heads * positions * head_dim];
        let (model_dim, format, k, v) = (head_dim, KvFormat::Fp16, Vec::new(), Vec::new());
        let (scales, token_scales) = (vec![[1.0; 2]; kv_heads], Vec::new());
        Tensors {
            heads,
            kv_heads,
            positions,
            tokens,
            head_dim,
            model_dim,
            format,
            rounded: 0,
            scales,
            token_scales,
            sinks: Vec::new(),
            q,
            k,
            v,
        }
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
        for head in self.token_scales.chunks_mut(self.tokens) {
            starts.iter().for_each(|&start| head.copy_within(..prefix as usize, start as usize));
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

    /// Rounds keys and values to numbers of a format ([`nearest`]); queries stay.
    #[must_use]
    pub fn rounded(mut self, format: KvFormat) -> Tensors {
        if format != KvFormat::Fp16 {
            self.k.iter_mut().chain(&mut self.v).for_each(|bits| *bits = nearest(format, *bits));
        }
        self.format = format;
        self
    }

    /// Divides the keys and the values of each KV head by the factor that makes the largest of them the largest number of
    /// the format, and rounds what results. Formats with the range of FP16 have factors of 1.
    #[must_use]
    pub fn quantised(mut self, format: KvFormat) -> Tensors {
        if matches!(format, KvFormat::Fp8E4m3 | KvFormat::Int8) && !self.is_blank() {
            let elements = self.tokens * self.head_dim;
            for (part, rows) in [&mut self.k, &mut self.v].into_iter().enumerate() {
                for (head, scales) in rows.chunks_mut(elements).zip(&mut self.scales) {
                    scales[part] = element::largest_fits(format, head);
                    let inverse = 1.0 / scales[part];
                    head.iter_mut().for_each(|bits| *bits = element::quantised(format, *bits, inverse));
                }
            }
        }
        self.rounded(format)
    }

    /// Divides the keys and the values of each token and KV head by the scale that makes the largest of them the largest number
    /// of the format ([`element::token_scale`]), and rounds what results. A device that appends does the same.
    #[must_use]
    pub fn quantised_by_token(mut self, format: KvFormat) -> Tensors {
        let (rows, dim) = (self.kv_heads * self.tokens, self.head_dim);
        self.token_scales = vec![[element::token_scale(format, &[]); 2]; rows];
        for (part, elements) in [&mut self.k, &mut self.v].into_iter().enumerate() {
            for (row, scales) in elements.chunks_mut(dim).zip(&mut self.token_scales) {
                scales[part] = element::token_scale(format, row);
                let inverse = element::token_inverse(scales[part]);
                row.iter_mut().for_each(|bits| *bits = element::quantised(format, *bits, inverse));
            }
        }
        self.rounded(format)
    }

    /// Fills up the rows and brings the numbers into the format of a design: [`Tensors::filled_up`], then
    /// [`Tensors::quantised_by_token`] or [`Tensors::quantised`] where it has such scales, else [`Tensors::rounded`].
    #[must_use]
    pub fn of_design(self, design: &Design) -> Tensors {
        self.filled_up(design.pe.head_dim as usize).brought(design)
    }

    fn brought(self, design: &Design) -> Tensors {
        match design.pe.scales {
            KvScales::Token => self.quantised_by_token(design.pe.format),
            KvScales::Head => self.quantised(design.pe.format),
            KvScales::Auto | KvScales::None => self.rounded(design.pe.format),
        }
    }

    /// Brings numbers of 16 bits into the format of a design, as [`Tensors::of_design`], where that has eight. Those of eight
    /// bits stay what they are.
    #[must_use]
    pub fn in_format_of(mut self, design: &Design) -> Tensors {
        let format = design.pe.format;
        match (self.format.bytes(), format.bytes()) {
            (2, 1) => self.brought(design),
            (2, _) => {
                // BF16 lies as FP16.
                self.format = format;
                self
            }
            _ => self,
        }
    }

    /// Factors of the keys and of the values that a query head attends to.
    pub fn scales(&self, head: usize) -> [f32; 2] {
        self.scales[head / (self.heads / self.kv_heads)]
    }

    /// Scales of the keys and of the values of the tokens that a query head attends to, in FP16, beside
    /// [`Tensors::scales`]; none where tokens have none.
    pub fn token_scales(&self, head: usize) -> Option<&[[u16; 2]]> {
        let kv_head = head / (self.heads / self.kv_heads);
        (!self.token_scales.is_empty()).then(|| &self.token_scales[kv_head * self.tokens..][..self.tokens])
    }

    /// Sink of a query head, a logit to base e; none if the layer has none.
    pub fn sink(&self, head: usize) -> Option<f32> {
        self.sinks.get(head).copied()
    }

    /// The same numbers with sinks, a logit to base e a query head.
    ///
    /// # Panics
    /// When there are not as many as query heads.
    #[must_use]
    pub fn with_sinks(self, sinks: Vec<f32>) -> Tensors {
        assert_eq!(sinks.len(), self.heads, "sinks");
        Tensors { sinks, ..self }
    }

    /// The same numbers with another scale of logits than 1 / sqrt(d_h): the factors of keys are multiplied.
    #[must_use]
    pub fn with_sm_scale(mut self, sm_scale: f64) -> Tensors {
        let ratio = sm_scale * (self.model_dim as f64).sqrt();
        self.scales.iter_mut().for_each(|[k, _]| *k = (f64::from(*k) * ratio) as f32);
        self
    }

    /// The same numbers with other scales of tokens, by KV head and token: of keys, and of values.
    ///
    /// # Panics
    /// When there are not as many as tokens of all KV heads.
    #[must_use]
    pub fn with_token_scales(self, token_scales: Vec<[u16; 2]>) -> Tensors {
        assert_eq!(token_scales.len(), self.kv_heads * self.tokens, "scales of tokens");
        Tensors { token_scales, ..self }
    }

    /// The same numbers with other factors, by KV head: of keys, and of values.
    ///
    /// # Panics
    /// When there are not as many as KV heads.
    #[must_use]
    pub fn with_scales(self, scales: Vec<[f32; 2]>) -> Tensors {
        assert_eq!(scales.len(), self.kv_heads, "factors of KV heads");
        Tensors { scales, ..self }
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
        let q = Numbers::read(&mut file, &name("q"))?.of_queries(&name("q"))?;
        let k = Numbers::read(&mut file, &name("k"))?;
        let v = Numbers::read(&mut file, &name("v"))?.like(&k, &name("v"))?;
        let (q_shape, k_shape, v_shape, format) = (q.shape, k.shape, v.shape, k.format);
        let rounded = q.rounded + k.rounded + v.rounded;
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
        let [k_scales, v_scales] = [
            numbers::factors(&mut file, &name("k_scale"), (kv_heads, tokens))?,
            numbers::factors(&mut file, &name("v_scale"), (kv_heads, tokens))?,
        ];
        let scales = k_scales.of_heads.into_iter().zip(v_scales.of_heads).map(|(k, v)| [k, v]).collect();
        let shape = [heads, kv_heads, positions, tokens, head_dim];
        let tensors = Tensors::new(shape, [q.elements, k.elements, v.elements]).with_scales(scales);
        let token_scales = numbers::pairs(k_scales.of_tokens, v_scales.of_tokens);
        let sinks = numbers::sinks(&mut file, &name("sinks"), heads)?;
        Ok(Tensors { format, rounded, token_scales, sinks, ..tensors })
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
