//! Slices on their way through a column controller: six stages that move together.

use crate::design::{Design, NodeId, Piece, Sharing};

/// A slice in the pipeline. Each stage adds to it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Item {
    pub(super) valid: bool,
    /// The last piece of its KV head.
    pub(super) last: bool,
    /// Stage 1: the piece, and its place in the group.
    pub(super) rho: u32,
    pub(super) turn: u32,
    pub(super) group: u32,
    pub(super) rows: u32,
    pub(super) mask: u64,
    pub(super) column: u32,
    pub(super) slice: u32,
    /// Stage 2: the segment, and whether it is the first or the last of the descriptor.
    pub(super) segment: u32,
    pub(super) begins: bool,
    pub(super) ends: bool,
    /// Stages 3 to 5: the tile that is its home, first the logical one.
    pub(super) home: usize,
    /// Stage 6: rows that ask.
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

    /// Its place among the segments of the descriptor; groups have `rotation` segments.
    pub(super) fn index(&self, rotation: u32) -> u32 {
        self.group * rotation + ((self.rho + self.turn) & (rotation - 1))
    }
}

/// What columns have of the heads of each KV head, and of all.
#[derive(Debug, Clone)]
pub(in crate::model::cycle) struct Pieces {
    own: Box<[Item]>,
    /// By column: of all heads.
    columns: Box<[Item]>,
    slices: u32,
}

/// Where the controller is in them: by piece, or by KV head and column where all share.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct At {
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
            Item::of(&Piece { kv_head: 0, column: x, mask, rows, rho: 0, last })
        };
        let shared = design.pieces(Sharing::Segment);
        Pieces {
            own: design.pieces(Sharing::KvHead).iter().map(Item::of).collect(),
            columns: (0..design.mesh.cols()).map(|x| of_column(&shared, x)).collect(),
            slices: design.config.model.kv_heads,
        }
    }

    /// All heads of a column.
    pub(super) fn column(&self, x: u32) -> &Item {
        &self.columns[x as usize]
    }

    /// The piece at a place.
    pub(super) fn get(&self, at: &At, share: bool) -> Item {
        match share {
            true => Item { slice: at.slice, ..self.columns[at.column] },
            false => self.own[at.piece],
        }
    }

    /// Goes on to the next piece; true if that is the first again.
    pub(super) fn advance(&self, at: &mut At, share: bool) -> bool {
        let row_ends = at.column + 1 == self.columns.len();
        let ends = match share {
            true => row_ends && at.slice + 1 == self.slices,
            false => at.piece + 1 == self.own.len(),
        };
        let next = At {
            piece: (at.piece + 1) % self.own.len(),
            slice: if row_ends { (at.slice + 1) % self.slices } else { at.slice },
            column: if row_ends { 0 } else { at.column + 1 },
        };
        *at = if ends { At::default() } else { next };
        ends
    }
}

/// Rows, each turned by each of some others.
pub(super) fn turned(rows: u32, by: u32, count: u32) -> u32 {
    (0..count).filter(|s| by >> s & 1 == 1).fold(0, |all, s| {
        let doubled = u64::from(rows) << s;
        all | ((doubled | doubled >> count) as u32 & ((1 << count) - 1))
    })
}

/// The logical home of a segment as a tile's number.
pub(super) fn home(design: &Design, layer: u32, segment: u32) -> usize {
    NodeId::index(design.placement.home(layer, segment))
}
