//! Changes of a design's text: what can be changed, what is, and how all changes fit into one text.

pub(super) mod curated;
pub(super) mod guard;
pub mod mutant;
pub(super) mod operators;
pub(super) mod verilog;
