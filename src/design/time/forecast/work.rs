//! Work of a slice in each part.

use crate::design::design::Design;
use crate::design::mare::row_flits::flits_of_rows;
use crate::design::pad::array::Array;
use crate::design::takv::descriptor::Descriptor;
use crate::design::takv::mapping::{Mapping, Piece};

/// Work for a slice, in flits and cycles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    /// Flits of K, and of V.
    pub(super) halves: [f64; 2],
    /// Fetches of a tile: the chunks of K, and of both.
    pub(super) chunks: [u32; 2],
    /// Blocks of V whose weights are loaded together.
    pub(super) blocks: f64,
    /// Cycles of its bytes at the whole bandwidth of the memory.
    pub(super) bytes: f64,
    /// Cycles of the memory port without the rests of its channel, and with them.
    pub(super) memory: [f64; 2],
    /// Cycles of an array in one pass.
    pub(super) pass: f64,
    /// Slices for which this one stands.
    pub(super) weight: f64,
}

impl Work {
    /// The work for the segment with this index of a descriptor.
    pub(super) fn new(design: &Design, d: &Descriptor, index: u32, weight: f64) -> Work {
        let rows = d.rows(index, design.placement.segment_tokens);
        let parts: Vec<f64> =
            flits_of_rows(design, rows).into_iter().map(|range| range.count() as f64).collect();
        let (v, k) = (parts[parts.len() - 1], parts[parts.len() - 2]);
        // Scales of tokens come before K, and pass no array.
        let scales: f64 = parts[..parts.len() - 2].iter().sum();
        let (chunk, head_dim) = (f64::from(design.mare.chunk_flits), f64::from(design.pe.head_dim));
        let elements = design.flit.elements;
        // A flit of several tokens of K passes once for each, and a flit of ones follows each block of V.
        let tokens = f64::from((elements / design.pe.head_dim).max(1));
        let pass = k * tokens + v + v / head_dim;
        // A port takes a flit a cycle, however fast its channel is: it cannot make up for a rest.
        let flit_bytes = f64::from(design.flit.data_width / 8);
        let beat = (flit_bytes / design.memory.bytes_per_cycle_channel).max(1.0);
        let left = design.memory.refresh.map_or(1.0, |refresh| refresh.left());
        let of_k = (k / chunk).ceil() as u32;
        let channels = f64::from(design.fpga().hbm_channels);
        Work {
            halves: [k, v],
            chunks: [of_k, of_k + (v / chunk).ceil() as u32],
            blocks: f64::from(rows.1 / elements - rows.0 / elements + 1),
            bytes: (scales + k + v) * flit_bytes / (design.memory.bytes_per_cycle() * channels),
            memory: [
                (scales + k + v) * (flit_bytes / design.memory.bytes_per_cycle()).max(1.0),
                (scales + k + v) * beat / left,
            ],
            pass: pass * design.clock.noc_mhz / design.clock.pe_mhz,
            weight,
        }
    }

    /// Cycles of an array for all flits.
    pub(super) fn array(&self, [of_k, of_v]: Passes) -> f64 {
        let [k, v] = self.halves;
        self.pass / self.flits() * (k * f64::from(of_k) + v * f64::from(of_v))
    }

    /// Flits of K and V.
    pub(super) fn flits(&self) -> f64 {
        self.halves[0] + self.halves[1]
    }

    /// Flits of the chunks before one, where a whole one has `size`.
    pub(super) fn flits_before(&self, chunk: u32, size: f64) -> f64 {
        match chunk.checked_sub(self.chunks[0]) {
            Some(of_v) => self.halves[0] + f64::from(of_v) * size,
            None => f64::from(chunk) * size,
        }
    }

    /// Flits of a chunk, where a whole one has `size`.
    pub(super) fn chunk_flits(&self, chunk: u32, size: f64) -> f64 {
        let value = chunk >= self.chunks[0];
        let before = if value { chunk - self.chunks[0] } else { chunk };
        (self.halves[usize::from(value)] - f64::from(before) * size).min(size)
    }
}

/// Passes of a flit of K, and of V.
pub(super) type Passes = [u32; 2];

/// Passes of a flit of a piece's slice in each row of the column, by the contexts of the fullest row of the array; 0
/// where no tile fetches it.
pub(super) fn passes(design: &Design, d: &Descriptor, piece: &Piece, home_row: u32) -> Vec<Passes> {
    let (heads, rows) = (&design.heads, design.mesh.rows());
    let group = design.model.group_heads();
    let (array, narrow) = (Array::of(design), design.pe.narrow);
    let mut contexts = vec![vec![0; array.rows as usize]; rows as usize];
    let mut fetched = vec![false; rows as usize];
    for head in heads.of_column(piece.column) {
        let index = heads.index(head);
        if piece.mask >> index & 1 == 0 {
            continue;
        }
        for stream in d.stream..d.stream + d.streams {
            let row = match d.mapping {
                Mapping::HeadTile => heads.fixed_row(index, stream),
                Mapping::RowAligned => home_row,
                Mapping::StreamStriped => (stream + home_row) % rows,
            } as usize;
            fetched[row] = true;
            if head / group == piece.kv_head {
                contexts[row][((stream + index) % array.rows) as usize] += 1;
            }
        }
    }
    // A slice passes once where nobody attends with its KV head.
    let of_row = |(contexts, fetched): (Vec<u32>, bool)| {
        let passes = |narrow| if fetched { array.passes(&contexts, narrow).max(1) } else { 0 };
        [passes(narrow.keys()), passes(narrow.values())]
    };
    contexts.into_iter().zip(fetched).map(of_row).collect()
}
