//! Rows of a column that hold a segment of a stream since it was closed: they alone have partial results of its heads.

use super::pipeline::Item;
use crate::design::Design;

/// Rows of the streams, where slices have homes of their own: those of the first KV head of a column. The rows of another are
/// turned against them.
#[derive(Debug, Clone)]
pub(super) struct Held {
    /// Rows of each stream.
    rows: Box<[u32]>,
    all: u32,
    kv_heads: u32,
    /// Rows by which each KV head of a column is turned.
    turns: Box<[u32]>,
    /// Rows of the descriptor's segments that have passed, and those that any of its streams holds.
    seen: u32,
    pub(super) due: u32,
    /// Rows by which the KV head that ends is turned, as a set of one.
    pub(super) turn: u32,
}

impl Held {
    /// None where all slices of a segment have one home.
    pub(super) fn new(design: &Design) -> Option<Held> {
        let (placement, streams) = (&design.placement, design.model.max_streams);
        placement.by_slice().then(|| Held {
            rows: vec![0; streams as usize].into(),
            all: ((1_u64 << placement.rows) - 1) as u32,
            kv_heads: placement.column_kv_heads(),
            turns: (0..placement.column_kv_heads()).map(|kv_head| placement.turn(kv_head)).collect(),
            seen: 0,
            due: 0,
            turn: 1,
        })
    }

    /// A descriptor begins.
    pub(super) fn begin(&mut self) {
        self.seen = 0;
    }

    /// The pieces of a KV head of the column enter.
    pub(super) fn enters(&mut self, kv_head: u32) {
        self.turn = 1 << self.turns[(kv_head % self.kv_heads) as usize];
    }

    /// A slice that the column fetches is in the last stage: its home is in this row. Tiles of any row may fetch slices of the
    /// other mappings, and those that all columns share.
    pub(super) fn passes(&mut self, item: &Item, row: u32, aligned: bool) {
        if !aligned {
            self.seen = self.all;
        } else if item.slice.is_multiple_of(self.kv_heads) {
            self.seen |= 1 << row;
        }
    }

    /// Finds the rows of these streams, those of the present descriptor included.
    pub(super) fn find(&mut self, streams: std::ops::Range<u32>) {
        let rows = streams.fold(self.seen, |rows, stream| rows | self.rows[stream as usize]);
        self.due = if rows == 0 { self.all } else { rows };
    }

    /// The slices of a round have left: their rows belong to these streams.
    pub(super) fn keep(&mut self, streams: std::ops::Range<u32>) {
        streams.for_each(|stream| self.rows[stream as usize] |= self.seen);
    }

    /// These streams are closed.
    pub(super) fn close(&mut self, streams: std::ops::Range<u32>) {
        streams.for_each(|stream| self.rows[stream as usize] = 0);
    }
}
