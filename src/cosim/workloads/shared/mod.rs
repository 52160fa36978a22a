//! Common parts of several workloads.

pub(super) mod bound;
pub(super) mod breakdown;
pub(super) mod fabric_pins;
pub(super) mod homes;
pub(super) mod limit;
pub(super) mod page_writer;
pub(super) mod slice_id;
pub(super) mod tile_errors;
pub(super) mod token_writers;
pub(super) mod watchdog;
