//! Subcommands on a configuration and its design.

pub mod check;
pub mod estimate;
pub(super) mod generate;
pub mod init;
pub mod lint;
pub mod plan;
