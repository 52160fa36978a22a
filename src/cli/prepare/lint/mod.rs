//! `meshkv lint`: reads the generated Verilog with every available tool.

mod diagnostics;

use crate::cli::output::diagnostics::{junit, sarif, Diagnostic};
use crate::cli::output::table;
use crate::cli::output::ui::Ui;
use crate::cli::prepare::subject::{Folder, Subject};
use crate::cli::program::found;
use crate::synth::lint::messages::{Message, Severity};
use crate::synth::lint::passes::Linters;
use crate::synth::lint::{self, Reading, Step};
use crate::tools::interrupt::Interrupt;
use crate::tools::whole_file;
use crate::tools::workers;
use anyhow::anyhow;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Read a design or a generated folder with Verilator, Icarus, Yosys, slang and Tcl
///
/// Verilator -Wall reads it as Verilog-2005, with and without the checks of a simulation, and
/// again as SystemVerilog-2017, whose keywords no name may use; Icarus -Wall, Yosys
/// (hierarchy -check, proc, check -assert) and slang read it as Verilog-2005. On the netlist, what
/// crosses between clocks must end in a register. Constraints and scripts run
/// in tclsh with stand-ins for Vivado's commands, which check arguments and look every pattern
/// up in a netlist that Yosys flattened but for the instances that hierarchy.xdc keeps. What
/// scripts and core define for synthesis must be what `meshkv estimate` defines.
/// A design that was found clean is kept in the build cache (MESHKV_CACHE) and not read again.
/// A folder that `meshkv generate` wrote is read as it is; files that differ from its manifest are named as edited.
/// Ends with exit code 1 on any warning or error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv lint configs/tiny.toml
  meshkv lint rtl_out/tiny
  meshkv lint configs/u280_4x8.toml --json | jq '.tools[] | {name, warnings, errors}'")]
pub struct Args {
    /// Configuration file, or a folder that was generated
    #[arg(value_name = "CONFIG", value_hint = clap::ValueHint::AnyPath)]
    config: PathBuf,
    /// Tools at once [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Write all messages as SARIF, for code hosts and editors; an existing file is replaced
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    sarif: Option<PathBuf>,
    /// Write a test for each pass as JUnit's XML, for CI servers; an existing file is replaced
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    junit: Option<PathBuf>,
}

/// Findings of all tools about a design.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct LintOutput {
    /// Name of the configuration.
    name: String,
    /// True if no tool has a warning or an error.
    clean: bool,
    /// The folder that was read; absent if a configuration was.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<Folder>,
    /// A pass of a tool each.
    tools: Vec<Verdict>,
}

/// Result of one pass of a tool.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "LintVerdict")]
struct Verdict {
    /// Name of the tool.
    name: &'static str,
    /// Its version.
    version: String,
    /// Language that it read.
    language: &'static str,
    /// Number of its warnings.
    warnings: usize,
    /// Number of its errors.
    errors: usize,
    /// All of them.
    messages: Vec<Message>,
    /// The same with file, line, column and rule.
    diagnostics: Vec<Diagnostic>,
}

/// Runs the subcommand.
///
/// # Errors
/// All problems of the configuration; the tools that are missing.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let inputs = [("the configuration", args.config.as_path())];
    if let Some(path) = &args.sarif {
        whole_file::spares(path, &inputs)?;
    }
    junit::recorded(args.junit.as_deref(), &inputs, "meshkv lint", ui, || tools(args, ui))
}

fn tools(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let subject = Subject::load(&args.config, ui)?;
    let interrupt = Interrupt::listen()?;
    let jobs = args.jobs.map_or_else(workers::cores, usize::from);
    let read = read(&subject, jobs, &interrupt, ui);
    let verdicts = interrupt.explain(read, "before every tool had read the design")?;
    for verdict in &verdicts {
        let texts: Vec<_> = verdict.messages.iter().map(|message| message.text.as_str()).collect();
        let failure = (!texts.is_empty()).then(|| texts.join("\n"));
        ui.checked(format!("{} as {}", verdict.name, verdict.language), failure);
        for message in &verdict.messages {
            ui.stderr(&message.text);
        }
    }
    if let Some(path) = &args.sarif {
        let all: Vec<_> = verdicts.iter().flat_map(|verdict| verdict.diagnostics.clone()).collect();
        sarif::write(path, &all)?;
        ui.note(format_args!("wrote {}", path.display()));
    }
    let clean = verdicts.iter().all(|v| v.messages.is_empty());
    let output = LintOutput { name: subject.name, clean, folder: subject.folder, tools: verdicts };
    ui.result(&output, || table::columns(&output.tools.iter().map(row).collect::<Vec<_>>()))?;
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Finds the tools and runs each of them on the files, unless they are known to be clean.
fn read(subject: &Subject, jobs: usize, interrupt: &Interrupt, ui: &Ui) -> anyhow::Result<Vec<Verdict>> {
    let stop = || interrupt.requested();
    let linters = Linters::find_by(|wanted| found::find(wanted, &stop, ui)).map_err(|missing| {
        anyhow!(missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("\nerror: "))
    })?;
    let progress = ui.progress(None, "reading the design with every tool");
    let (files, extent) = (&subject.files[..], (subject.depth, jobs));
    let found = lint::read(files, &linters, extent, interrupt, &mut |step| match step {
        Step::Known => ui.detail("this design was read before, by the same tools: clean"),
        Step::Ran(pass) => ui.detail(format_args!("{} {}", pass.tool.path.display(), pass.command.join(" "))),
    })?;
    drop(progress);
    Ok(found.into_iter().map(|reading| verdict(reading, subject.dir())).collect())
}

fn verdict(reading: Reading, dir: Option<&str>) -> Verdict {
    let Reading { tool, language, messages } = reading;
    let count = |severity| messages.iter().filter(|m| m.severity == severity).count();
    Verdict {
        name: tool.name,
        version: tool.version.to_string(),
        language,
        warnings: count(Severity::Warning),
        errors: count(Severity::Error),
        diagnostics: diagnostics::of(tool.name, &messages, dir),
        messages,
    }
}

fn row(verdict: &Verdict) -> Vec<String> {
    let tool = format!("{} {}", verdict.name, verdict.version);
    let language = format!("as {}", verdict.language);
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    vec![tool, language, count(verdict.warnings, "warning"), count(verdict.errors, "error")]
}
