//! Pipeline of a column controller: six stages that advance together.

use crate::design::{rounds, Descriptor, Design, Mapping, NodeId, Piece, Sharing};

/// Slice in the pipeline. Each stage adds fields.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Item {
    pub(super) valid: bool,
    /// Last piece of its KV head.
    pub(super) last: bool,
    /// Last piece of its round.
    pub(super) ends_round: bool,
    /// Stage 1: the piece, and its place in the group.
    pub(super) rho: u32,
    pub(super) turn: u32,
    pub(super) group: u32,
    pub(super) rows: u32,
    pub(super) mask: u64,
    pub(super) column: u32,
    pub(super) slice: u32,
    /// Stage 2: the segment, and whether it is the first or the last of the descriptor. Two stages later, with pages: the
    /// page of the segment.
    pub(super) place: u32,
    pub(super) begins: bool,
    pub(super) ends: bool,
    /// Stages 3 to 5: the tile of its home, first the logical one.
    pub(super) home: usize,
    /// Stage 6: rows that request it.
    pub(super) asked: u32,
}

impl Item {
    fn of(piece: &Piece) -> Item {
        Item {
            last: piece.last,
            rho: piece.rho,
            rows: piece.rows as u32,
            mask: piece.mask,
            column: piece.column,
            slice: piece.kv_head,
            ..Item::default()
        }
    }

    /// Returns its place among the segments of the descriptor; groups have `rotation` segments.
    pub(super) fn index(&self, rotation: u32) -> u32 {
        self.group * rotation + ((self.rho + self.turn) & (rotation - 1))
    }
}

/// Heads in each column, by KV head and in total.
#[derive(Debug, Clone)]
pub(in crate::model::cycle) struct Pieces {
    own: Box<[Item]>,
    /// By column: all heads.
    columns: Box<[Item]>,
    slices: u32,
    /// KV heads of a column if a controller processes those of its own column only: `own` has them by their places there.
    of_column: Option<u32>,
}

/// Position of the controller: a piece, or a KV head and column where all heads share slices.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct At {
    /// First piece of the round.
    begin: usize,
    piece: usize,
    slice: u32,
    column: usize,
}

impl Pieces {
    pub(in crate::model::cycle) fn new(design: &Design) -> Pieces {
        let of_column = |pieces: &[Piece], x: u32| {
            let piece = pieces.iter().find(|piece| piece.column == x);
            let (mask, rows) = piece.map_or((0, 0), |piece| (piece.mask, piece.rows));
            let last = x + 1 == design.mesh.cols();
            Item::of(&Piece { kv_head: 0, column: x, mask, rows, rho: 0, last, round: 0 })
        };
        let shared = design.pieces(Sharing::Segment);
        let pieces = design.controller_pieces();
        let mut own: Vec<_> = pieces.iter().map(Item::of).collect();
        let mut ends = 0;
        for round in rounds(&pieces, Mapping::RowAligned) {
            ends += round.len();
            own[ends - 1].ends_round = true;
        }
        Pieces {
            own: own.into(),
            columns: (0..design.mesh.cols()).map(|x| of_column(&shared, x)).collect(),
            slices: design.model.kv_heads,
            of_column: design.placement.by_slice().then(|| design.placement.column_kv_heads()),
        }
    }

    /// All heads of a column.
    pub(super) fn column(&self, x: u32) -> &Item {
        &self.columns[x as usize]
    }

    /// Returns the piece at a position of the controller of column `x`.
    pub(super) fn get(&self, at: &At, sharing: Sharing, x: u32) -> Item {
        match (sharing, self.of_column) {
            (Sharing::Segment, _) => Item { slice: at.slice, ..self.columns[at.column] },
            (Sharing::KvHead, None) => self.own[at.piece],
            (Sharing::KvHead, Some(kv_heads)) => {
                let piece = self.own[at.piece];
                Item { slice: x * kv_heads + piece.slice, column: x, ..piece }
            }
        }
    }

    /// The piece at this position is the last of its turn. `together`: all rounds pass as one.
    pub(super) fn ends_turn(&self, at: &At, sharing: Sharing, together: bool) -> bool {
        match (sharing, together) {
            (Sharing::Segment, _) => at.column + 1 == self.columns.len() && at.slice + 1 == self.slices,
            (Sharing::KvHead, true) => self.ends_all(at),
            (Sharing::KvHead, false) => self.own[at.piece].ends_round,
        }
    }

    /// No piece follows.
    pub(super) fn ends_all(&self, at: &At) -> bool {
        at.piece + 1 == self.own.len()
    }

    /// Moves to the next piece; at the end of a turn back to the first of the round, or on to the next round.
    pub(super) fn advance(&self, at: &mut At, sharing: Sharing, ends_turn: bool, ends_round: bool) {
        let share = sharing == Sharing::Segment;
        let next = (at.piece + 1) % self.own.len();
        if ends_round {
            at.begin = next;
        }
        let row_ends = at.column + 1 == self.columns.len();
        *at = At {
            begin: at.begin,
            piece: if ends_turn && !ends_round { at.begin } else { next },
            slice: if row_ends && share { at.slice + 1 } else { at.slice },
            column: if row_ends || !share { 0 } else { at.column + 1 },
        };
        if ends_turn {
            (at.slice, at.column) = (0, 0);
        }
    }
}

/// Rotates `rows` by each number in the set `by`, and returns the union.
pub(super) fn turned(rows: u32, by: u32, count: u32) -> u32 {
    (0..count).filter(|s| by >> s & 1 == 1).fold(0, |all, s| {
        let doubled = u64::from(rows) << s;
        all | ((doubled | doubled >> count) as u32 & ((1 << count) - 1))
    })
}

/// Returns the logical home of a slice of a descriptor's cache as a tile number.
pub(super) fn home(design: &Design, descriptor: &Descriptor, item: &Item) -> usize {
    let (cache, layer) = (cache_of(design, descriptor), descriptor.layer);
    NodeId::index(design.placement.home_of(cache, layer, item.place, item.slice))
}

/// Returns the cache under which the placement has the slices of a descriptor: all pages are of one.
pub(super) fn cache_of(design: &Design, descriptor: &Descriptor) -> u32 {
    if design.placement.pages {
        0
    } else {
        descriptor.prefix
    }
}
