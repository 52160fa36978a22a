//! Random stimulus for the ports of the whole fabric: descriptors, a memory that answers with a hash of the address,
//! arrays that accept flits now and then, meaningless partial results.
//!
//! It checks nothing. Its actions follow from its seed and from the outputs of the fabric.

mod memory;
mod network;
mod pace;
mod port;
mod run;
mod state;
mod stimulus;
mod ways;

pub use pace::{Pace, Seen, LIVELY};
pub use state::{fabric_ports, RandomFabric};
