//! Prints a kernel as Verilog.

pub(super) mod error;
pub(super) mod kernel;
pub(super) mod print;
pub(super) mod symbols;
