//! The command line: one file a subcommand.
//!
//! Subcommands join the library's steps and turn their errors into messages and exit codes: 0 for success, 1
//! for a failed check, 2 for bad input or a missing tool, 130 after Ctrl-C. They decide nothing about the
//! fabric.

mod bounds;
mod breakdown;
pub mod check;
mod choice;
mod command_line;
pub mod completions;
pub mod cosim;
pub mod decode;
mod described;
mod diagnostics;
pub mod doctor;
mod ended;
mod energy;
mod engine;
pub mod estimate;
pub mod examples;
pub mod fetch;
pub mod found;
mod generate;
pub mod init;
pub mod interrupt;
mod library;
pub mod lint;
mod load;
pub mod man;
mod names;
pub mod paper;
mod pictures;
pub mod plan;
mod ports;
mod progress;
mod provenance;
pub mod report;
pub mod run;
pub mod schema;
mod scope;
pub mod sim;
pub mod soak;
pub mod sweep;
pub mod table;
pub mod ui;
mod views;
pub mod whole_file;
mod work;

pub use command_line::{command, parsed, run};
