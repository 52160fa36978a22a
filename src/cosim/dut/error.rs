//! Errors of a running simulation.

use super::port_difference::PortDifference;

/// Why a simulation cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DutError {
    /// A check in the RTL fired (`$stop`), or Verilator gave up. The handle is of no more use.
    #[error("the simulation stopped {0}")]
    Stopped(String),
    /// Two fabrics that run side by side show different things.
    #[error("{0}")]
    Differ(Box<PortDifference>),
    /// The waves that were asked for are written; what comes after them need not be simulated.
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
