//! `meshkv man`: writes a manual page for each subcommand.

use crate::cli::output::ui::Ui;
use anyhow::Context;
use schemars::JsonSchema;
use serde::Serialize;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the manual pages of all subcommands
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv man ~/.local/share/man/man1
  man meshkv-run")]
pub struct Args {
    /// Folder for the pages
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    dir: PathBuf,
}

/// The pages that were written.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct ManOutput {
    /// Their folder.
    dir: String,
}

/// Runs the subcommand; `command` is the whole command line.
///
/// # Errors
/// When the folder cannot be made or written.
pub fn run(args: &Args, command: clap::Command, ui: &Ui) -> anyhow::Result<ExitCode> {
    let shown = args.dir.display();
    fs::create_dir_all(&args.dir).with_context(|| format!("cannot make the folder {shown}"))?;
    clap_mangen::generate_to(command, &args.dir).with_context(|| format!("cannot write into {shown}"))?;
    ui.result(&ManOutput { dir: shown.to_string() }, || format!("{shown}\n"))?;
    Ok(ExitCode::SUCCESS)
}
