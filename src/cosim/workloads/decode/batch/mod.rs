//! The batch of a step: lengths, spans, and the step as descriptors.

mod kinds;
pub(super) mod lengths;
pub(super) mod spans;
pub(super) mod step;
pub(super) mod workload_error;
