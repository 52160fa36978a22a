//! Tensors with logits at and beyond the range of the datapath, 2^31 before the scale.

use super::attention::tensors;
use meshkv::design::Design;
use meshkv::model::datapath::tensors::{Logits, Tensors};

/// 2^15 in FP16.
const LARGE: u16 = 0x7800;

/// Tensors of usual numbers but for the queries that are `large`, by position and head, and the keys of these
/// tokens, by KV head: each such product is 2^35.
pub fn beyond(
    design: &Design,
    tokens: usize,
    queries: &[(usize, usize)],
    keys: &[(usize, usize)],
) -> Tensors {
    let positions = design.model.max_streams as usize;
    let (shape, mut parts) = tensors(design, tokens, positions, Logits::Normal, 5).into_parts();
    let [q, k, _] = &mut parts;
    let dim = design.pe.head_dim as usize;
    for (position, head) in queries {
        q[(head * positions + position) * dim..][..dim].fill(LARGE);
    }
    for (kv_head, token) in keys {
        k[(kv_head * tokens + token) * dim..][..dim].fill(LARGE);
    }
    Tensors::new(shape, parts)
}
