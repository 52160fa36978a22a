//! Attention of a whole head: tokens cut into segments, segments dealt to tiles, partial results merged at a
//! root.

use super::layout::{k_flits, v_flits};
use super::numbers::scales::HeadScales;
use super::params::Datapath;
use super::softmax::Partial;
use crate::config::Narrow;
use std::ops::Range;

/// Assignment of tokens to tiles: for each tile the token ranges of its segments, in visiting order.
pub type Split = Vec<Vec<Range<usize>>>;

/// Cuts tokens into segments of `segment_tokens`, dealt to `tiles` tiles in turn.
pub fn split(tokens: usize, segment_tokens: usize, tiles: usize) -> Split {
    let mut split = vec![Vec::new(); tiles];
    for (segment, first) in (0..tokens).step_by(segment_tokens).enumerate() {
        split[segment % tiles].push(first..tokens.min(first + segment_tokens));
    }
    split
}

/// Returns the attention of one query, as FP16: `q` has head_dim elements, `k` and `v` have `tokens x
/// head_dim`.
///
/// Tiles without a segment send nothing; the others are merged in order.
pub fn attend(datapath: &Datapath, q: &[u16], k: &[u16], v: &[u16], split: &Split) -> Vec<u16> {
    attend_scaled(
        datapath,
        q,
        Tokens { k, v, scales: None },
        HeadScales { logit: datapath.scale, output: 1.0, narrow: Narrow::None, sink: None },
        split,
    )
}

/// Keys and values of some tokens, `tokens x head_dim` each, with their scales: of K and of V, normal numbers of FP16. None
/// where tokens have no scales.
#[derive(Debug, Clone, Copy)]
pub struct Tokens<'a> {
    /// Keys.
    pub k: &'a [u16],
    /// Values.
    pub v: &'a [u16],
    /// Scales, one pair a token.
    pub scales: Option<&'a [[u16; 2]]>,
}

impl<'a> Tokens<'a> {
    /// Some of the tokens, whose rows have so many elements.
    #[must_use]
    pub fn part(&self, tokens: Range<usize>, head_dim: usize) -> Tokens<'a> {
        let elements = tokens.start * head_dim..tokens.end * head_dim;
        Tokens {
            k: &self.k[elements.clone()],
            v: &self.v[elements],
            scales: self.scales.map(|scales| &scales[tokens]),
        }
    }
}

/// Returns the same with scales of the head: of its logits and of its output.
pub fn attend_scaled(
    datapath: &Datapath,
    q: &[u16],
    tokens: Tokens,
    scales: HeadScales,
    split: &Split,
) -> Vec<u16> {
    let mut root = datapath.root().scaled(scales.output).sunk(scales.sink);
    for segments in split.iter().filter(|segments| !segments.is_empty()) {
        let partial = datapath.partial(q).scaled(scales.logit).narrowed(scales.narrow);
        let partial = over(partial, tokens, segments);
        root.merge(&partial.to_flits());
    }
    root.output()
}

/// Returns one tile's partial result over its segments.
pub fn tile<'a>(
    datapath: &'a Datapath,
    q: &[u16],
    k: &[u16],
    v: &[u16],
    segments: &[Range<usize>],
) -> Partial<'a> {
    over(datapath.partial(q), Tokens { k, v, scales: None }, segments)
}

/// A partial result over segments of all keys and values.
fn over<'a>(mut partial: Partial<'a>, all: Tokens, segments: &[Range<usize>]) -> Partial<'a> {
    let head_dim = partial.shape().head_dim as usize;
    for tokens in segments {
        segment(&mut partial, all.part(tokens.clone(), head_dim), 0..tokens.len());
    }
    partial
}

/// Adds one more segment to a tile's partial result: its tokens `rows` count, all others are masked.
pub fn segment(partial: &mut Partial, tokens: Tokens, rows: Range<usize>) {
    let shape = partial.shape();
    match tokens.scales {
        Some(scales) => partial.begin_scaled_segment(rows, scales),
        None => partial.begin_segment(rows),
    }
    k_flits(tokens.k, shape.flit_elements).iter().for_each(|flit| partial.k_flit(flit));
    v_flits(tokens.v, shape.head_dim, shape.flit_elements).iter().for_each(|flit| partial.v_flit(flit));
}
