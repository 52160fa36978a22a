//! Errors of a running simulation.

use super::port_difference::PortDifference;

/// Reason why a simulation cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DutError {
    /// A check in the RTL fired (`$stop`), or Verilator gave up. The handle cannot be used again.
    #[error("the simulation stopped {0}")]
    Stopped(String),
    /// Two fabrics side by side have different outputs.
    #[error("{0}")]
    Differ(Box<PortDifference>),
    /// The requested waves are written; the rest need not be simulated.
    #[error("waves were written up to cycle {0}")]
    Written(u64),
    /// The fabric broke the protocol of a local link. Usable again after a reset.
    #[error("link protocol broken {0}")]
    Protocol(String),
    /// The library was built for another design.
    #[error("the compiled fabric does not fit the design: {0}")]
    Mismatch(String),
    /// The wave file cannot be written.
    #[error("{0}")]
    Wave(String),
    /// The source queues or the model do not fit into memory.
    #[error("out of memory for the co-simulation")]
    Memory,
}
