//! Reasons why a run of attention has no result.

use crate::cosim::dut::DutError;

/// Reason why a run gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttentionError {
    /// The fabric stopped.
    #[error(transparent)]
    Dut(#[from] DutError),
    /// Nothing moved for too long.
    #[error(
        "nothing has moved for {cycles} cycles at cycle {at}: {missing} of {heads} outputs have not come"
    )]
    Stuck {
        /// Cycles without an output, a read or a flit of PART.
        cycles: u64,
        /// Cycle.
        at: u64,
        /// Outputs still missing.
        missing: usize,
        /// All outputs.
        heads: usize,
    },
    /// All outputs came, and new tokens are not written.
    #[error("nothing has moved for {cycles} cycles at cycle {at}: {waiting}")]
    Unwritten {
        /// Cycles without movement.
        cycles: u64,
        /// Cycle.
        at: u64,
        /// What is not written.
        waiting: String,
    },
    /// It moves, and does not end.
    #[error("the run has not ended by cycle {at}, its bound: {moving}\n  help: this is a livelock, or a bound that does not know this workload")]
    Endless {
        /// Cycle of the bound.
        at: u64,
        /// The bound, what still moves, and what is awaited.
        moving: String,
    },
    /// The caller gave up waiting.
    #[error("the run was stopped")]
    Stopped,
}
