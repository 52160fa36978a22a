//! Expected slices: the needs of every tile for a descriptor, computed a second time in Rust.
//!
//! They follow from [`tile_of`] alone, head by head and segment by segment. Nothing here knows
//! pieces, rotations or the order in which the fabric visits them, so the two are independent.

use crate::cosim::workloads::shared::homes::Homes;
use crate::cosim::workloads::SliceId;
use crate::design::{flits_of_rows, tile_of, Descriptor, Design, Mapping, NodeId, Sharing};
use std::collections::BTreeMap;

/// A slice that a tile must get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cosim::workloads::decode) struct Need {
    /// The tile.
    pub(in crate::cosim::workloads::decode) tile: NodeId,
    /// The slice.
    pub(in crate::cosim::workloads::decode) slice: SliceId,
    /// Heads of the tile that receive it, of any stream; the bit is the head's place in the column.
    pub(in crate::cosim::workloads::decode) mask: u64,
    /// First and last row needed.
    pub(in crate::cosim::workloads::decode) rows: (u32, u32),
}

/// All needs of a descriptor.
pub(in crate::cosim::workloads::decode) fn needs(
    design: &Design,
    homes: &Homes,
    d: &Descriptor,
) -> Vec<Need> {
    let model = &design.model;
    let group = model.group_heads();
    let mut needs = Vec::new();
    for (index, segment) in d.segments().enumerate() {
        let rows = d.rows(index as u32, design.placement.segment_tokens);
        for slice in 0..model.kv_heads {
            let home = homes.tile(design, (d.prefix, d.layer, segment, slice));
            let heads = match d.sharing {
                Sharing::KvHead => slice * group..(slice + 1) * group,
                Sharing::Segment => 0..model.heads,
            };
            let mut masks: BTreeMap<NodeId, u64> = BTreeMap::new();
            for head in heads {
                let bit = 1 << design.heads.index(head);
                for stream in d.stream..d.stream + d.streams {
                    let tile = tile_of(design, d.mapping, stream, head, home);
                    *masks.entry(tile).or_default() |= bit;
                }
            }
            let slice = SliceId { stream: d.prefix, layer: d.layer, segment, slice };
            needs.extend(masks.into_iter().map(|(tile, mask)| Need { tile, slice, mask, rows }));
        }
    }
    needs
}

/// Tiles that send a partial result of a head when its stream is closed. It is the head's own tile if
/// all mappings since the last close gave it one. Otherwise it is these rows of the column, where a
/// tile without work sends an empty result.
pub(in crate::cosim::workloads::decode) fn senders(
    design: &Design,
    rows: Option<u32>,
    stream: u32,
    head: u32,
) -> Vec<NodeId> {
    let (mesh, column) = (&design.mesh, design.heads.column(head));
    let node = |row| mesh.node(column, row).expect("a column and a row of the mesh");
    match rows {
        None => vec![tile_of(design, Mapping::HeadTile, stream, head, node(0))],
        Some(rows) => (0..mesh.rows()).filter(|row| rows >> row & 1 == 1).map(node).collect(),
    }
}

/// Rows of the homes of a descriptor's slices of a KV head. Tiles of any row may have a partial result of the heads if slices
/// of a segment have one home, if a mapping gives slices to tiles of other rows, or if all columns share them.
pub(in crate::cosim::workloads::decode) fn rows_of(
    design: &Design,
    homes: &Homes,
    d: &Descriptor,
    kv_head: u32,
) -> u32 {
    let aligned = d.mapping == Mapping::RowAligned && d.sharing == Sharing::KvHead;
    if !(design.placement.by_slice() && aligned) {
        return u32::MAX;
    }
    let row = |segment| design.mesh.coords(homes.tile(design, (d.prefix, d.layer, segment, kv_head))).1;
    d.segments().fold(0, |rows, segment| rows | 1 << row(segment))
}

