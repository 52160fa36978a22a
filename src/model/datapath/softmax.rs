//! Softmax state of one query head in a tile: the running maximum m, the sums o and l, and the scratchpad.
//!
//! K flits of a segment fill the scratchpad with [`Weight`]s; V flits empty it in blocks of as many tokens as
//! a flit has elements. m is an integer, so a new maximum only shifts the sums down. l is one more sum, over
//! a V flit of ones after each block. It needs no path of its own, and it adds exactly the weights that o
//! adds.

use super::dot::{align, dot, Dot, Vector};
use super::params::{Datapath, DatapathShape};
use crate::config::Narrow;
use crate::model::datapath::numbers::exp2::{Scale, Weight};
use crate::model::datapath::numbers::fixed::{self, place, Phase};
use crate::model::datapath::numbers::formats::{Formats, WEIGHT_RANGE};
use crate::model::datapath::numbers::fp16;
use crate::model::datapath::numbers::rounding::half_up;
use crate::model::datapath::reduction::part;
use std::ops::Range;

/// FP16 one. A flit of ones has l as its weighted sum.
const ONE: u16 = 0x3c00;
/// Bits that a weight has more in the sum of a block than in a lane.
const TOTAL_BITS: u32 = 5;

/// Query head as loaded into a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Stationary vectors for consecutive K flits: `head_dim / E` parts of the query. Where a flit holds
    /// several tokens, it is the query once at each place; the elements of other tokens are left out.
    pub parts: Vec<Vector>,
    /// An element is infinite or NaN.
    pub special: bool,
}

impl Datapath {
    /// Creates the state of a query head at a tile without tokens so far.
    pub fn partial(&self, query: &[u16]) -> Partial<'_> {
        Partial::new(self, Query::new(self, query))
    }
}

impl Query {
    fn new(datapath: &Datapath, elements: &[u16]) -> Query {
        let (head_dim, lanes) = (datapath.shape.head_dim as usize, datapath.shape.flit_elements as usize);
        assert_eq!(elements.len(), head_dim, "a query has head_dim elements");
        let formats = &datapath.formats;
        let parts = elements.chunks(lanes).map(|part| {
            let mut vector = Vector::query(part, formats);
            vector.lanes = vector.lanes.repeat(lanes / part.len());
            vector
        });
        let parts = parts.collect();
        Query { parts, special: elements.iter().any(|&bits| fp16::is_special(bits)) }
    }
}

/// Attention of one query head over the tokens that a tile has received so far.
#[derive(Debug, Clone)]
pub struct Partial<'a> {
    datapath: &'a Datapath,
    query: Query,
    scale: Scale,
    narrow: Narrow,
    max: Option<i32>,
    sums: Vec<i128>,
    special: bool,
    beyond: bool,
    segment: Segment,
}

/// Powers of two by which one integer part lies below another.
fn below(above: i32, of: i32) -> i64 {
    i64::from(above) - i64::from(of)
}

/// Returns a block's weights relative to its largest, and that one relative to m. Masked tokens are blank, as is a block
/// too far below m.
fn relative(
    weights: &[Option<Weight>],
    of_block: Option<i32>,
    max: Option<i32>,
    formats: &Formats,
) -> Vector {
    let of_max = max.zip(of_block).map_or(0, |(max, of_block)| below(max, of_block));
    let lack = |weight: &Option<Weight>| {
        weight.map(|w| (w.significand, below(of_block.expect("a block with a weight"), w.integer) as u32))
    };
    Vector::weights(&weights.iter().map(lack).collect::<Vec<_>>(), of_max, formats)
}

/// Returns the sum of a block's weights, which have five bits more than the lanes of a stationary vector, as the dot of a flit
/// of ones.
fn total(weights: &[Option<Weight>], of_block: Option<i32>, max: Option<i32>, formats: &Formats) -> Dot {
    let exponent = formats.fixed_exponent.expect("tokens of this format have scales");
    let of_max = max.zip(of_block).map_or(0, |(max, of_block)| below(max, of_block));
    let is_near = of_max <= i64::from(WEIGHT_RANGE);
    let number = |w: &Weight| {
        let lack = below(of_block.expect("a block with a weight"), w.integer);
        half_up(i64::from(w.significand) << TOTAL_BITS, lack as u32)
    };
    let sum: i64 = weights.iter().flatten().filter(|_| is_near).map(number).sum();
    // A one lies this many places up.
    let one = formats.window_bits - 1 - (exponent - u32::from(ONE >> 10));
    Dot {
        sum: sum << (one - TOTAL_BITS),
        exponent: exponent + (i64::from(WEIGHT_RANGE) - of_max).max(0) as u32,
    }
}

