//! Reasons why a run ends without a result, and their messages.

use crate::cli::simulate::engine::Carrier;
use crate::cli::simulate::ports::Verilog;
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::dut::{DutError, PortDifference};
use crate::cosim::workloads::attention::AttentionError;
use crate::cosim::workloads::decode::DecodeError;
use crate::cosim::workloads::fetch::FetchError;
use crate::cosim::workloads::steps::StepsError;
use std::process::ExitCode;

/// The reason why a run has no result.
pub(in crate::cli) enum Ended {
    /// The user stopped it.
    Stopped,
    /// Model and Verilog differ.
    Differs(Box<PortDifference>),
    /// Ports failed otherwise.
    Dut(DutError),
    /// The run failed.
    Failed(String),
    /// It did not begin.
    Before(anyhow::Error),
}

impl Ended {
    /// Says why the work has no result. `again` runs the Verilog of a difference up to its end.
    ///
    /// # Errors
    /// If the user stopped the run, or waves of the difference cannot be written.
    pub(in crate::cli) fn explain(
        self,
        doing: &str,
        carrier: &Carrier,
        verilog: &Verilog,
        again: impl FnOnce(Box<dyn DutPorts>) -> Option<Ended>,
    ) -> anyhow::Result<ExitCode> {
        match self {
            Ended::Stopped => {
                let what = format!("while {doing}; no result{}", carrier.waves_until_then());
                return verilog.interrupt.explain(Err(anyhow::anyhow!("the run was stopped")), &what);
            }
            Ended::Differs(difference) => {
                verilog.differs(&difference, carrier, |socket| match again(socket) {
                    Some(Ended::Dut(end)) => Some(end),
                    _ => None,
                })?;
            }
            Ended::Dut(end) => verilog.ui.error(format_args!("{end}")),
            Ended::Failed(why) => verilog.ui.error(format_args!("{why}")),
            Ended::Before(error) => return Err(error),
        }
        Ok(ExitCode::FAILURE)
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

impl From<anyhow::Error> for Ended {
    fn from(why: anyhow::Error) -> Ended {
        Ended::Before(why)
    }
}

/// Errors of runs that a caller or the ports can end.
macro_rules! ended_by {
    ($($error:ident)*) => {$(
        impl From<$error> for Ended {
            fn from(why: $error) -> Ended {
                match why {
                    $error::Stopped => Ended::Stopped,
                    $error::Dut(end) => Ended::from(end),
                    failed => Ended::Failed(failed.to_string()),
                }
            }
        }
    )*};
}

ended_by! { AttentionError DecodeError FetchError }

impl From<StepsError> for Ended {
    fn from(why: StepsError) -> Ended {
        Ended::Failed(why.to_string())
    }
}
