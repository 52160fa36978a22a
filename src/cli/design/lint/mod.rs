//! `meshkv lint`: reads the generated Verilog with every available tool.

pub mod defines;
mod diagnostics;
pub mod graph;
mod kept;
pub mod messages;
pub mod passes;
mod subject;
pub mod unset;
pub mod vivado;

use crate::cli::output::diagnostics::{junit, sarif, Diagnostic};
use crate::cli::output::table;
use crate::cli::output::ui::Ui;
use crate::cli::program::found;
use crate::cli::program::interrupt::Interrupt;
use crate::cli::program::whole_file;
use crate::emit::{self, SourceFile};
use crate::tools::workers;
use crate::tools::Tool;
use anyhow::{anyhow, Context};
use graph::connections::Modules;
use graph::flat::Flat;
use kept::Kept;
use messages::{Message, Severity};
use passes::{Depth, Linters};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use subject::{Folder, Subject};

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
    let mut verdicts = interrupt.explain(read, "before every tool had read the design")?;
    for verdict in &mut verdicts {
        verdict.diagnostics = diagnostics::of(verdict.name, &verdict.messages, subject.dir());
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

/// Runs every tool on the files, unless they are known to be clean.
fn read(subject: &Subject, jobs: usize, interrupt: &Interrupt, ui: &Ui) -> anyhow::Result<Vec<Verdict>> {
    let stop = || interrupt.requested();
    let linters = Linters::find_by(|wanted| found::find(wanted, &stop, ui)).map_err(|missing| {
        anyhow!(missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("\nerror: "))
    })?;
    let (files, depth) = (&subject.files[..], subject.depth);
    let kept = Kept::of(files, &linters, depth, &stop);
    if kept.is_clean() {
        ui.detail("this design was read before, by the same tools: clean");
        return Ok(clean(files, &linters, depth));
    }
    let verdicts = lint(files, &linters, (depth, jobs), interrupt, ui)?;
    if verdicts.iter().all(|verdict| verdict.messages.is_empty()) {
        kept.keep();
    }
    Ok(verdicts)
}

/// The verdicts on a design in which no tool finds anything.
fn clean(files: &[SourceFile], linters: &Linters, depth: Depth) -> Vec<Verdict> {
    let passes = linters.passes(&[], emit::TOP, depth);
    let read = passes.iter().map(|pass| (pass.tool, pass.language));
    let [constraints, scripts] = vivado::concerns(files);
    let board = [(constraints, "XDC"), (scripts, "Tcl")].into_iter().filter(|(concerned, _)| *concerned);
    let board = board.map(|(_, language)| (&linters.tclsh, language));
    read.chain(board).map(|(tool, language)| verdict(tool, language, Vec::new())).collect()
}

/// Runs constraints and scripts, if any, once Yosys has elaborated and flattened the objects that they name.
fn board(
    files: &[SourceFile],
    linters: &Linters,
    (dir, modules): (&Path, Option<&Modules>),
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<Verdict>> {
    let [constraints, scripts] = vivado::concerns(files);
    let mut verdicts = Vec::new();
    let Some(modules) = modules else { return Ok(verdicts) };
    if constraints {
        let mut messages = Vec::new();
        for top in tops(files) {
            messages.extend(graph::flatten::flatten(linters, dir, top, interrupt)?);
            messages.extend(vivado::constraints(&linters.tclsh, dir, top, interrupt)?);
        }
        messages.extend(graph::slr::check(modules, dir, emit::TOP)?);
        messages.extend(graph::fanout::check(modules, emit::TOP)?);
        messages.extend(graph::crossings::check(&Flat::new(modules, emit::TOP)?));
        if scripts {
            messages.extend(vivado::pins(linters, dir, interrupt)?);
        }
        verdicts.push(verdict(&linters.tclsh, "XDC", messages));
    }
    if scripts {
        let mut messages = defines::check(dir)?;
        for name in vivado::SCRIPTS {
            let found = vivado::Installation::default();
            messages.extend(vivado::script(&linters.tclsh, dir, (emit::TOP, name), found, interrupt)?);
        }
        verdicts.push(verdict(&linters.tclsh, "Tcl", messages));
    }
    Ok(verdicts)
}

/// The modules that are read by themselves: the top, and the converters that it does not instantiate.
fn tops(files: &[SourceFile]) -> Vec<&'static str> {
    let has = |top: &&str| files.iter().any(|f| f.path == format!("rtl/board/{top}.v"));
    [emit::TOP].into_iter().chain(vivado::CONVERTERS.into_iter().filter(has)).collect()
}

/// Runs the passes, `jobs` at once: they share only the files they read.
fn lint(
    files: &[SourceFile],
    linters: &Linters,
    (depth, jobs): (Depth, usize),
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<Vec<Verdict>> {
    let dir =
        tempfile::Builder::new().prefix("meshkv-lint").tempdir().context("cannot make a temporary folder")?;
    let sources = passes::lay_out(files, dir.path())?;
    let passes: Vec<_> = tops(files).into_iter().map(|top| linters.passes(&sources, top, depth)).collect();
    let kinds = passes[0].len();
    let pieces: Vec<_> = passes.iter().flatten().enumerate().collect();
    let progress = ui.progress(None, "reading the design with every tool");
    let mut found: Vec<Vec<Message>> = vec![Vec::new(); pieces.len()];
    workers::work(&pieces, jobs, &|(_, pass)| pass.run(dir.path(), interrupt), &mut |(place, pass), run| {
        ui.detail(format_args!("{} {}", pass.tool.path.display(), pass.command.join(" ")));
        found[*place] = run?;
        Ok(())
    })?;
    let elaborated = dir.path().join(passes::netlist(emit::TOP)).is_file();
    let read = || Modules::read(linters, dir.path(), emit::TOP, interrupt);
    let modules = elaborated.then(read).transpose()?;
    let mut verdicts = Vec::new();
    for (kind, pass) in passes[0].iter().enumerate() {
        // The passes of the converters are the same as those of the top, and count with them.
        let mut messages: Vec<_> = found.iter().skip(kind).step_by(kinds).flatten().cloned().collect();
        if let (true, Some(modules)) = (pass.tool.name == linters.yosys.name, &modules) {
            messages.extend(unset::check(&Flat::new(modules, emit::TOP)?));
        }
        verdicts.push(verdict(pass.tool, pass.language, messages));
    }
    verdicts.extend(board(files, linters, (dir.path(), modules.as_ref()), interrupt)?);
    drop(progress);
    Ok(verdicts)
}

fn verdict(tool: &Tool, language: &'static str, messages: Vec<Message>) -> Verdict {
    let count = |severity| messages.iter().filter(|m| m.severity == severity).count();
    Verdict {
        name: tool.name,
        version: tool.version.to_string(),
        language,
        warnings: count(Severity::Warning),
        errors: count(Severity::Error),
        messages,
        diagnostics: Vec::new(),
    }
}

fn row(verdict: &Verdict) -> Vec<String> {
    let tool = format!("{} {}", verdict.name, verdict.version);
    let language = format!("as {}", verdict.language);
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    vec![tool, language, count(verdict.warnings, "warning"), count(verdict.errors, "error")]
}

#[cfg(test)]
mod tests {
    use crate::cli::design::lint::*;

    fn verdicts(verilog: &str) -> Vec<Verdict> {
        let file = SourceFile { path: "rtl/meshkv_top.v".to_owned(), text: verilog.to_owned() };
        let linters = Linters::find().expect("lint needs its tools; run `meshkv doctor`");
        lint(&[file], &linters, (Depth::Places, 2), &Interrupt::default(), &Ui::silent()).unwrap()
    }

    const CLEAN: &str = "`default_nettype none\nmodule meshkv_top (\n    input  wire s_valid,\n    output wire m_valid\n);\n    assign m_valid = s_valid;\nendmodule\n`default_nettype wire\n";

    #[test]
    fn a_clean_module_passes_every_tool() {
        for verdict in verdicts(CLEAN) {
            assert_eq!(verdict.messages, [], "{} as {}", verdict.name, verdict.language);
        }
    }

    #[test]
    fn a_width_mismatch_is_a_warning_of_verilator() {
        let found = verdicts(&CLEAN.replace("= s_valid", "= {s_valid, s_valid}"));
        assert_eq!((found[0].name, found[0].warnings, found[0].errors), ("verilator", 1, 0));
    }

    #[test]
    fn a_systemverilog_keyword_is_caught_by_the_second_pass_only() {
        let found = verdicts(&CLEAN.replace("s_valid", "logic"));
        assert_eq!((found[0].language, found[0].errors), ("1364-2005", 0));
        assert_eq!(found[1].language, "1800-2017");
        assert!(found[1].errors > 0);
    }

    #[test]
    fn what_only_a_check_of_simulation_reads_is_a_warning_of_the_last_pass() {
        let check =
            "`ifndef SYNTHESIS\n    always @(posedge s_valid) if (s_again) $stop;\n`endif\nendmodule\n";
        let ports = "    input  wire s_valid,\n    input  wire s_again,\n";
        let text = CLEAN.replace("endmodule\n", check).replace("    input  wire s_valid,\n", ports);
        let warnings: Vec<_> = verdicts(&text).iter().map(|verdict| verdict.warnings).collect();
        assert_eq!(warnings, [0, 0, 0, 0, 1, 0]);
    }

    #[test]
    fn a_net_that_is_used_before_its_declaration_is_an_error_of_slang() {
        let late = CLEAN.replace("= s_valid;", "= stall;\n    wire stall = s_valid;");
        let found = verdicts(&late);
        assert_eq!((found[5].name, found[5].errors), ("slang", 1));
    }

    #[test]
    fn latches_and_loops_are_warnings_where_verilator_reads_all_places() {
        let latch = "    reg latch;\n    always @(*) if (s_valid) latch = s_valid;\n";
        let of_loop = "    wire turn;\n    assign turn = ~turn & latch;\n";
        let text = CLEAN
            .replace("    assign", &format!("{latch}{of_loop}    assign"))
            .replace("= s_valid;\nend", "= turn;\nend");
        let found = verdicts(&text);
        let names: Vec<_> = found[0].messages.iter().filter_map(|m| m.text.split(':').next()).collect();
        assert_eq!(names, ["%Warning-LATCH", "%Warning-UNOPTFLAT"]);
        assert_eq!(found[1].warnings, 0);
    }

    #[test]
    fn an_undeclared_name_is_an_error_of_yosys_and_icarus() {
        let found = verdicts(&CLEAN.replace("= s_valid", "= s_vali"));
        for (at, name) in [(2, "iverilog"), (3, "yosys")] {
            assert_eq!(found[at].name, name);
            assert!(found[at].errors > 0, "{name}");
        }
    }

    #[test]
    fn a_wire_without_a_driver_is_a_finding_of_yosys() {
        let undriven = CLEAN
            .replace("    assign", "    wire stall;\n    assign")
            .replace("= s_valid", "= s_valid & stall");
        let found = verdicts(&undriven);
        assert!(found[3].warnings > 0 && found[3].errors > 0);
    }
}
