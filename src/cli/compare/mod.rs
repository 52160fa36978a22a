//! Subcommands over many configurations: sweeps, their reports, the paper beside meshkv.

pub(super) mod energy;
pub mod paper;
pub mod report;
pub mod sweep;