/// Position in a segment, and its scratchpad.
#[derive(Debug, Clone, Default)]
struct Segment {
    rows: Range<usize>,
    /// K flits received, and the partial sum of the logit.
    k_flits: usize,
    logit: i128,
    logits: Vec<i128>,
    weights: Vec<Option<Weight>>,
    /// Scales of K and of V of the tokens, in FP16; none where tokens have none. And the weights times those of V.
    scales: Vec<[u16; 2]>,
    scaled: Vec<Option<Weight>>,
    /// V flits received, the weights of their block, and the sum of those without scales of V.
    v_flits: usize,
    block: Option<Vector>,
    total: Option<Dot>,
}

impl Segment {
    /// Scales of K and of V of a token; those behind the last count for nothing.
    fn scales(&self, token: usize) -> Option<[u16; 2]> {
        (!self.scales.is_empty()).then(|| self.scales.get(token).copied().unwrap_or([ONE; 2]))
    }
}

impl<'a> Partial<'a> {
    fn new(datapath: &'a Datapath, query: Query) -> Partial<'a> {
        let sums = vec![0; datapath.shape.head_dim as usize + 1];
        let special = query.special;
        Partial {
            datapath,
            query,
            scale: datapath.scale,
            narrow: Narrow::None,
            max: None,
            sums,
            special,
            beyond: false,
            segment: Segment::default(),
        }
    }

    /// The same with another scale of logits, before the first segment.
    #[must_use]
    pub fn scaled(self, scale: Scale) -> Partial<'a> {
        Partial { scale, ..self }
    }

