//! Errors of a run of decode steps.

use crate::cosim::dut::DutError;
use crate::cosim::workloads::shared::tile_errors::TileError;

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
    /// A tile reports an error; all else came to its end.
    #[error(
        "{first}{others}\n  help: what came from there is not to be trusted; the step has to be run again"
    )]
    Reported {
        /// The first report.
        first: TileError,
        /// Number of the others, as words.
        others: String,
        /// All reports.
        all: Vec<TileError>,
    },
    /// The caller gave up waiting.
    #[error("the run was stopped")]
    Stopped,
}
