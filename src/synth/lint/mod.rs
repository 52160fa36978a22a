//! Reads the emitted files with every tool: Verilator, Icarus, Yosys and slang read the Verilog, checks walk the netlist of
//! Yosys, and Tcl runs constraints and scripts.

pub mod defines;
pub mod graph;
mod kept;
pub mod messages;
pub mod passes;
pub mod unset;
pub mod vivado;

use crate::emit::{self, SourceFile};
use crate::synth::netlist::modules::Modules;
use crate::tools::interrupt::Interrupt;
use crate::tools::{workers, Tool};
use anyhow::{Context, Result};
use graph::flat::Flat;
use kept::Kept;
use messages::Message;
use passes::{Depth, Linters, Pass};
use std::path::Path;

/// Result of one pass of a tool.
#[derive(Debug)]
pub struct Reading<'a> {
    /// The tool.
    pub tool: &'a Tool,
    /// Language that it read.
    pub language: &'static str,
    /// All its warnings and errors.
    pub messages: Vec<Message>,
}

/// Step of the reading, for progress output.
pub enum Step<'s> {
    /// The design is kept as clean, and is not read again.
    Known,
    /// A pass has ended.
    Ran(&'s Pass<'s>),
}

/// Runs every tool on the files to a depth, so many at once, unless the files are known to be clean.
///
/// # Errors
/// When a tool cannot be started, a file cannot be written, or on Ctrl-C.
pub fn read<'a>(
    files: &[SourceFile],
    linters: &'a Linters,
    (depth, jobs): (Depth, usize),
    interrupt: &Interrupt,
    hear: &mut dyn FnMut(Step),
) -> Result<Vec<Reading<'a>>> {
    let stop = || interrupt.requested();
    let kept = Kept::of(files, linters, depth, &stop);
    if kept.is_clean() {
        hear(Step::Known);
        return Ok(clean(files, linters, depth));
    }
    let readings = lint(files, linters, (depth, jobs), interrupt, hear)?;
    if readings.iter().all(|reading| reading.messages.is_empty()) {
        kept.keep();
    }
    Ok(readings)
}

/// The readings on a design in which no tool finds anything.
fn clean<'a>(files: &[SourceFile], linters: &'a Linters, depth: Depth) -> Vec<Reading<'a>> {
    let passes = linters.passes(&[], emit::TOP, depth);
    let read = passes.iter().map(|pass| (pass.tool, pass.language));
    let [constraints, scripts] = vivado::concerns(files);
    let board = [(constraints, "XDC"), (scripts, "Tcl")].into_iter().filter(|(concerned, _)| *concerned);
    let board = board.map(|(_, language)| (&linters.tclsh, language));
    read.chain(board).map(|(tool, language)| Reading { tool, language, messages: Vec::new() }).collect()
}

/// Runs constraints and scripts, if any, once Yosys has elaborated and flattened the objects that they name.
fn board<'a>(
    files: &[SourceFile],
    linters: &'a Linters,
    (dir, modules): (&Path, Option<&Modules>),
    interrupt: &Interrupt,
) -> Result<Vec<Reading<'a>>> {
    let [constraints, scripts] = vivado::concerns(files);
    let mut readings = Vec::new();
    let Some(modules) = modules else { return Ok(readings) };
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
        readings.push(Reading { tool: &linters.tclsh, language: "XDC", messages });
    }
    if scripts {
        let mut messages = defines::check(dir)?;
        for name in vivado::SCRIPTS {
            let found = vivado::Installation::default();
            messages.extend(vivado::script(&linters.tclsh, dir, (emit::TOP, name), found, interrupt)?);
        }
        readings.push(Reading { tool: &linters.tclsh, language: "Tcl", messages });
    }
    Ok(readings)
}

/// The modules that are read by themselves: the top, and the converters that it does not instantiate.
fn tops(files: &[SourceFile]) -> Vec<&'static str> {
    let has = |top: &&str| files.iter().any(|f| f.path == format!("rtl/board/{top}.v"));
    [emit::TOP].into_iter().chain(vivado::CONVERTERS.into_iter().filter(has)).collect()
}

