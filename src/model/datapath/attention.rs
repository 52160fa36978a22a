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
        k,
        v,
        HeadScales { logit: datapath.scale, output: 1.0, narrow: Narrow::None },
        split,
    )
}

/// Returns the same with scales of the head: of its logits and of its output.
pub fn attend_scaled(
    datapath: &Datapath,
    q: &[u16],
    k: &[u16],
    v: &[u16],
    scales: HeadScales,
    split: &Split,
) -> Vec<u16> {
    let mut root = datapath.root().scaled(scales.output);
    for segments in split.iter().filter(|segments| !segments.is_empty()) {
        let partial = over(datapath.partial(q).scaled(scales.logit).narrowed(scales.narrow), k, v, segments);
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
    over(datapath.partial(q), k, v, segments)
}

/// A partial result over segments of all keys and values.
fn over<'a>(mut partial: Partial<'a>, k: &[u16], v: &[u16], segments: &[Range<usize>]) -> Partial<'a> {
    let shape = partial.shape();
    for tokens in segments {
        let elements = tokens.start * shape.head_dim as usize..tokens.end * shape.head_dim as usize;
        segment(&mut partial, &k[elements.clone()], &v[elements], 0..tokens.len());
    }
    partial
}

/// Adds one more segment to a tile's partial result: its tokens `rows` count, all others are masked.
pub fn segment(partial: &mut Partial, k: &[u16], v: &[u16], rows: Range<usize>) {
    let shape = partial.shape();
    partial.begin_segment(rows);
    k_flits(k, shape.flit_elements).iter().for_each(|flit| partial.k_flit(flit));
    v_flits(v, shape.head_dim, shape.flit_elements).iter().for_each(|flit| partial.v_flit(flit));
}
