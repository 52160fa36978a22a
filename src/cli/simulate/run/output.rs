//! Output of `meshkv run` as JSON.

use crate::cli::simulate::reported::faults::FaultsOutput;
use crate::cli::simulate::run::report::AttentionOutput;
use crate::cli::simulate::run::steps::report::StepsOutput;
use crate::cli::simulate::run::trace::TraceOutput;
use crate::eval::AttentionRow;
use schemars::JsonSchema;
use serde::Serialize;

/// Result of `run`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::cli) enum RunOutput<'a> {
    /// Attention of one step.
    Attention(AttentionOutput<'a>),
    /// A run with `--fault`.
    Faulted(Box<FaultsOutput<AttentionRow>>),
    /// Decode steps one after the other, with `--steps`.
    Steps(StepsOutput<'a>),
    /// A trace of requests, with `--trace`.
    Trace(TraceOutput<'a>),
}
