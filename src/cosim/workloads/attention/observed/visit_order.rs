//! Segments that each tile visits for a head, in the order of the column controllers.
//!
//! Sums are shifted down when a running maximum rises, so the result depends on the order of
//! blocks.

use crate::cosim::workloads::shared::homes::Homes;
use crate::design::Descriptor;
use crate::design::{tile_of, Design, NodeId, Sharing};
use std::collections::BTreeMap;
use std::ops::Range;

/// A tile's part of the work for a query head of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Visit {
    /// The tile.
    pub tile: NodeId,
    /// Stream.
    pub stream: u32,
    /// Query head.
    pub head: u32,
}

/// For each tile, stream and head the attended segments in order: the first token of each, and its
/// tokens that count. Every home is where it was at the beginning.
pub fn visits(design: &Design, d: &Descriptor) -> BTreeMap<Visit, Vec<(u32, Range<u32>)>> {
    visits_of(design, &Homes::new(design), d)
}

/// The same with homes that may have swapped.
pub(in crate::cosim::workloads::attention) fn visits_of(
    design: &Design,
    homes: &Homes,
    d: &Descriptor,
) -> BTreeMap<Visit, Vec<(u32, Range<u32>)>> {
    let (model, tokens) = (&design.model, design.placement.segment_tokens);
    let group = model.group_heads();
    let rotation = design.placement.rotation();
    let mut all: BTreeMap<Visit, Vec<_>> = BTreeMap::new();
    let pieces = design.pieces(d.sharing);
    let placement = &design.placement;
    for (at, turn) in placement.laps().flat_map(|lap| placement.visits(lap, d.count)) {
        for piece in &pieces {
            let rho = if d.sharing == Sharing::Segment { 0 } else { piece.rho };
            let index = at * rotation + (rho + turn) % rotation;
            if index >= d.count {
                continue;
            }
            let segment = d.first + index * d.stride;
            let (from, to) = d.rows(index, tokens);
            let home = homes.tile(design, (d.prefix, d.layer, segment, piece.kv_head));
            for head in piece.kv_head * group..(piece.kv_head + 1) * group {
                if design.heads.column(head) != piece.column {
                    continue;
                }
                for stream in d.stream..d.stream + d.streams {
                    let tile = tile_of(design, d.mapping, stream, head, home);
                    let visit = Visit { tile, stream, head };
                    all.entry(visit).or_default().push((segment * tokens, from..to + 1));
                }
            }
        }
    }
    all
}
