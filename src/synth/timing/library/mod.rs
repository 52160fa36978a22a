//! Delays of UltraScale+ cells.

pub(super) mod arcs;
pub(super) mod cells;
pub(super) mod delays;
pub(super) mod dsp;
