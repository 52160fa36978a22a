//! Softmax state of one query head in a tile: the running maximum m, the sums o and l, and the scratchpad.
//!
//! K flits of a segment fill the scratchpad with [`Weight`]s; V flits empty it in blocks of as many tokens as
//! a flit has elements. m is an integer, so a new maximum only shifts the sums down. l is one more sum, over
//! a V flit of ones after each block. It needs no path of its own, and it adds exactly the weights that o
//! adds.

use super::dot::{dot, Lane};
use super::exp2::{Scale, Weight};
use super::fixed::{self, place, Phase};
use super::formats::WEIGHT_RANGE;
use super::params::{Datapath, DatapathShape};
use super::{fp16, part};
use std::ops::Range;

/// FP16 one. A flit of ones has l as its weighted sum.
const ONE: u16 = 0x3c00;

/// Query head as loaded into a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Stationary vectors for consecutive K flits: `head_dim / E` parts of the query. Where a flit holds
    /// several tokens, they are the query once at each place, with all other lanes blank.
    pub parts: Vec<Vec<Lane>>,
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
        let query: Vec<_> = elements.iter().map(|&bits| Lane::query(bits, &datapath.formats)).collect();
        let parts = if head_dim >= lanes {
            query.chunks(lanes).map(<[Lane]>::to_vec).collect()
        } else {
            let at = |place: usize| {
                let mut part = vec![Lane::default(); lanes];
                part[place * head_dim..(place + 1) * head_dim].copy_from_slice(&query);
                part
            };
            (0..lanes / head_dim).map(at).collect()
        };
        Query { parts, special: elements.iter().any(|&bits| fp16::is_special(bits)) }
    }
}

/// Attention of one query head over the tokens that a tile has received so far.
#[derive(Debug, Clone)]
pub struct Partial<'a> {
    datapath: &'a Datapath,
    query: Query,
    max: Option<i32>,
    sums: Vec<i128>,
    special: bool,
    beyond: bool,
    segment: Segment,
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
    /// V flits received, and the weights of their block.
    v_flits: usize,
    block: Vec<Lane>,
}

impl<'a> Partial<'a> {
    fn new(datapath: &'a Datapath, query: Query) -> Partial<'a> {
        let sums = vec![0; datapath.shape.head_dim as usize + 1];
        let special = query.special;
        Partial { datapath, query, max: None, sums, special, beyond: false, segment: Segment::default() }
    }

    /// Sizes.
    pub fn shape(&self) -> DatapathShape {
        self.datapath.shape
    }

    /// Begins a segment. The tokens `rows` count, all others are masked.
    pub fn begin_segment(&mut self, rows: Range<usize>) {
        self.segment = Segment { rows, ..Segment::default() };
    }

    /// Takes the next K flit of the segment.
    pub fn k_flit(&mut self, flit: &[u16]) {
        let head_dim = self.datapath.shape.head_dim as usize;
        let parts = self.query.parts.len();
        if head_dim >= flit.len() {
            let part = self.segment.k_flits % parts;
            let dot = dot(flit, &self.query.parts[part], &self.datapath.formats);
            self.segment.logit += place(dot, &self.datapath.formats, Phase::Logit);
            self.note_special(self.segment.weights.len(), flit);
            if part + 1 == parts {
                self.finish_token();
            }
        } else {
            for (part, keys) in flit.chunks(head_dim).enumerate() {
                let dot = dot(flit, &self.query.parts[part], &self.datapath.formats);
                self.segment.logit = place(dot, &self.datapath.formats, Phase::Logit);
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
        let segment = &mut self.segment;
        let logit = std::mem::take(&mut segment.logit);
        let weight = self.datapath.exp2.weight(self.datapath.scale.apply(logit));
        let counts = segment.rows.contains(&segment.weights.len());
        self.beyond |= counts && Scale::saturates(logit);
        segment.logits.push(logit);
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
        self.add(dim, flit);
        if dim + 1 == head_dim {
            self.add(head_dim, &vec![ONE; flit.len()]);
        }
        self.segment.v_flits += 1;
    }

    /// Raises m to the block's largest logit, shifts the sums down by as much, and loads the weights.
    fn begin_block(&mut self, first: usize) {
        let lanes = self.datapath.shape.flit_elements as usize;
        let scratchpad = &self.segment.weights;
        let weights: Vec<_> =
            (first..first + lanes).map(|token| scratchpad.get(token).copied().flatten()).collect();
        let max = weights.iter().flatten().map(|weight| weight.integer).chain(self.max).max();
        if let (Some(old), Some(new)) = (self.max, max) {
            let down = i64::from(new) - i64::from(old);
            // Bits shifted out are cut off. In RTL this happens when each sum is next read.
            self.sums.iter_mut().for_each(|sum| *sum >>= down.min(127));
        }
        self.max = max;
        self.segment.block = weights.into_iter().map(|weight| self.lane(weight)).collect();
    }

    /// Returns a weight relative to the maximum: blank if the token is masked or too far below.
    fn lane(&self, weight: Option<Weight>) -> Lane {
        let Some((weight, max)) = weight.zip(self.max) else { return Lane::default() };
        match u32::try_from(i64::from(max) - i64::from(weight.integer)) {
            Ok(below) if below <= WEIGHT_RANGE => {
                Lane { negative: false, significand: weight.significand, exponent: WEIGHT_RANGE - below }
            }
            _ => Lane::default(),
        }
    }

    fn add(&mut self, entry: usize, flit: &[u16]) {
        let dot = dot(flit, &self.segment.block, &self.datapath.formats);
        self.sums[entry] += place(dot, &self.datapath.formats, Phase::Sum);
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

    /// Stationary vector of weights for the present block of V.
    pub fn block(&self) -> &[Lane] {
        &self.segment.block
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
        packet.to_flits(self.datapath.shape.flit_elements)
    }
}
