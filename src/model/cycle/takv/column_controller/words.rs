//! Words of the bus for slices, and for the end of a descriptor.

use super::pipeline::{cache_of, turned, Item, Pieces};
use super::state::{ColumnController, STAGES};
use crate::design::{Descriptor, Design, Mapping};
use crate::kernels::takv::descriptor_state::State;
use crate::model::cycle::mare::low_bits;
use crate::model::cycle::takv::{BusWord, Kind, Query};

impl ColumnController {
    /// Rows of this column that request a slice.
    pub(super) fn ask(&self, item: &Item) -> u32 {
        if item.column == self.x {
            item.asked
        } else {
            0
        }
    }

    /// The home of a slice is in this column and fills it.
    pub(super) fn fills(&self, item: &Item, design: &Design) -> bool {
        let column = (item.home % design.mesh.cols() as usize) as u32;
        item.last && column == self.x && self.askers != 0
    }

    /// The slice is announced to its home with a new token.
    pub(super) fn appends(&self, item: &Item, descriptor: &Descriptor, design: &Design) -> bool {
        descriptor.append && item.ends && self.fills(item, design)
    }

    /// Returns the word of the new token that goes now, if the slice of this period has one and it is read.
    pub(super) fn token_of(&self, design: &Design, descriptor: &Descriptor) -> Option<BusWord> {
        let (item, tokens) = (&self.stages[STAGES - 1], self.tokens.as_ref()?);
        let cols = design.mesh.cols() as usize;
        let token = match tokens.told.checked_sub(1) {
            None => {
                let (cache, layer) = (cache_of(design, descriptor), descriptor.layer);
                let number = design.number_at(cache, layer, item.place, item.slice);
                number << 16 | u64::from(descriptor.last_row)
            }
            Some(word) if tokens.ripe == 2 => {
                let token = descriptor.token_of(design) * design.model.kv_heads + item.slice;
                tokens.kept[tokens.place(token, word)]
            }
            Some(_) => return None,
        };
        let (home_x, home_y) = ((item.home % cols) as u32, (item.home / cols) as u32);
        Some(BusWord { kind: Kind::Token, home_x, home_y, token, ..BusWord::default() })
    }

    /// Returns the rows that request a slice. Heads have rows of their own, or follow the home's row. The
    /// streams of a common prefix spread over the rows from there.
    pub(super) fn asked(&self, design: &Design, descriptor: &Descriptor, item: &Item) -> u32 {
        let (cols, rows) = (design.mesh.cols() as usize, design.mesh.rows());
        let spread = if descriptor.mapping == Mapping::RowAligned { 1 } else { self.spread };
        let from = match descriptor.mapping {
            Mapping::HeadTile => item.rows,
            Mapping::RowAligned | Mapping::StreamStriped => u32::from(item.rows != 0) << (item.home / cols),
        };
        turned(from, spread, rows)
    }

    /// Returns the word of this period.
    pub(super) fn word_of(&self, design: &Design, pieces: &Pieces, descriptor: &Descriptor) -> BusWord {
        let item = &self.stages[STAGES - 1];
        let kind = match self.state {
            State::Sample => Kind::Call,
            State::Close => Kind::Close,
            _ => Kind::Slice,
        };
        let close = kind == Kind::Close;
        let close_rows = self.close_rows(design, pieces);
        let cols = design.mesh.cols() as usize;
        let first_row = if item.begins { descriptor.first_row } else { 0 };
        let last_row = if item.ends { descriptor.last_row } else { design.placement.segment_tokens - 1 };
        let (first, last) = flits(design, first_row, last_row);
        BusWord {
            kind,
            tag: tag(design, descriptor, item),
            home_x: (item.home % cols) as u32,
            home_y: (item.home / cols) as u32,
            ask: if close { close_rows } else { self.ask(item) },
            mask: if close { self.closing } else { item.mask },
            first,
            last,
            fill: kind == Kind::Slice && self.fills(item, design),
            expected: if close { self.others(close_rows) } else { self.askers },
            number: match item.valid {
                true => {
                    design.number_at(cache_of(design, descriptor), descriptor.layer, item.place, item.slice)
                }
                false => 0,
            },
            mapping: match descriptor.mapping {
                Mapping::HeadTile if close && self.gathers => Mapping::RowAligned,
                mapping => mapping,
            },
            spread: self.spread,
            stream: descriptor.stream,
            streams: descriptor.streams,
            first_row,
            last_row,
            query: Query::default(),
            append: kind == Kind::Slice && self.appends(item, descriptor, design),
            token: 0,
            barred: false,
        }
    }

    /// Rows of this column with partial results of the descriptor's streams.
    fn close_rows(&self, design: &Design, pieces: &Pieces) -> u32 {
        let (own, rows) = (pieces.column(self.x).rows, design.mesh.rows());
        match (self.gathers, &self.held) {
            (false, _) => turned(own, self.spread, rows),
            (true, Some(held)) => turned(held.due, held.turn, rows),
            (true, None) if own != 0 => low_bits(rows) as u32,
            (true, None) => 0,
        }
    }

    /// Partial results of a head besides that of one of these rows.
    fn others(&self, rows: u32) -> u32 {
        match self.gathers {
            true => rows.count_ones().saturating_sub(1),
            false => 0,
        }
    }
}

/// Returns the first and last flit of K of these rows; a range begins with a chunk.
fn flits(design: &Design, first_row: u32, last_row: u32) -> (u32, u32) {
    let row_flits = design.row_flits();
    let flit = |row: u32| row * row_flits / design.flit_rows();
    (flit(first_row) & !(design.mare.chunk_flits - 1), flit(last_row) | (row_flits - 1))
}

/// Returns the tag of a slice.
fn tag(design: &Design, descriptor: &Descriptor, item: &Item) -> u64 {
    design.flit.tag((descriptor.prefix, descriptor.layer, item.place, item.slice))
}
