//! The netlist of Yosys as a graph, and the checks that walk it.

pub mod crossings;
pub mod fanout;
pub mod flat;
pub mod flatten;
pub mod objects;
pub mod slr;
pub(super) mod summary;
