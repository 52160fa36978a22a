//! Tests of the kernel printer.

mod equivalence;
mod print;
mod refusals;
