//! The five passes over the emitted Verilog. Each tool finds errors that the others accept.

use super::messages::{self, Message, Severity};
use crate::cli::interrupt::{Interrupt, Interrupted};
use crate::emit::SourceFile;
use crate::tools::child::{self, Ended};
use crate::tools::{self, Tool, ToolError, Wanted};
use anyhow::Context;
use std::path::Path;

/// Lint waivers, each with its reason; part of the binary, so that `lint` works without the sources.
const WAIVERS: &str = include_str!("../../../sim/lint.vlt");
const WAIVERS_FILE: &str = "lint.vlt";

/// The language of the design with the macro that hides the checks of a simulation, as synthesis reads it.
pub const SYNTHESIS: &str = "1364-2005 for synthesis";

/// File of the elaborated netlist of a module.
pub fn netlist(top: &str) -> String {
    format!("{top}.netlist.il")
}

/// File of the netlist of a module with the hierarchy that synthesis leaves, in which constraints look names up.
pub fn flattened(top: &str) -> String {
    format!("{top}.flattened.il")
}

/// The tools of all passes.
#[derive(Debug)]
pub struct Linters {
    verilator: Tool,
    iverilog: Tool,
    /// Yosys, which also elaborates the objects that constraints name.
    pub yosys: Tool,
    /// Runs constraints and scripts.
    pub tclsh: Tool,
}

/// One reading of the design by one tool.
#[derive(Debug)]
pub struct Pass<'a> {
    /// The tool.
    pub tool: &'a Tool,
    /// The language it reads: that of the design, or the later one whose keywords it must avoid. The first is
    /// read with the checks of a simulation and without them ([`SYNTHESIS`]).
    pub language: &'static str,
    /// Arguments of the tool.
    pub command: Vec<String>,
    parse: fn(&str) -> Vec<Message>,
}

impl Linters {
    /// Finds all tools.
    ///
    /// # Errors
    /// All that are missing, too old or broken, not only the first.
    pub fn find() -> Result<Linters, Vec<ToolError>> {
        Linters::find_by(tools::find)
    }

    /// Finds all tools by a search of the caller.
    ///
    /// # Errors
    /// As [`Linters::find`].
    pub fn find_by(
        find: impl FnMut(&'static Wanted) -> Result<Tool, ToolError>,
    ) -> Result<Linters, Vec<ToolError>> {
        let found = [&tools::VERILATOR, &tools::IVERILOG, &tools::YOSYS, &tools::TCLSH].map(find);
        match found {
            [Ok(verilator), Ok(iverilog), Ok(yosys), Ok(tclsh)] => {
                Ok(Linters { verilator, iverilog, yosys, tclsh })
            }
            found => Err(found.into_iter().filter_map(Result::err).collect()),
        }
    }

    /// All passes over `sources`, paths below the folder they will run in.
    pub fn passes(&self, sources: &[String], top: &str) -> Vec<Pass<'_>> {
        let verilator = |language| {
            let (standard, defines): (_, &[&str]) = match language {
                SYNTHESIS => ("1364-2005", &["-DSYNTHESIS"]),
                standard => (standard, &[]),
            };
            let options = ["--lint-only", "-Wall", "-Wno-fatal", "--language", standard, "--top-module", top];
            Pass {
                tool: &self.verilator,
                language,
                command: join(&[&options, defines, &[WAIVERS_FILE]], sources),
                parse: messages::verilator,
            }
        };
        // Yosys takes its script as one argument; our paths have no blanks.
        let read = format!("read_verilog -noautowire {}", sources.join(" "));
        let script =
            format!("{read}; hierarchy -check -top {top}; proc; write_rtlil {}; check -assert", netlist(top));
        vec![
            verilator("1364-2005"),
            verilator("1800-2017"),
            Pass {
                tool: &self.iverilog,
                language: "1364-2005",
                command: join(&[&["-g2005", "-Wall", "-t", "null", "-s", top]], sources),
                parse: messages::iverilog,
            },
            Pass {
                tool: &self.yosys,
                language: "1364-2005",
                command: ["-q", "-p", &script].map(str::to_owned).to_vec(),
                parse: messages::yosys,
            },
            verilator(SYNTHESIS),
        ]
    }
}

fn join(options: &[&[&str]], sources: &[String]) -> Vec<String> {
    options.concat().into_iter().map(str::to_owned).chain(sources.iter().cloned()).collect()
}

/// Writes the sources of the passes into an empty folder; returns the paths of the Verilog.
///
/// # Errors
/// When a file cannot be written.
pub fn lay_out(files: &[SourceFile], dir: &Path) -> anyhow::Result<Vec<String>> {
    let waivers = SourceFile { path: WAIVERS_FILE.to_owned(), text: WAIVERS.to_owned() };
    for file in files.iter().chain([&waivers]) {
        let path = dir.join(&file.path);
        let parent = path.parent().context("a generated file has no folder")?;
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&path, &file.text))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    // Verilog outside `rtl/` is for the card, and instantiates parts of Vivado.
    let of_fabric = |path: &String| path.starts_with("rtl/") && path.ends_with(".v");
    Ok(files.iter().map(|f| f.path.clone()).filter(of_fabric).collect())
}

impl Pass<'_> {
    /// Runs the pass in the folder of the sources.
    ///
    /// # Errors
    /// When the tool cannot be started, or was ended by Ctrl-C.
    pub fn run(&self, dir: &Path, interrupt: &Interrupt) -> anyhow::Result<Vec<Message>> {
        let mut command = self.tool.command();
        command.args(&self.command).current_dir(dir);
        child::keep_temporaries(&mut command);
        let ended = child::run(command, &|| interrupt.requested())
            .with_context(|| format!("cannot run {}", self.tool.path.display()))?;
        let Ended::Itself(output) = ended else {
            return Err(Interrupted("before every tool had read the design".to_owned()).into());
        };
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let mut messages = (self.parse)(&said.concat());
        // A tool that fails without a known error message has still failed.
        if !output.status.success() && !messages.iter().any(|m| m.severity == Severity::Error) {
            let text =
                format!("{} ended with {}:\n{}", self.tool.name, output.status, said.concat().trim_end());
            messages.push(Message { severity: Severity::Error, text });
        }
        Ok(messages)
    }
}
