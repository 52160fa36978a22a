//! Errors of a run of decode steps.

use crate::cosim::dut::DutError;
use crate::cosim::workloads::TIMEOUT;

/// Reason why a run could not end, or its result is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The fabric stopped.
    #[error(transparent)]
    Dut(#[from] DutError),
    /// Nothing moved although a result is due.
    #[error("nothing has moved for {cycles} cycles at cycle {at}: {blocked}")]
    Stuck {
        /// Cycles without movement.
        cycles: u64,
        /// Cycle of the finding.
        at: u64,
        /// Tiles, and what each waits for.
        blocked: String,
    },
    /// It moves, and does not end.
    #[error("the run has not ended by cycle {at}, its bound: {moving}\n  help: this is a livelock, or a bound that does not know this workload")]
    Endless {
        /// Cycle of the bound.
        at: u64,
        /// The bound, what still moves, and what is awaited.
        moving: String,
    },
    /// A home reports a failed memory; all else came to its end.
    #[error("external memory failed: {first}{others}\n  help: what was read there is not to be trusted; the step has to be run again")]
    Memory {
        /// The first report.
        first: MemoryFault,
        /// Number of the others, as words.
        others: String,
        /// All reports.
        all: Vec<MemoryFault>,
    },
    /// The caller gave up waiting.
    #[error("the run was stopped")]
    Stopped,
}

/// A home's report of a failed memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryFault {
    /// (x, y) of the home.
    pub tile: (u32, u32),
    /// True for an answer that did not come in time, false for an error response.
    pub timeout: bool,
}

impl std::fmt::Display for MemoryFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (x, y) = self.tile;
        match self.timeout {
            false => write!(f, "a read of tile ({x}, {y}) was answered with an error"),
            true => write!(f, "a read of tile ({x}, {y}) was not answered within {TIMEOUT} cycles"),
        }
    }
}
