//! Decode steps on the whole fabric: descriptors in, every slice at every tile that needs it, PART
//! at the roots.
//!
//! ```text
//! Workload -- step --> Descriptor --+--> fabric --> jobs, flits, PART --> ledger --> Decoded
//!                                   +--> expect (slices of each tile) ------^
//! ```
//!
//! * [`step`](step()): the descriptors of a decode step, or of a sample of it.
//! * `scoreboard::expected`: the slices of each tile, from the mapping alone; `scoreboard::ledger`
//!   compares the fabric with them.
//! * `scoreboard::part_packets`: PART packets that must reach the reduce roots.
//! * `tile_array`: the arrays of the tiles, with their timing; the roots behind the fabric are the
//!   model's too.
//! * `queries`: the queries of a layer, which go in before its descriptors.
//! * [`Bench`]: drives the ports cycle by cycle, with [`crate::cosim::memory`] behind the homes.

mod batch;
mod bench;
mod counts;
mod cycle;
mod error;
mod plan;
mod played;
mod ports;
mod run_state;
mod scoreboard;

pub use batch::lengths::{batch_of, stream_lengths, Lengths, StreamLength};
pub use batch::step::{default_segments, default_segments_of, step, step_of, Step, Workload};
pub use batch::workload_error::WorkloadError;
pub use bench::{Bench, Progress};
pub use counts::{Decoded, StepCounts, Swap};
pub use error::DecodeError;
pub use plan::{Order, Plan};
pub use played::pace::Pace;
pub use scoreboard::flits_of_step;

#[cfg(test)]
mod tests;
