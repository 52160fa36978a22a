//! The model behind the packed ports of a fabric.
//!
//! It carries the low 64 bits of a payload, enough to identify a flit of memory or of PART.

mod core;
mod engine;
mod fabric;
mod flits;
mod nodes;
mod packed;
mod pe_clock;

pub use core::TileJob;
pub use fabric::FabricPorts;
pub use nodes::NodePorts;
pub(in crate::cosim) use pe_clock::PeClock;
