//! A trace of requests that was decoded with continuous batching: its steps, what follows from them, and their pictures.

mod plot;
mod row;

pub use plot::batching_plots;
pub use row::{BatchStep, BatchingLog, BatchingRow, Values};
