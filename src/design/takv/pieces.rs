//! Pieces of work: the tile that computes a query head, and the columns that fetch a slice.

use crate::design::design::Design;
use crate::design::network::mesh::NodeId;
use crate::design::takv::mapping::{Mapping, Piece, Sharing};
use crate::design::takv::placement::gcd;
use crate::design::takv::placement::PlacementKind;
use crate::design::takv::visits::starts;
use std::ops::Range;

/// The tile that computes query head `head` of stream `stream` on a segment whose home is `home`: after a
/// swap, the segment's present home.
pub fn tile_of(design: &Design, mapping: Mapping, stream: u32, head: u32, home: NodeId) -> NodeId {
    let (heads, (_, home_row)) = (&design.heads, design.mesh.coords(home));
    let row = match mapping {
        Mapping::HeadTile => heads.fixed_row(heads.index(head), stream),
        Mapping::RowAligned => home_row,
        Mapping::StreamStriped => (stream + home_row) % design.mesh.rows(),
    };
    design.mesh.node(heads.column(head), row).expect("a row modulo the rows")
}

/// Rounds of a descriptor, in order: the pieces whose slices are visited in turn until their heads are finished.
///
/// Where a head has a tile of its own ([`Mapping::HeadTile`]) all heads of a column work side by side, in one round.
/// Else all rows work on a head, and a column finishes one KV head after the other.
pub fn rounds(pieces: &[Piece], mapping: Mapping) -> impl Iterator<Item = &[Piece]> {
    pieces.chunk_by(move |a, b| mapping == Mapping::HeadTile || a.round == b.round)
}

impl Design {
    /// The pieces of every segment, by round, KV head and column.
    pub fn pieces(&self, sharing: Sharing) -> Vec<Piece> {
        let model = &self.model;
        let group = model.group_heads();
        let mut pieces = Vec::new();
        for kv_head in 0..model.kv_heads {
            let (wanted, rho) = match sharing {
                Sharing::KvHead => (kv_head * group..(kv_head + 1) * group, self.rho(kv_head)),
                Sharing::Segment => (0..model.heads, 0),
            };
            let columns = self.heads.column(wanted.start)..=self.heads.column(wanted.end - 1);
            // With fewer heads than columns some columns between have none.
            pieces.extend(columns.filter_map(|column| self.piece(kv_head, column, &wanted, rho)));
            if let Some(piece) = pieces.last_mut() {
                piece.last = true;
            }
        }
        if sharing == Sharing::KvHead {
            self.deal_rounds(&mut pieces);
        }
        pieces
    }

    /// The pieces that a column controller processes, of own KV heads, in order: those of all columns, in the same order
    /// everywhere. Where slices have homes of their own a column needs only its own, which are the same in every column but
    /// for the number of the KV head: those of the first stand for all.
    pub fn controller_pieces(&self) -> Vec<Piece> {
        let pieces = self.pieces(Sharing::KvHead).into_iter();
        pieces.filter(|piece| !self.placement.by_slice() || piece.column == 0).collect()
    }

    /// Gives each KV head the first round in which all of its columns are free, and sorts by rounds.
    fn deal_rounds(&self, pieces: &mut [Piece]) {
        let mut next = vec![0; self.mesh.cols() as usize];
        for of_kv_head in pieces.chunk_by_mut(|a, b| a.kv_head == b.kv_head) {
            let free = |piece: &Piece| next[piece.column as usize];
            let round = of_kv_head.iter().map(free).max().unwrap_or(0);
            for piece in of_kv_head {
                piece.round = round;
                next[piece.column as usize] = round + 1;
            }
        }
        pieces.sort_by_key(|piece| piece.round);
    }

    /// Rotation of the visits of a KV head. Its first column begins at the home column given by [`starts`].
    /// KV heads that begin in one column spread over the rows. Where slices have homes of their own, those are turned instead.
    fn rho(&self, kv_head: u32) -> u32 {
        let (model, placement) = (&self.model, &self.placement);
        if placement.by_slice() {
            return 0;
        }
        let (cols, rows) = (self.mesh.cols(), self.mesh.rows());
        let (group, spread) = (model.group_heads(), placement.column_stride);
        let column = |kv_head: u32| self.heads.column(kv_head * group);
        let here = column(kv_head);
        let before = (0..kv_head).filter(|&other| column(other) == here).count() as u32;
        let together = (0..model.kv_heads).filter(|&other| column(other) == here).count() as u32;
        let (start, row) = (starts(cols)[here as usize], before * rows / together % rows);
        match placement.kind {
            PlacementKind::Takv if spread > 0 => {
                // Home columns are visited `spread` apart: all, or those that are multiples of the common
                // divisor.
                let apart = gcd(spread, cols);
                let home = start / apart * apart;
                let round = (0..cols / apart).find(|round| spread * round % cols == home);
                round.expect("multiples of the stride reach every multiple of the divisor") * rows + row
            }
            PlacementKind::RoundRobin => row * cols + start,
            PlacementKind::Takv | PlacementKind::Hub => kv_head * placement.rotation() / model.kv_heads,
        }
    }

