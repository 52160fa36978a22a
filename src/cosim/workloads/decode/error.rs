//! Errors of a run of decode steps.

use super::plan::TIMEOUT;
use crate::cosim::dut::DutError;

/// Why a run could not end, or ended in vain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The fabric stopped.
    #[error(transparent)]
    Dut(#[from] DutError),
    /// Nothing moved although something was awaited.
    #[error("nothing has moved for {cycles} cycles at cycle {at}: {blocked}")]
    Stuck {
        /// How long.
        cycles: u64,
        /// When it was noticed.
        at: u64,
        /// Who waits for what.
        blocked: String,
    },
    /// A home reports that its memory failed; all else came to its end.
    #[error("external memory failed: {first}{others}\n  help: what was read there is not to be trusted; the step has to be run again")]
    Memory {
        /// The first that was noticed.
        first: MemoryFault,
        /// How many others there are, as words.
        others: String,
        /// All of them.
        all: Vec<MemoryFault>,
    },
    /// The caller did not want to wait any longer.
    #[error("the run was stopped")]
    Stopped,
}

/// What a home reports of its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryFault {
    /// (x, y) of the home.
    pub tile: (u32, u32),
    /// No answer in time, rather than an answer that is an error.
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
