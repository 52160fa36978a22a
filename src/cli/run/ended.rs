//! Reasons why a run ends without a result.

use crate::cosim::dut::{DutError, PortDifference};
use crate::cosim::workloads::attention::AttentionError;

/// The reason why a run has no result.
pub(super) enum Ended {
    /// The user stopped it.
    Stopped,
    /// Model and Verilog differ.
    Differs(Box<PortDifference>),
    /// Ports failed otherwise.
    Dut(DutError),
    /// The run failed.
    Failed(String),
}

impl From<AttentionError> for Ended {
    fn from(why: AttentionError) -> Ended {
        match why {
            AttentionError::Stopped => Ended::Stopped,
            AttentionError::Dut(end) => Ended::from(end),
            failed => Ended::Failed(failed.to_string()),
        }
    }
}

impl From<DutError> for Ended {
    fn from(why: DutError) -> Ended {
        match why {
            DutError::Differ(difference) => Ended::Differs(difference),
            end => Ended::Dut(end),
        }
    }
}