    /// The same with stationary numbers of nine bits, where they are packed; before the first segment.
    #[must_use]
    pub fn narrowed(mut self, narrow: Narrow) -> Partial<'a> {
        if self.datapath.formats.packed {
            self.narrow = narrow;
        }
        if self.narrow.keys() {
            self.query.parts = self.query.parts.into_iter().map(Vector::narrow).collect();
        }
        self
    }

    /// Sizes.
    pub fn shape(&self) -> DatapathShape {
        self.datapath.shape
    }

    /// Begins a segment. The tokens `rows` count, all others are masked.
    pub fn begin_segment(&mut self, rows: Range<usize>) {
        self.segment = Segment { rows, ..Segment::default() };
    }

    /// Begins a segment whose tokens have these scales of K and of V, normal numbers of FP16.
    pub fn begin_scaled_segment(&mut self, rows: Range<usize>, scales: &[[u16; 2]]) {
        self.segment = Segment { rows, scales: scales.to_vec(), ..Segment::default() };
    }

    /// The scale of the logit of the next token.
    fn scale_of_token(&self) -> Scale {
        let token = self.segment.scales(self.segment.weights.len());
        token.map_or(self.scale, |[k, _]| self.scale.times(k))
    }

    /// Takes the next K flit of the segment.
    pub fn k_flit(&mut self, flit: &[u16]) {
        let head_dim = self.datapath.shape.head_dim as usize;
        let parts = self.query.parts.len();
        let formats = &self.datapath.formats;
        if head_dim >= flit.len() {
            let part = self.segment.k_flits % parts;
            let dot = dot(&align(flit, |_| true, formats), &self.query.parts[part], formats);
            let rise = self.scale_of_token().rise;
            self.segment.logit += place(dot.risen(rise), formats, Phase::Logit);
            self.note_special(self.segment.weights.len(), flit);
            if part + 1 == parts {
                self.finish_token();
            }
        } else {
            for (place_of, keys) in flit.chunks(head_dim).enumerate() {
                let dot = dot(
                    &align(flit, |lane| lane / head_dim == place_of, formats),
                    &self.query.parts[0],
                    formats,
                );
                let rise = self.scale_of_token().rise;
                self.segment.logit = place(dot.risen(rise), formats, Phase::Logit);
                self.note_special(self.segment.weights.len(), keys);
                self.finish_token();
            }
        }
        self.segment.k_flits += 1;
    }

    fn note_special(&mut self, token: usize, elements: &[u16]) {
        self.special |=
            self.segment.rows.contains(&token) && elements.iter().any(|&bits| fp16::is_special(bits));
    }

    fn finish_token(&mut self) {
        let scale = self.scale_of_token();
        let segment = &mut self.segment;
        let logit = std::mem::take(&mut segment.logit);
        let weight = self.datapath.exp2.weight(scale.apply(logit));
        let counts = segment.rows.contains(&segment.weights.len());
        self.beyond |= counts && Scale::saturates(logit);
        segment.logits.push(logit);
        if let Some([_, v]) = segment.scales(segment.weights.len()) {
            segment.scaled.push(counts.then(|| weight.times(v)));
        }
        segment.weights.push(counts.then_some(weight));
    }

    /// Takes the next V flit of the segment: one dim of a block of tokens.
    pub fn v_flit(&mut self, flit: &[u16]) {
        let head_dim = self.datapath.shape.head_dim as usize;
        let (block, dim) = (self.segment.v_flits / head_dim, self.segment.v_flits % head_dim);
        let first = block * flit.len();
        if dim == 0 {
            self.begin_block(first);
        }
        let tokens = first..first + flit.len();
        let special =
            |(token, &bits): (usize, &u16)| self.segment.rows.contains(&token) && fp16::is_special(bits);
        self.special |= tokens.zip(flit).any(special);
        self.add(dim, first, flit);
        if dim + 1 == head_dim {
            match self.segment.total {
                Some(total) => self.sums[head_dim] += place(total, &self.datapath.formats, Phase::Sum),
                None => self.add(head_dim, first, &vec![ONE; flit.len()]),
            }
        }
        self.segment.v_flits += 1;
    }

    /// Raises m to the block's largest logit, shifts the sums down by as much, and loads the weights.
    fn begin_block(&mut self, first: usize) {
        let lanes = self.datapath.shape.flit_elements as usize;
        let of = |scratchpad: &[Option<Weight>]| -> Vec<_> {
            (first..first + lanes).map(|token| scratchpad.get(token).copied().flatten()).collect()
        };
        let (weights, scaled) = (of(&self.segment.weights), of(&self.segment.scaled));
        let has_scales = !self.segment.scales.is_empty();
        let formats = &self.datapath.formats;
        let largest = |weights: &[Option<Weight>]| weights.iter().flatten().map(|w| w.top(formats)).max();
        let of_block = match has_scales {
            true => weights.iter().flatten().map(|weight| weight.integer).max(),
            false => largest(&weights),
        };
        let max = of_block.max(self.max);
        if let (Some(old), Some(new)) = (self.max, max) {
            let down = i64::from(new) - i64::from(old);
            // Bits shifted out are cut off. In RTL this happens when each sum is next read.
            self.sums.iter_mut().for_each(|sum| *sum >>= down.min(127));
        }
        self.max = max;
        let block = match has_scales {
            true => relative(&scaled, largest(&scaled), max, formats),
            false => relative(&weights, of_block, max, formats),
        };
        self.segment.total = has_scales.then(|| total(&weights, of_block, max, formats));
        self.segment.block = Some(if self.narrow.values() { block.narrow() } else { block });
    }

    /// Adds the weighted sum of a flit to a sum. Tokens that do not count are left out.
    fn add(&mut self, entry: usize, first: usize, flit: &[u16]) {
        let (formats, rows) = (&self.datapath.formats, &self.segment.rows);
        let flit = align(flit, |lane| rows.contains(&(first + lane)), formats);
        let block = self.segment.block.as_ref().expect("the block's first flit has loaded its weights");
        self.sums[entry] += place(dot(&flit, block, formats), formats, Phase::Sum);
    }

    /// Sums of q*k of the segment's tokens, with `logit_fraction` bits below the point.
    pub fn logits(&self) -> &[i128] {
        &self.segment.logits
    }

    /// Tokens of the segment that count and whose logits saturate, by their place in it.
    pub fn saturated(&self) -> impl Iterator<Item = usize> + '_ {
        let tokens = self.segment.logits.iter().zip(&self.segment.weights).enumerate();
        let beyond = tokens.filter(|(_, (logit, weight))| weight.is_some() && Scale::saturates(**logit));
        beyond.map(|(token, _)| token)
    }

    /// A logit of a token that counts, in any segment so far, has saturated.
    pub fn has_saturated(&self) -> bool {
        self.beyond
    }

    /// Scratchpad; masked tokens have no weight.
    pub fn weights(&self) -> &[Option<Weight>] {
        &self.segment.weights
    }

    /// Stationary vector of weights for the present block of V, if there is one.
    pub fn block(&self) -> Option<&Vector> {
        self.segment.block.as_ref()
    }

    /// m, the largest integer part of a logit in base 2; none before the first token that counts.
    pub fn max(&self) -> Option<i32> {
        self.max
    }

    /// o\[0..head_dim\], then l, with `sum_fraction` bits below the point and 2^m as the unit.
    pub fn sums(&self) -> &[i128] {
        &self.sums
    }

    /// q, or K or V of a token that counts, had an infinity or a NaN.
    pub fn special(&self) -> bool {
        self.special
    }

    /// Returns the PART packet: m, l and o.
    pub fn to_flits(&self) -> Vec<Vec<u16>> {
        let fraction = self.datapath.formats.sum_fraction;
        let word = |&sum: &i128| if self.special { fixed::FP32_NAN } else { fixed::to_fp32(sum, fraction) };
        let mut packet =
            part::Packet { max: self.max.unwrap_or(0), sums: self.sums.iter().map(word).collect() };
        packet.set_saturated(self.beyond && !self.special);
        packet.to_flits(self.datapath.shape.flit_halves())
    }
}
