//! `meshkv schema`: the JSON Schema of the configuration, for editors.

use super::ui::Ui;
use crate::config;
use std::process::ExitCode;

/// Print the JSON Schema of the configuration, for editors
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv schema > meshkv.schema.json
  then, as the first line of a configuration:  #:schema ./meshkv.schema.json")]
pub struct Args {}

/// Runs the subcommand.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(_args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    // A schema is JSON with and without `--json`.
    ui.print(&format!("{:#}\n", config::json_schema()))?;
    Ok(ExitCode::SUCCESS)
}
