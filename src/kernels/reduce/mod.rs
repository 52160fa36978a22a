//! Decisions of the roots that add partial results.

pub mod root_phase;
