//! The ports of a fabric as the model shows them.
//!
//! Payloads are their low 64 bits: of a flit of memory or of PART that is enough to tell which one it is.

mod core;
mod engine;
mod fabric;
mod flits;
mod nodes;
mod packed;
mod pe_clock;

pub use core::ToldJob;
pub use fabric::FabricPorts;
pub use nodes::NodePorts;
pub(in crate::cosim) use pe_clock::PeClock;
