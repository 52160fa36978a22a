//! Expected slices and partial results of a run, compared with those that came.

pub(super) mod expected;
pub(super) mod ledger;
pub(super) mod part_packets;
mod stall_report;
pub(super) mod tile_account;

pub use expected::flits_of_step;
