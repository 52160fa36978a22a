//! Subcommands over many configurations or many mutants: sweeps, their reports, the paper beside meshkv, mutants.

pub(super) mod energy;
pub mod mutate;
pub mod paper;
pub mod report;
pub mod sweep;
