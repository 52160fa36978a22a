//! Registers of a column controller.

use super::pipeline::{At, Item};
use crate::model::cycle::common::Fifo;
use crate::model::cycle::takv::{BusWord, Descriptor};

/// Stages of the pipeline.
pub(super) const STAGES: usize = 6;

/// State of the descriptor at the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Idle,
    /// Collects the rows of its streams.
    Spread,
    /// Its slices enter the pipeline.
    Run,
    Drain,
    Close,
    Sample,
    Barrier,
}

/// Column controller.
#[derive(Debug, Clone)]
pub(in crate::model::cycle) struct ColumnController {
    pub(super) x: u32,
    pub(super) descriptors: Fifo<Descriptor>,
    pub(super) state: State,
    /// Next stream to be collected, and rows collected so far.
    pub(super) stream: u32,
    pub(super) spread: u32,
    /// Streams with a descriptor of another mapping than one tile per head since they were closed.
    pub(super) scattered: Box<[bool]>,
    /// Some stream of the descriptor is scattered: all rows of the column are asked for its results.
    pub(super) gathers: bool,
    pub(super) group: u32,
    pub(super) turn: u32,
    pub(super) at: At,
    /// The round that ends is the last.
    pub(super) ends: bool,
    /// Heads of this column in the round, by their places: a close names them.
    pub(super) closing: u64,
    /// Stage 1 first.
    pub(super) stages: [Item; STAGES],
    /// Tiles that request the slice of stage 6, counted over the pieces so far.
    pub(super) askers: u32,
    /// Tile of each logical home, if homes can swap.
    pub(super) places: Option<Box<[usize]>>,
    pub(super) word: Option<BusWord>,
    pub(super) credits: u32,
    pub(super) rotation: u32,
    /// Turns of a lap.
    pub(super) lap: u32,
}
