//! `meshkv init`: writes a configuration to begin with, with every key explained.

use crate::cli::output::ui::Ui;
use crate::cli::program::scope::{Only, Scope};
use crate::config::{self, Preset};
use crate::tools::whole_file;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a configuration that explains every key
///
/// It is the one that fits the Alveo U280 and is as fast as its memory, unless --preset asks for another.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv init                    write meshkv.toml
  meshkv init configs/wide.toml  write it elsewhere; the design is named after the file
  meshkv init --preset u55c      the fabric for the Alveo U55C
  meshkv init --preset tiny      a fabric that builds in seconds")]
pub struct Args {
    /// File to write; `-` is standard output
    #[arg(default_value = "meshkv.toml", value_hint = clap::ValueHint::FilePath)]
    path: PathBuf,
    /// Configuration to begin with
    #[arg(long, value_enum, default_value_t)]
    preset: Preset,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

/// Where options have an effect.
pub(in crate::cli) const SCOPES: &[Scope] = &[Scope {
    of: &["force"],
    only: &[Only::Unless("path", &["-"])],
    why: "standard output replaces nothing",
}];

/// The file that was written.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct InitOutput {
    /// Its path; `-` is standard output.
    path: String,
    /// Its text, of standard output alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Runs the subcommand.
///
/// # Errors
/// When the file exists and `--force` is not given, or cannot be written.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let text = config::commented(args.preset);
    if args.path.as_os_str() == "-" {
        let output = InitOutput { path: "-".to_owned(), text: Some(text.clone()) };
        ui.document(&output, || text)?;
        return Ok(ExitCode::SUCCESS);
    }
    whole_file::write(&args.path, text.as_bytes(), args.force)?;
    let shown = args.path.display();
    ui.result(&InitOutput { path: shown.to_string(), text: None }, || format!("{shown}\n"))?;
    ui.next(format_args!("meshkv check {shown}"));
    Ok(ExitCode::SUCCESS)
}
