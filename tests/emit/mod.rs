//! Tests of the emitted files.

mod constraints;
mod files;
mod goldens;
mod lint_matrix;
mod slr_crossings;
mod verdict;
mod write;
