//! Tests of the emitted files.

mod check;
mod clock_crossings;
pub mod constraints;
mod files;
mod goldens;
mod lint_matrix;
mod lint_named;
mod ports;
mod registers;
mod slr_crossings;
mod unset;
mod verdict;
mod write;
