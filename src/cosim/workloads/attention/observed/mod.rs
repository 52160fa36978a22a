//! Observations of a running design, and the expected ones.

pub(super) mod expected;
pub(super) mod probes;
pub(super) mod root_sums;
pub(super) mod visit_order;
