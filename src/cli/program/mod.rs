//! The program itself: its command line, its help, its tools, its end.

pub(super) mod command_line;
pub mod completions;
pub mod doctor;
pub mod examples;
pub mod found;
pub mod man;
pub(super) mod names;
pub mod schema;
pub(super) mod scope;
