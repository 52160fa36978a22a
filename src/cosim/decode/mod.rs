//! Decode steps on the whole fabric: descriptors in, every slice at every tile that needs it, PART at the roots.
//!
//! ```text
//! Workload -- step --> Descriptor --+--> fabric --> jobs, flits, PART --> ledger --> Decoded
//!                                   +--> expect (who must get what) --------^
//! ```
//!
//! * [`step`](step()): the descriptors of a decode step, or of a stated sample of it.
//! * `expect`: which tile must get which slice, from the mapping alone; `ledger` holds the fabric to it.
//! * `parts`: PART packets and what must reach the reduce roots.
//! * `compute`: the arrays of the tiles, as long as they take; the roots behind the fabric are the model's too.
//! * `queries`: the queries of a layer, which go in before its descriptors.
//! * [`Bench`]: drives the ports cycle by cycle, with [`super::memory`] behind the homes.

mod account;
mod bench;
mod compute;
mod descriptor;
mod error;
mod expect;
mod ledger;
mod measured;
mod pace;
mod parts;
mod period;
mod plan;
mod ports;
mod queries;
mod run;
mod step;
mod waiting;

pub use bench::{Bench, Progress};
pub use descriptor::{named_twice, Descriptor};
pub use error::{DecodeError, MemoryFault};
pub use expect::flits_of_step;
pub use measured::{Decoded, StepCounts, Swap};
pub use pace::Pace;
pub use plan::{Order, Plan, TIMEOUT};
pub use step::{step, Step, Workload, WorkloadError};

#[cfg(test)]
mod tests;
