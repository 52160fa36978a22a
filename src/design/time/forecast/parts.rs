//! State of tiles, homes and results while a step is followed.

use crate::design::network::mesh::NodeId;
use crate::design::time::forecast::work::{Passes, Work};
use std::collections::VecDeque;
use std::ops::Range;

/// A slice and its way through its home.
#[derive(Debug)]
pub(super) struct Slice {
    /// Its home.
    pub(super) home: NodeId,
    /// Its work.
    pub(super) work: Work,
    /// Its first burst is in the staging memory.
    pub(super) resident: bool,
    /// Times at which its first flit is in the staging memory, and its last.
    pub(super) filled: Range<f64>,
    /// Tiles whose first fetch waits for it.
    pub(super) parked: Vec<usize>,
    /// Chunks that its tiles have not been sent.
    pub(super) left: u32,
}

/// Results of a column after a round, of each of its tiles.
#[derive(Debug)]
pub(super) struct Close {
    /// The column.
    pub(super) column: usize,
    /// Results of a tile.
    pub(super) results: f64,
    /// Cycles of the array in which sums of a result are read, and from its start to that of the next.
    pub(super) reading: [f64; 2],
    /// Cycles in which the root merges those of a tile at least, and with their way.
    pub(super) merging: [f64; 2],
    /// Times of the first and the last result of each tile so far.
    pub(super) ready: Vec<(f64, f64)>,
}

/// Next job of a tile.
#[derive(Debug, Clone, Copy)]
pub(super) enum Job {
    /// It fetches a slice, each flit of which has so many passes.
    Slice(usize, Passes),
    /// It sends results.
    Close(usize),
}

/// Chunks that a tile has requested and results that it must send, in order.
#[derive(Debug, Clone, Copy)]
pub(super) enum Due {
    /// A chunk, and when its last flit arrives, once that is known.
    Chunk {
        /// The slice.
        slice: usize,
        /// Number of the chunk.
        chunk: u32,
        /// Passes of each flit.
        passes: Passes,
        /// Time of its last flit.
        arrives: Option<f64>,
    },
    /// Results.
    Close(usize),
}

/// A tile.
#[derive(Debug, Clone, Default)]
pub(super) struct Tile {
    pub(super) jobs: VecDeque<Job>,
    /// Chunks of the first job that it has asked for.
    pub(super) asked: u32,
    /// Time at which the first flit of that slice has come.
    pub(super) opened: Option<f64>,
    /// Time of its last fetch.
    pub(super) last: f64,
    pub(super) due: VecDeque<Due>,
    /// Times from which its FIFO has room for a chunk.
    pub(super) rooms: VecDeque<f64>,
    /// Times at which its array has taken all flits so far, and all results are read.
    pub(super) taken: f64,
    pub(super) read: f64,
}

/// A request that tiles can join.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) slice: usize,
    pub(super) chunk: u32,
    pub(super) opens: f64,
    pub(super) tiles: Vec<usize>,
}

/// A home.
#[derive(Debug, Default)]
pub(super) struct Home {
    /// Slices to be filled, in order.
    pub(super) fills: VecDeque<usize>,
    /// Requests with open windows, in order.
    pub(super) requests: VecDeque<Request>,
    /// Fetches that find the table full: tile, slice, chunk.
    pub(super) waiting: VecDeque<(usize, usize, u32)>,
    /// Time at which it has streamed all so far.
    pub(super) free: f64,
    /// Time of the next look at its windows.
    pub(super) next: f64,
}