/// Flits that all tiles together take in one step; swaps do not change it.
pub fn flits_of_step(design: &Design, descriptors: &[Descriptor]) -> u64 {
    let homes = Homes::new(design);
    let of_need = |need: Need| -> u64 {
        flits_of_rows(design, need.rows).into_iter().map(|range| range.count() as u64).sum()
    };
    let of_descriptor = |d| needs(design, &homes, d).into_iter().map(of_need);
    descriptors.iter().flat_map(of_descriptor).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// 3 x 2 tiles, 6 heads of 3 KV heads: two heads and one KV head a column.
    fn design() -> Design {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (3, 2);
        (config.noc.flit_width, config.kv.segment_tokens, config.pe.head_dim) = (64, 8, 32);
        (config.model.layers, config.model.heads, config.model.kv_heads) = (4, 6, 3);
        (config.model.max_tokens, config.model.max_streams) = (256, 4);
        Design::from_config("test", &config).unwrap()
    }

    fn descriptor(mapping: Mapping, sharing: Sharing) -> Descriptor {
        Descriptor {
            prefix: 0,
            layer: 0,
            first: 1,
            stride: 1,
            count: 1,
            first_row: 2,
            last_row: 5,
            stream: 0,
            streams: 1,
            mapping,
            sharing,
            close: true,
            step: false,
            append: false,
        }
    }

    /// (tile, KV head, mask) of each need.
    fn short(d: &Descriptor, homes: &Homes) -> Vec<(usize, u32, u64)> {
        let needs = needs(&design(), homes, d);
        assert!(needs.iter().all(|n| n.rows == (2, 5) && n.slice.segment == 1));
        needs.iter().map(|n| (n.tile.index(), n.slice.slice, n.mask)).collect()
    }

    #[test]
    fn heads_of_a_column_are_where_the_mapping_has_them() {
        let homes = Homes::new(&design());
        let of = |mapping, sharing| short(&descriptor(mapping, sharing), &homes);
        // The two heads of a column on its two tiles.
        let head_tile = of(Mapping::HeadTile, Sharing::KvHead);
        assert_eq!(head_tile, [(0, 0, 1), (3, 0, 2), (1, 1, 1), (4, 1, 2), (2, 2, 1), (5, 2, 2)]);
        // Segment 1 of layer 0 is in row 1.
        let aligned = of(Mapping::RowAligned, Sharing::KvHead);
        assert_eq!(aligned, [(3, 0, 3), (4, 1, 3), (5, 2, 3)]);
        assert_eq!(of(Mapping::RowAligned, Sharing::Segment).len(), 9);
        assert_eq!(of(Mapping::HeadTile, Sharing::Segment).len(), 18);
    }

    #[test]
    fn a_swap_moves_what_follows_homes() {
        let design = design();
        let mut homes = Homes::new(&design);
        let (a, b) = (design.mesh.node(0, 1).unwrap(), design.mesh.node(2, 0).unwrap());
        homes.swap(a, b);
        assert_eq!(homes.tile(&design, (0, 0, 1, 0)), b);
        let aligned = descriptor(Mapping::RowAligned, Sharing::KvHead);
        assert_eq!(short(&aligned, &homes), [(0, 0, 3), (1, 1, 3), (2, 2, 3)]);
        let fixed = descriptor(Mapping::HeadTile, Sharing::KvHead);
        assert_eq!(short(&fixed, &homes), short(&fixed, &Homes::new(&design)));
        homes.swap(b, a);
        assert_eq!(homes, Homes::new(&design));
    }

    #[test]
    fn streams_of_a_prefix_spread_over_the_rows() {
        let homes = Homes::new(&design());
        let shared = Descriptor { streams: 2, ..descriptor(Mapping::StreamStriped, Sharing::KvHead) };
        let needs = needs(&design(), &homes, &shared);
        assert_eq!(needs.len(), 6, "each of three slices on both rows");
    }

    #[test]
    fn rows_are_whole_flits_from_a_chunk_on() {
        let design = design();
        // A row is 8 flits of 64 bits, a half of the slice 64, a chunk 16.
        assert_eq!((design.mare.half_flits, design.mare.chunk_flits), (64, 16));
        assert_eq!(flits_of_rows(&design, (0, 7)), [0..=63, 64..=127]);
        // V is stored in blocks of four tokens, 32 flits each.
        assert_eq!(flits_of_rows(&design, (3, 4)), [16..=39, 64..=127]);
        assert_eq!(flits_of_rows(&design, (4, 6)), [32..=55, 96..=127]);
        let mut config = design.configuration().clone();
        (config.noc.flit_width, config.pe.head_dim, config.pad.fifo_depth) = (1024, 32, Some(5));
        config.kv.uram_per_tile = 16;
        let narrow = Design::from_config("test", &config).unwrap();
        // Two rows of 512 bits in a flit of 1024.
        assert_eq!(narrow.mare.chunk_flits, 1);
        assert_eq!(flits_of_rows(&narrow, (0, 0)), [0..=0, 32..=63]);
        assert_eq!(flits_of_rows(&narrow, (3, 4)), [1..=2, 32..=63]);
    }
}
