//! Works other than network traffic that can be simulated: by their own names, or below `cosim` and `sim`.

use crate::cli::output::ui::Ui;
use crate::cli::simulate::{decode, fetch, run};
use crate::config::Engine;
use std::process::ExitCode;

// No doc comment: it would become that of the subcommand.
#[allow(missing_docs)]
#[derive(Debug, clap::Subcommand)]
pub enum Work {
    Fetch(Box<fetch::Args>),
    Decode(Box<decode::Args>),
    Run(Box<run::Args>),
}

impl Work {
    /// Runs the work on its selected engine, or on `default`. Exit code 1 if the fabric did anything wrong.
    ///
    /// # Errors
    /// A wrong configuration or argument, a missing tool, a file that cannot be written, or Ctrl-C.
    pub(in crate::cli) fn run(&self, default: Engine, ui: &Ui) -> anyhow::Result<ExitCode> {
        match self {
            Work::Fetch(args) => fetch::run(args, default, ui),
            Work::Decode(args) => decode::run(args, default, ui),
            Work::Run(args) => run::run(args, default, ui),
        }
    }
}
