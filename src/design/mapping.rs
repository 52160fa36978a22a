//! Mapping: which column computes which query heads, and which of its tiles.
//!
//! Heads are dealt to columns in contiguous runs. What a column fetches for its heads is a list of
//! [`Piece`]s, the same for every segment; who of the column fetches it is for the [`Mapping`].

use super::{Design, NodeId, PlacementKind};
use crate::config::Config;
use std::ops::Range;

/// The row of its column in which a head is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapping {
    /// One tile a head and stream, whatever the segment.
    HeadTile,
    /// The row of the segment's home: KV_DATA travels along a row only, PART along a column only.
    RowAligned,
    /// Streams spread over the rows, from the row of the segment's home on: streams that share a
    /// prefix get each slice by one multicast.
    StreamStriped,
}

/// Who receives the payload of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// The heads that attend with its KV head.
    KvHead,
    /// Every head, as the macro-block multicast of the paper has it literally.
    Segment,
}

/// How query heads are dealt to columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heads {
    cols: u32,
    rows: u32,
    /// What is dealt, a run of these to a column: GQA groups, or single heads.
    units: u32,
    /// Heads of one of them.
    unit: u32,
}

/// What a column fetches of the slices of one KV head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// KV head g of the slice.
    pub kv_head: u32,
    /// The column that fetches it.
    pub column: u32,
    /// Heads of that column that get it; the bit is the head's place in its column.
    pub mask: u64,
    /// Rows those heads have under [`Mapping::HeadTile`] in stream 0, one bit a row.
    pub rows: u64,
    /// Turns by which the visits of homes are rotated, so that not all ask one home at once.
    pub rho: u32,
    /// No other piece of this KV head follows.
    pub last: bool,
}

impl Heads {
    /// Deals whole GQA groups if there is one for each column, else single heads.
    pub(super) fn new(config: &Config) -> Heads {
        let (cols, rows) = (config.mesh.cols, config.mesh.rows);
        let (heads, kv_heads) = (config.model.heads, config.model.kv_heads);
        let (units, unit) = if kv_heads >= cols { (kv_heads, heads / kv_heads) } else { (heads, 1) };
        Heads { cols, rows, units, unit }
    }

    /// Query heads of all columns.
    pub fn heads(&self) -> u32 {
        self.units * self.unit
    }

    /// Query heads of column `x`.
    pub fn of_column(&self, x: u32) -> Range<u32> {
        let begin = |x: u32| x * self.units / self.cols * self.unit;
        begin(x)..begin(x + 1)
    }

    /// The column that computes query head `head`.
    pub fn column(&self, head: u32) -> u32 {
        ((head / self.unit + 1) * self.cols - 1) / self.units
    }

    /// The place of query head `head` among those of its column.
    pub fn index(&self, head: u32) -> u32 {
        head - self.of_column(self.column(head)).start
    }

    /// Most heads of a column: the width of a head mask.
    pub fn most(&self) -> u32 {
        self.units.div_ceil(self.cols) * self.unit
    }

    /// Rows from one head of a column to the next under [`Mapping::HeadTile`] (K).
    pub fn row_step(&self) -> u32 {
        (self.rows / self.most()).max(1)
    }

    /// Row of the head with this place in its column, under [`Mapping::HeadTile`] in stream `stream`.
    fn fixed_row(&self, index: u32, stream: u32) -> u32 {
        (index * self.row_step() + stream) % self.rows
    }
}

/// The tile that computes query head `head` of stream `stream` on a segment whose home is the tile
/// `home`; after a swap that is the tile where the segment now lives.
pub fn tile_of(design: &Design, mapping: Mapping, stream: u32, head: u32, home: NodeId) -> NodeId {
    let (heads, (_, home_row)) = (&design.heads, design.mesh.coords(home));
    let row = match mapping {
        Mapping::HeadTile => heads.fixed_row(heads.index(head), stream),
        Mapping::RowAligned => home_row,
        Mapping::StreamStriped => (stream + home_row) % design.mesh.rows(),
    };
    design.mesh.node(heads.column(head), row).expect("a row modulo the rows")
}

impl Design {
    /// What the columns fetch of every segment, by KV head and then by column.
    pub fn pieces(&self, sharing: Sharing) -> Vec<Piece> {
        let model = &self.config.model;
        let group = model.heads / model.kv_heads;
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
        pieces
    }

    /// Turns by which the visits of a KV head are rotated. Its first column begins at the home column that
    /// [`visits::starts`](super::visits::starts) has for it; KV heads that begin in one column spread over the rows.
    fn rho(&self, kv_head: u32) -> u32 {
        let (model, placement) = (&self.config.model, &self.placement);
        let (cols, rows) = (self.mesh.cols(), self.mesh.rows());
        let (group, spread) = (model.heads / model.kv_heads, placement.column_stride);
        let column = |kv_head: u32| self.heads.column(kv_head * group);
        let here = column(kv_head);
        let before = (0..kv_head).filter(|&other| column(other) == here).count() as u32;
        let together = (0..model.kv_heads).filter(|&other| column(other) == here).count() as u32;
        let (start, row) = (super::visits::starts(cols)[here as usize], before * rows / together % rows);
        match placement.kind {
            PlacementKind::Takv if spread > 0 => {
                // Home columns are visited `spread` apart: all of them, or each so many'th.
                let apart = super::gcd(spread, cols);
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
        (mask != 0).then_some(Piece { kv_head, column, mask, rows, rho, last: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn runs_of_heads_are_contiguous_and_as_even_as_they_go() {
        for shape in SHAPES {
            let (heads, all) = (design(shape).heads, shape.2);
            let runs: Vec<_> = (0..shape.0).map(|x| heads.of_column(x)).collect();
            assert_eq!((runs[0].start, runs[runs.len() - 1].end), (0, all));
            assert!(runs.windows(2).all(|pair| pair[0].end == pair[1].start), "{runs:?}");
            let lengths = || runs.iter().map(|run| run.len() as u32);
            assert!(lengths().max().unwrap() - lengths().min().unwrap() <= heads.unit, "{runs:?}");
            assert_eq!(lengths().max(), Some(heads.most()));
            for (x, run) in runs.iter().enumerate() {
                for (index, head) in run.clone().enumerate() {
                    assert_eq!((heads.column(head), heads.index(head)), (x as u32, index as u32), "{runs:?}");
                }
            }
        }
    }

    #[test]
    fn twelve_heads_on_eight_columns_are_one_or_two_each() {
        let heads = design((8, 8, 12, 12)).heads;
        let lengths: Vec<_> = (0..8).map(|x| heads.of_column(x).len()).collect();
        assert_eq!(lengths, [1, 2, 1, 2, 1, 2, 1, 2]);
    }

    #[test]
    fn a_group_stays_in_one_column_where_there_is_one_for_each() {
        for shape in SHAPES.into_iter().filter(|(cols, _, _, kv_heads)| kv_heads >= cols) {
            let design = design(shape);
            let group = shape.2 / shape.3;
            for head in 0..shape.2 {
                assert_eq!(design.heads.column(head), design.heads.column(head / group * group), "{shape:?}");
            }
            assert_eq!(design.pieces(Sharing::KvHead).len(), shape.3 as usize);
        }
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
        let rho = |shape| design(shape).pieces(Sharing::KvHead).iter().map(|p| p.rho).collect::<Vec<_>>();
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
                .step_by(8)
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
