//! Decode steps one after the other over caches that grow: append, attend, next.
//!
//! ```text
//! Schedule -- batch of the step --> Caches -- Job --> one step --> outputs
//!                                     ^                  |
//!                                     +---- grown -------+      at the end: memory == image of the caches
//! ```
//!
//! * [`Schedule`]: the prompts, and the streams that are in the batch of each step.
//! * [`Caches`]: tokens of each stream. It refuses a step before anything is written, and has the contents that a host
//!   would have written.
//! * [`decode()`]: the loop. The engine of a step is an argument: a [`Session`](super::attention::Session), or a device.

mod caches;
mod decode;
mod error;
mod schedule;

pub use caches::Caches;
pub use decode::{check, decode, Difference, Stepped};
pub use error::StepsError;
pub use schedule::Schedule;
