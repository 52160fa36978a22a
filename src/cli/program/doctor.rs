//! `meshkv doctor`: lists the external tools that are found, and how to install the others.

use crate::cli::output::table;
use crate::cli::output::ui::Ui;
use crate::cli::program::found;
use crate::tools::{self, Tool, ToolError, Wanted};
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;

/// List the external tools that are found, their versions, and what to install
///
/// Each tool is looked for in its own environment variable (MESHKV_VERILATOR, MESHKV_IVERILOG,
/// MESHKV_YOSYS, MESHKV_SLANG, CXX, MESHKV_TCLSH), whose words after the program are its arguments, then on PATH,
/// then in .tools/venv of the project. Ends with exit code 2 if one is missing or too old.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv doctor
  MESHKV_VERILATOR=/opt/verilator/bin/verilator meshkv doctor --json")]
pub struct Args {}

/// All external tools.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct DoctorOutput {
    /// True if every tool is there and new enough.
    ok: bool,
    /// The tools.
    tools: Vec<ToolOutput>,
}

/// One tool.
#[derive(Debug, Serialize, JsonSchema)]
struct ToolOutput {
    /// Name.
    name: &'static str,
    /// True if it can be used.
    ok: bool,
    /// Version that was found; null if there is none that can be used.
    version: Option<String>,
    /// Oldest version that works.
    oldest: String,
    /// Path of the program, and its arguments if its variable has any.
    path: Option<String>,
    /// Place in which it was found: an environment variable, PATH, or the environment of the project.
    source: Option<String>,
    /// Subcommands that need it.
    purpose: &'static str,
    /// Command that installs it.
    install: &'static str,
    /// Reason why it cannot be used; null if it can.
    problem: Option<String>,
}

/// Runs the subcommand.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(_args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let found: Vec<_> =
        tools::ALL.iter().map(|&wanted| (wanted, found::find(wanted, &|| false, ui))).collect();
    let tools = found.iter().map(|(wanted, result)| output(wanted, result)).collect();
    let complete = found.iter().all(|(_, result)| result.is_ok());
    ui.result(&DoctorOutput { ok: complete, tools }, || {
        table::columns(&found.iter().map(|(wanted, result)| row(wanted, result)).collect::<Vec<_>>())
    })?;
    for (_, result) in &found {
        if let Err(problem) = result {
            ui.error(problem);
        }
    }
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

fn row(wanted: &Wanted, result: &Result<Tool, ToolError>) -> Vec<String> {
    let (version, place) = match result {
        Ok(tool) => (tool.version.to_string(), format!("{} (from {})", tool.program(), tool.source)),
        Err(_) => ("-".to_owned(), "not usable, see below".to_owned()),
    };
    let oldest = format!(">= {}", wanted.oldest);
    vec![wanted.name.to_owned(), version, oldest, format!("for {}", wanted.purpose), place]
}

fn output(wanted: &Wanted, result: &Result<Tool, ToolError>) -> ToolOutput {
    let tool = result.as_ref().ok();
    ToolOutput {
        name: wanted.name,
        ok: tool.is_some(),
        version: tool.map(|t| t.version.to_string()),
        oldest: wanted.oldest.to_string(),
        path: tool.map(|t| t.program().to_string()),
        source: tool.map(|t| t.source.to_string()),
        purpose: wanted.purpose,
        install: wanted.install,
        problem: result.as_ref().err().map(ToString::to_string),
    }
}
