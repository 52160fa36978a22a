//! The printer of kernels.

mod equivalence;
mod print;
mod refusals;
