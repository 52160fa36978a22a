//! The command line: one file a subcommand.
//!
//! Subcommands join the library's steps and turn their errors into messages and exit codes: 0 for success, 1
//! for a failed check, 2 for bad input or a missing tool, 130 after Ctrl-C. They decide nothing about the
//! fabric.

pub mod compare;
mod load;
pub mod output;
pub mod prepare;
pub mod program;
pub mod simulate;

pub use program::command_line::{command, parsed, run};