    fn piece(&self, kv_head: u32, column: u32, wanted: &Range<u32>, rho: u32) -> Option<Piece> {
        let here = self.heads.of_column(column).filter(|head| wanted.contains(head));
        let (mut mask, mut rows) = (0, 0);
        for index in here.map(|head| self.heads.index(head)) {
            mask |= 1 << index;
            rows |= 1 << self.heads.fixed_row(index, 0);
        }
        (mask != 0).then_some(Piece { kv_head, column, mask, rows, rho, last: false, round: 0 })
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::design::takv::pieces::*;

    /// Columns, rows, heads, KV heads: even and uneven, with and without groups, fewer heads than columns.
    const SHAPES: [(u32, u32, u32, u32); 8] = [
        (8, 8, 32, 32),
        (8, 8, 32, 8),
        (16, 4, 32, 8),
        (8, 8, 12, 12),
        (3, 2, 6, 3),
        (5, 7, 21, 7),
        (8, 3, 5, 1),
        (2, 16, 96, 8),
    ];

    fn design((cols, rows, heads, kv_heads): (u32, u32, u32, u32)) -> Design {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (cols, rows);
        (config.model.heads, config.model.kv_heads) = (heads, kv_heads);
        Design::from_config("test", &config).unwrap()
    }

    #[test]
    fn every_head_gets_its_kv_head_once() {
        for shape in SHAPES {
            let design = design(shape);
            let pieces = design.pieces(Sharing::KvHead);
            for head in 0..shape.2 {
                let (x, bit) = (design.heads.column(head), design.heads.index(head));
                let got: Vec<_> = pieces.iter().filter(|p| p.column == x && p.mask >> bit & 1 == 1).collect();
                assert_eq!(got.len(), 1, "{shape:?} {head}");
                assert_eq!(got[0].kv_head, head / (shape.2 / shape.3));
            }
        }
    }

    #[test]
    fn a_shared_segment_goes_to_every_head_of_every_column_that_has_any() {
        for shape in SHAPES {
            let design = design(shape);
            let pieces = design.pieces(Sharing::Segment);
            let with_heads: Vec<_> =
                (0..shape.0).filter(|&x| !design.heads.of_column(x).is_empty()).collect();
            for kv_head in 0..shape.3 {
                let of_it: Vec<_> = pieces.iter().filter(|p| p.kv_head == kv_head).collect();
                assert_eq!(of_it.iter().map(|p| p.column).collect::<Vec<_>>(), with_heads, "{shape:?}");
                let heads: u32 = of_it.iter().map(|p| p.mask.count_ones()).sum();
                assert_eq!(heads, shape.2);
                assert!(of_it.iter().all(|p| p.rho == 0));
            }
        }
    }

    #[test]
    fn the_last_piece_of_each_kv_head_is_marked_and_no_other() {
        for shape in SHAPES {
            for sharing in [Sharing::KvHead, Sharing::Segment] {
                let pieces = design(shape).pieces(sharing);
                for (i, piece) in pieces.iter().enumerate() {
                    let next = pieces.get(i + 1);
                    assert_eq!(
                        piece.last,
                        next.is_none_or(|next| next.kv_head != piece.kv_head),
                        "{shape:?}"
                    );
                }
                assert_eq!(pieces.iter().filter(|p| p.last).count(), shape.3 as usize);
            }
        }
    }

    #[test]
    fn kv_heads_begin_their_rounds_at_homes_spread_evenly() {
        let rho = |shape| {
            let mut pieces = design(shape).pieces(Sharing::KvHead);
            pieces.sort_by_key(|piece| piece.kv_head);
            pieces.iter().map(|p| p.rho).collect::<Vec<_>>()
        };
        assert_eq!(rho((8, 8, 32, 8)), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(rho((8, 8, 12, 12)), [0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7]);
    }

    /// In every turn each home of a row feeds one column at most, and the columns of a row turn together.
    #[test]
    fn columns_of_a_row_are_at_different_homes_in_every_turn() {
        for (kind, stride) in
            [(PlacementKind::Takv, 1), (PlacementKind::Takv, 3), (PlacementKind::RoundRobin, 0)]
        {
            let mut config = Config::default();
            (config.mesh.cols, config.mesh.rows, config.takv.placement) = (4, 8, kind);
            (config.takv.column_stride, config.model.max_streams) = (stride, 1);
            let design = Design::from_config("test", &config).unwrap();
            let pieces = design.pieces(Sharing::KvHead);
            let rotation = design.placement.rotation();
            assert!(pieces.iter().all(|piece| piece.rho < rotation));
            for turn in 0..rotation {
                let mut fed = std::collections::BTreeSet::new();
                for piece in &pieces {
                    let home = design.placement.home(0, (piece.rho + turn) % rotation);
                    assert!(fed.insert(home), "{kind:?}, stride {stride}, turn {turn}: {home:?} feeds two");
                }
            }
            let begins: Vec<_> = pieces
                .iter()
                .take(4)
                .map(|p| design.mesh.coords(design.placement.home(0, p.rho)).0)
                .collect();
            assert_eq!(begins, [0, 2, 1, 3]);
        }
    }

    #[test]
    fn tiles_that_share_a_slice_are_at_the_same_turn() {
        for shape in SHAPES {
            let mut design = design(shape);
            design.placement.column_stride = 1;
            let pieces = design.pieces(Sharing::KvHead);
            for pair in pieces.windows(2).filter(|pair| pair[0].kv_head == pair[1].kv_head) {
                assert_eq!(pair[0].rho, pair[1].rho, "{shape:?}");
            }
        }
    }

    /// A column finishes one KV head after the other, and the columns of a KV head finish it together.
    #[test]
    fn a_round_has_one_kv_head_of_a_column() {
        for shape in SHAPES {
            let pieces = design(shape).pieces(Sharing::KvHead);
            let all: Vec<_> = rounds(&pieces, Mapping::RowAligned).collect();
            assert_eq!(all.concat(), pieces);
            for (number, round) in (0..).zip(&all) {
                assert!(round.iter().all(|piece| piece.round == number), "{shape:?}");
                let columns: std::collections::BTreeSet<_> = round.iter().map(|p| p.column).collect();
                assert_eq!(columns.len(), round.len(), "{shape:?}");
                let of = |kv_head| pieces.iter().filter(move |p| p.kv_head == kv_head);
                assert!(round.iter().all(|piece| of(piece.kv_head).all(|p| p.round == number)), "{shape:?}");
            }
            assert_eq!(rounds(&pieces, Mapping::HeadTile).count(), 1);
        }
        let count = |shape| rounds(&design(shape).pieces(Sharing::KvHead), Mapping::RowAligned).count();
        assert_eq!([count((8, 8, 32, 32)), count((8, 8, 32, 8)), count((8, 8, 12, 12))], [4, 1, 2]);
    }

    #[test]
    fn each_mapping_takes_its_row() {
        let design = design((8, 8, 32, 8));
        let home = design.mesh.node(5, 6).unwrap();
        let at = |mapping, stream, head| design.mesh.coords(tile_of(&design, mapping, stream, head, home));
        // Four heads a column, two rows apart.
        assert_eq!(at(Mapping::HeadTile, 0, 10), (2, 4));
        assert_eq!(at(Mapping::HeadTile, 5, 10), (2, 1));
        assert_eq!(at(Mapping::RowAligned, 5, 10), (2, 6));
        assert_eq!(at(Mapping::StreamStriped, 0, 10), (2, 6));
        assert_eq!(at(Mapping::StreamStriped, 5, 10), (2, 3));
    }

    #[test]
    fn rows_of_a_piece_are_those_of_its_heads() {
        for shape in SHAPES {
            let design = design(shape);
            for piece in design.pieces(Sharing::KvHead) {
                let heads = design.heads.of_column(piece.column);
                let here = heads.filter(|&h| piece.mask >> design.heads.index(h) & 1 == 1);
                let home = design.mesh.node(0, 0).unwrap();
                let row = |h| design.mesh.coords(tile_of(&design, Mapping::HeadTile, 0, h, home)).1;
                assert_eq!(piece.rows, here.fold(0, |rows, h| rows | 1 << row(h)), "{shape:?}");
            }
        }
    }
}
