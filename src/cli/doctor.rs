//! `meshkv doctor`: lists the external tools that are found, and how to install the others.

use super::table;
use super::ui::Ui;
use crate::tools::{self, Tool, ToolError, Wanted};
use serde_json::json;
use std::process::ExitCode;

/// List the external tools that are found, their versions, and what to install
///
/// Each tool is looked for in its own environment variable (MESHKV_VERILATOR, MESHKV_IVERILOG,
/// MESHKV_YOSYS, CXX, MESHKV_TCLSH), then on PATH, then in .tools/venv of the project. Ends with exit code 2
/// if one is missing or too old.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv doctor
  MESHKV_VERILATOR=/opt/verilator/bin/verilator meshkv doctor --json")]
pub struct Args {}

/// Runs the subcommand.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(_args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let found: Vec<_> = tools::ALL.iter().map(|&wanted| (wanted, tools::find(wanted))).collect();
    let tools: Vec<_> = found.iter().map(|(wanted, result)| as_json(wanted, result)).collect();
    let complete = found.iter().all(|(_, result)| result.is_ok());
    ui.result(&json!({ "ok": complete, "tools": tools }), || {
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
        Ok(tool) => (tool.version.to_string(), format!("{} (from {})", tool.path.display(), tool.source)),
        Err(_) => ("-".to_owned(), "not usable, see below".to_owned()),
    };
    let oldest = format!(">= {}", wanted.oldest);
    vec![wanted.name.to_owned(), version, oldest, format!("for {}", wanted.purpose), place]
}

fn as_json(wanted: &Wanted, result: &Result<Tool, ToolError>) -> serde_json::Value {
    let tool = result.as_ref().ok();
    json!({
        "name": wanted.name,
        "ok": tool.is_some(),
        "version": tool.map(|t| t.version.to_string()),
        "oldest": wanted.oldest.to_string(),
        "path": tool.map(|t| t.path.display().to_string()),
        "source": tool.map(|t| t.source.to_string()),
        "purpose": wanted.purpose,
        "install": wanted.install,
        "problem": result.as_ref().err().map(ToString::to_string),
    })
}
