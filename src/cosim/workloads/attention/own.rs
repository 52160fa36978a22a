//! Streams with a cache of their own, and the contents that a host writes into external memory for them.

use crate::design::Design;
use crate::model::datapath::layout::{k_flits, v_flits};
use crate::model::datapath::numbers::element::bytes_of;
use crate::model::datapath::tensors::Tensors;
use crate::model::datapath::Tokens;
use std::ops::Range;

/// A stream of a job with a cache of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    /// Number of its cache in external memory.
    pub cache: u32,
    /// Tokens of the tensors that are its cache, the common prefix included.
    pub tokens: Range<u32>,
    /// Position of its query in the tensors.
    pub query: usize,
    /// The last token is new: the run brings its K and V.
    pub append: bool,
}

/// The slices of a cache as a host writes them, without those of its first `common` tokens: each with its segment,
/// its number and its bytes. K and V are whole flits, filled up with zeros.
pub(in crate::cosim) fn slices<'a>(
    design: &'a Design,
    tensors: &'a Tensors,
    cache: u32,
    tokens: &Range<u32>,
    common: u32,
) -> impl Iterator<Item = (u32, (u64, Vec<u8>))> + 'a {
    let (dim, per_segment) = (design.pe.head_dim as usize, design.placement.segment_tokens);
    let (start, end) = (tokens.start, tokens.end);
    let segments = common / per_segment..(end - start).div_ceil(per_segment);
    let slice = move |segment: u32, g: u32| {
        let first = start + segment * per_segment;
        let elements = first as usize * dim..(first + per_segment).min(end) as usize * dim;
        let head = (g * design.model.group_heads()) as usize;
        let (keys, values) = (&tensors.keys(head)[elements.clone()], &tensors.values(head)[elements]);
        let tokens = first as usize..(first + per_segment).min(end) as usize;
        let scales = token_scales(design, tensors, head, tokens);
        let tokens = Tokens { k: keys, v: values, scales: scales.as_deref() };
        (segment, (design.slice_number(cache, 0, segment, g), slice_bytes(design, tokens)))
    };
    segments.flat_map(move |segment| (0..design.model.kv_heads).map(move |g| slice(segment, g)))
}

/// Scales of some tokens, where a design has those: 1 for tensors without.
pub(in crate::cosim) fn token_scales(
    design: &Design,
    tensors: &Tensors,
    head: usize,
    tokens: Range<usize>,
) -> Option<Vec<[u16; 2]>> {
    const ONE: u16 = 0x3c00;
    design.pe.has_token_scales().then(|| match tensors.token_scales(head) {
        Some(scales) => scales[tokens].to_vec(),
        None => vec![[ONE; 2]; tokens.len()],
    })
}

/// A slice with these tokens as a host writes it.
pub(in crate::cosim) fn slice_bytes(design: &Design, tokens: Tokens) -> Vec<u8> {
    let (lanes, mare) = (design.flit.elements, &design.mare);
    let scales = tokens.scales.unwrap_or_default().iter().flatten();
    let mut bytes: Vec<u8> = scales.flat_map(|bits| bits.to_le_bytes()).collect();
    bytes.resize((mare.key_base * design.flit.data_width / 8) as usize, 0);
    let mut flits = k_flits(tokens.k, lanes);
    flits.resize(mare.half_flits as usize, vec![0; lanes as usize]);
    flits.extend(v_flits(tokens.v, design.pe.head_dim, lanes));
    bytes.extend(flits.iter().flat_map(|flit| bytes_of(design.pe.format, flit)));
    bytes
}
