//! The host's view: registers, buffers, counters.

pub(super) mod buffers;
pub(super) mod counters;
pub(super) mod exchange;
pub(super) mod host_facts;
pub mod registers;
pub(super) mod totals;
