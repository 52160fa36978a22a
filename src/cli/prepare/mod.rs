//! Subcommands that need no run: they write a configuration, judge its design and generate its files.

pub mod check;
pub mod estimate;
pub(super) mod generate;
pub mod init;
pub mod lint;
pub mod plan;
pub mod prove;
mod subject;
