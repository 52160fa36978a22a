//! `meshkv completions`: prints the completion script of a shell.

use crate::cli::output::ui::Ui;
use clap_complete::Shell;
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv completions bash > ~/.local/share/bash-completion/completions/meshkv
  meshkv completions zsh  > ~/.zfunc/_meshkv
  meshkv completions fish > ~/.config/fish/completions/meshkv.fish")]
pub struct Args {
    /// Shell to complete in
    shell: Shell,
}

/// A completion script.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct CompletionsOutput {
    /// Shell that reads it.
    shell: String,
    /// Its text.
    script: String,
}

/// Runs the subcommand; `command` is the whole command line.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &Args, mut command: clap::Command, ui: &Ui) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "meshkv", &mut script);
    let script = String::from_utf8(script)?;
    let output = CompletionsOutput { shell: args.shell.to_string(), script };
    ui.document(&output, || output.script.clone())?;
    Ok(ExitCode::SUCCESS)
}
