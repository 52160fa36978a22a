//! Runs in which a host, or its memory, does what it must not.
//!
//! * [`Faulted`]: a run with faults that are injected on request, and the run after it;
//! * [`Trial`]: an error that is provoked between two runs that are as they should be.

mod faulted;
mod trial;

pub use faulted::{Faulted, Recovery};
pub use trial::{count_descriptors, Trial, Way, REFUSALS};
