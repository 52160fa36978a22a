//! Contexts of a tile: where they are stored, and which of them a job uses. A context is a query head of a
//! stream.

use crate::design::{Array, Design, Mapping};
use crate::model::cycle::takv::Ask;

/// Context of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Context {
    /// Row of the array.
    pub row: u32,
    /// Stream.
    pub stream: u32,
    /// Query head, by its place in the column.
    pub head: u32,
}

/// Contexts of a tile, with what selects those of a job.
#[derive(Debug, Clone)]
pub struct Contexts {
    /// All contexts, row by row in the order of their slots. Results are read in this order.
    places: Box<[Context]>,
    /// KV head of each query head of the column.
    kv_heads: Box<[u32]>,
    y: u32,
    mesh_rows: u32,
    row_step: u32,
    /// Offset of the KV head in a tag.
    slice_offset: u32,
}

impl Contexts {
    /// Creates the contexts of the tile at (x, y).
    pub fn new(design: &Design, x: u32, y: u32) -> Contexts {
        let array = Array::of(design);
        let context = |row: usize, of: u32| {
            let (stream, head) = (of / array.heads, of % array.heads);
            Context { row: row as u32, stream, head }
        };
        let rows = array.slots.iter().enumerate();
        let slice = design.flit.tag_fields().iter().find(|field| field.name == "slice");
        Contexts {
            places: rows.flat_map(|(r, row)| row.iter().map(move |&of| context(r, of))).collect(),
            kv_heads: array.kv_heads[x as usize].clone().into(),
            y,
            mesh_rows: design.mesh.rows(),
            row_step: design.heads.row_step(),
            slice_offset: slice.map_or(0, |field| field.offset),
        }
    }

    /// Number of contexts.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// There are no contexts.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// KV head of a query head, by its place in the column.
    pub fn kv_head(&self, head: u32) -> u32 {
        self.kv_heads[head as usize]
    }

    /// KV head of a slice.
    pub fn kv_head_of(&self, ask: &Ask) -> u32 {
        (ask.tag >> self.slice_offset) as u32
    }

    /// Iterates over the contexts of a job. For a slice, these attend with its KV head.
    pub fn wanted<'a>(&'a self, ask: &'a Ask) -> impl Iterator<Item = Context> + 'a {
        let kv_head = self.kv_head_of(ask);
        self.places.iter().copied().filter(move |of| {
            let attends = ask.close || self.kv_heads[of.head as usize] == kv_head;
            let named = (ask.stream..ask.stream + ask.streams).contains(&of.stream);
            ask.mask >> of.head & 1 == 1 && attends && named && self.stands_here(ask, of)
        })
    }

    fn stands_here(&self, ask: &Ask, of: &Context) -> bool {
        match ask.mapping {
            Mapping::HeadTile => (of.head * self.row_step + of.stream) % self.mesh_rows == self.y,
            Mapping::RowAligned => true,
            Mapping::StreamStriped => ask.close || ask.lag == of.stream % self.mesh_rows,
        }
    }
}
