//! Registers of a column controller.

use super::pipeline::{At, Item};
use crate::model::cycle::common::Fifo;
use crate::model::cycle::takv::{BusWord, Descriptor};

/// Stages of the pipeline.
pub(super) const STAGES: usize = 6;

/// What the controller does with the descriptor at the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Idle,
    /// The rows of its streams are found.
    Spread,
    /// Its slices enter the pipeline.
    Run,
    Drain,
    Close,
    Sample,
    Barrier,
}

/// A column's controller.
#[derive(Debug, Clone)]
pub(in crate::model::cycle) struct ColumnController {
    pub(super) x: u32,
    pub(super) descriptors: Fifo<Descriptor>,
    pub(super) state: State,
    /// Stream whose row is looked for, and rows found.
    pub(super) stream: u32,
    pub(super) spread: u32,
    pub(super) group: u32,
    pub(super) turn: u32,
    pub(super) at: At,
    /// Stage 1 first.
    pub(super) stages: [Item; STAGES],
    /// Tiles that ask for the slice of stage 6, as far as its pieces are through.
    pub(super) askers: u32,
    /// Where each logical home is, if homes can swap.
    pub(super) places: Option<Box<[usize]>>,
    pub(super) word: Option<BusWord>,
    pub(super) credits: u32,
    pub(super) rotation: u32,
}
