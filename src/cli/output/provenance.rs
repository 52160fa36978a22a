//! Origin of a result: the first key of every JSON object that a subcommand prints or writes.

use crate::cli::output::diagnostics::Diagnostic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Program, configuration and seed of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// Name of the program.
    pub program: Cow<'static, str>,
    /// Version of the program.
    pub version: Cow<'static, str>,
    /// Name of the configuration: the stem of its file's name; null if none was read.
    pub config: Option<String>,
    /// SHA-256 of the configuration that ran, in hexadecimal: of compact JSON with every key and default. Files that
    /// mean the same have the same. Null if none was read.
    pub config_sha256: Option<String>,
    /// Seed of all random choices; null if nothing is drawn, or rows have seeds of their own.
    pub seed: Option<u64>,
}

impl Default for Provenance {
    fn default() -> Self {
        Provenance {
            program: env!("CARGO_PKG_NAME").into(),
            version: env!("CARGO_PKG_VERSION").into(),
            config: None,
            config_sha256: None,
            seed: None,
        }
    }
}

/// Times that differ from run to run of the same command: the second key of every JSON object. All others repeat.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Wall {
    /// Seconds of wall time since the program began.
    pub seconds: f64,
    /// Simulated cycles a second of wall time of each run of traffic, scoreboard included, in the order of the results.
    pub cycles_per_second: Vec<f64>,
}

/// What is printed instead of a result if there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorOutput {
    /// The failure.
    pub error: Failure,
    /// Problems of the configuration or the sweep file, one by one, in the order of their places; empty for other
    /// failures.
    pub diagnostics: Vec<Diagnostic>,
}

/// A failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Failure {
    /// Exit code of the program: 1 a check failed, 2 bad input or a missing tool, 130 interrupted.
    pub exit_code: i32,
    /// All that was said of it, a line each, without colour.
    pub message: String,
}
