//! Attention of a decode step on the whole design. Queries and descriptors go in, external memory
//! is behind the homes, and outputs in FP16 come out. Each is compared in every bit with the model
//! of the datapath.
//!
//! ```text
//! Tensors -- Job --> queries, descriptor, memory image --> core under Verilator --> outputs, counters, timeline
//!                                                                |
//!                  order of segments (controllers) and of partials (roots, as observed) --> model --> the same
//! ```

mod bench;
mod bound;
mod core;
mod error;
mod growth;
mod job;
mod model_core;
mod observed;
mod own;
mod result;
mod session;

pub use bench::Bench;
pub use error::{lengths_fit, AttentionError, JobError};
pub use job::Job;
pub use model_core::ModelCore;
pub use observed::visit_order::{visits, Visit};
pub use own::Own;
pub use result::{AttentionResult, HeadSums, Sample, Saturated};
pub use session::Session;

pub(in crate::cosim) use observed::expected::expected;
pub(in crate::cosim) use observed::probes::Probes;
pub(in crate::cosim) use own::{slice_bytes, slices};
