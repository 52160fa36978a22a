//! Tests of the kernel printer, and of kernels in the cells that they control.

mod cells;
mod equivalence;
mod print;
mod refusals;