/// Runs the passes, `jobs` at once: they share only the files they read.
fn lint<'a>(
    files: &[SourceFile],
    linters: &'a Linters,
    (depth, jobs): (Depth, usize),
    interrupt: &Interrupt,
    hear: &mut dyn FnMut(Step),
) -> Result<Vec<Reading<'a>>> {
    let dir =
        tempfile::Builder::new().prefix("meshkv-lint").tempdir().context("cannot make a temporary folder")?;
    let sources = passes::lay_out(files, dir.path())?;
    let passes: Vec<_> = tops(files).into_iter().map(|top| linters.passes(&sources, top, depth)).collect();
    let kinds = passes[0].len();
    let pieces: Vec<_> = passes.iter().flatten().enumerate().collect();
    let mut found: Vec<Vec<Message>> = vec![Vec::new(); pieces.len()];
    workers::work(&pieces, jobs, &|(_, pass)| pass.run(dir.path(), interrupt), &mut |(place, pass), run| {
        hear(Step::Ran(pass));
        found[*place] = run?;
        Ok(())
    })?;
    let elaborated = dir.path().join(passes::netlist(emit::TOP)).is_file();
    let read = || vivado::registers(linters, dir.path(), emit::TOP, interrupt);
    let modules = elaborated.then(read).transpose()?;
    let mut readings = Vec::new();
    for (kind, pass) in passes[0].iter().enumerate() {
        // The passes of the converters are the same as those of the top, and count with them.
        let mut messages: Vec<_> = found.iter().skip(kind).step_by(kinds).flatten().cloned().collect();
        if let (true, Some(modules)) = (pass.tool.name == linters.yosys.name, &modules) {
            messages.extend(unset::check(&Flat::new(modules, emit::TOP)?));
        }
        readings.push(Reading { tool: pass.tool, language: pass.language, messages });
    }
    readings.extend(board(files, linters, (dir.path(), modules.as_ref()), interrupt)?);
    Ok(readings)
}

#[cfg(test)]
mod tests {
    use crate::synth::lint::messages::Severity;
    use crate::synth::lint::*;

    /// A reading: name of its tool and language, number of its warnings and errors, and its messages.
    struct Said {
        name: &'static str,
        language: &'static str,
        warnings: usize,
        errors: usize,
        messages: Vec<Message>,
    }

    fn said(verilog: &str) -> Vec<Said> {
        let file = SourceFile { path: "rtl/meshkv_top.v".to_owned(), text: verilog.to_owned() };
        let linters = Linters::find().expect("lint needs its tools; run `meshkv doctor`");
        let extent = (Depth::Places, 2);
        let readings = lint(&[file], &linters, extent, &Interrupt::default(), &mut |_| ()).unwrap();
        let said = |Reading { tool, language, messages }: Reading| {
            let count = |severity| messages.iter().filter(|m| m.severity == severity).count();
            let [warnings, errors] = [Severity::Warning, Severity::Error].map(count);
            Said { name: tool.name, language, warnings, errors, messages }
        };
        readings.into_iter().map(said).collect()
    }

    const CLEAN: &str = "`default_nettype none\nmodule meshkv_top (\n    input  wire s_valid,\n    output wire m_valid\n);\n    assign m_valid = s_valid;\nendmodule\n`default_nettype wire\n";

    #[test]
    fn a_clean_module_passes_every_tool() {
        for one in said(CLEAN) {
            assert_eq!(one.messages, [], "{} as {}", one.name, one.language);
        }
    }

    #[test]
    fn a_width_mismatch_is_a_warning_of_verilator() {
        let found = said(&CLEAN.replace("= s_valid", "= {s_valid, s_valid}"));
        assert_eq!((found[0].name, found[0].warnings, found[0].errors), ("verilator", 1, 0));
    }

    #[test]
    fn a_systemverilog_keyword_is_caught_by_the_second_pass_only() {
        let found = said(&CLEAN.replace("s_valid", "logic"));
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
        let warnings: Vec<_> = said(&text).iter().map(|one| one.warnings).collect();
        assert_eq!(warnings, [0, 0, 0, 0, 1, 0]);
    }

    #[test]
    fn a_net_that_is_used_before_its_declaration_is_an_error_of_slang() {
        let late = CLEAN.replace("= s_valid;", "= stall;\n    wire stall = s_valid;");
        let found = said(&late);
        assert_eq!((found[5].name, found[5].errors), ("slang", 1));
    }

    #[test]
    fn latches_and_loops_are_warnings_where_verilator_reads_all_places() {
        let latch = "    reg latch;\n    always @(*) if (s_valid) latch = s_valid;\n";
        let of_loop = "    wire turn;\n    assign turn = ~turn & latch;\n";
        let text = CLEAN
            .replace("    assign", &format!("{latch}{of_loop}    assign"))
            .replace("= s_valid;\nend", "= turn;\nend");
        let found = said(&text);
        let names: Vec<_> = found[0].messages.iter().filter_map(|m| m.text.split(':').next()).collect();
        assert_eq!(names, ["%Warning-LATCH", "%Warning-UNOPTFLAT"]);
        assert_eq!(found[1].warnings, 0);
    }

    #[test]
    fn an_undeclared_name_is_an_error_of_yosys_and_icarus() {
        let found = said(&CLEAN.replace("= s_valid", "= s_vali"));
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
        let found = said(&undriven);
        assert!(found[3].warnings > 0 && found[3].errors > 0);
    }
}
