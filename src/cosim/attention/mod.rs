//! Attention of a decode step on the whole design: queries and descriptors in, external memory behind the homes,
//! outputs in FP16 out, each compared in every bit with the model of the datapath.
//!
//! ```text
//! Tensors -- Job --> queries, descriptor, memory image --> core under Verilator --> outputs, counters, timeline
//!                                                                |
//!                  order of segments (controllers) and of partials (roots, as observed) --> model --> the same
//! ```

mod attended;
mod bench;
mod job;
mod numbered;
mod numbers;
mod order;
mod probes;

pub use attended::{Attended, Sample};
pub use bench::{AttentionError, Bench};
pub use job::{Job, JobError};
pub use numbered::NumberedCore;
pub use order::{visits, Visit};

pub(super) use numbers::expected;
pub(super) use probes::Probes;
