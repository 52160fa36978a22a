//! What is observed of a running design, and what is expected of it.

pub(super) mod expected;
pub(super) mod probes;
pub(super) mod root_sums;
pub(super) mod visit_order;
