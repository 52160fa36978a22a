//! The six passes over the emitted Verilog. Each tool finds errors that the others accept.

use crate::emit::{self, SourceFile};
use crate::synth::lint::messages::{self, Message, Severity};
use crate::tools::child::{self, Ended};
use crate::tools::interrupt::{Interrupt, Interrupted};
use crate::tools::{self, Tool, ToolError, Version, Wanted};
use anyhow::Context;
use std::path::Path;

/// Lint waivers, each with its reason; part of the binary, so that `lint` works without the sources.
const WAIVERS: &str = include_str!("../../../sim/lint.vlt");
const WAIVERS_FILE: &str = "lint.vlt";

/// The language of the design with the macro that hides the checks of a simulation, as synthesis reads it.
pub const SYNTHESIS: &str = "1364-2005 for synthesis";

/// How far Verilator reads a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Up to names, widths, drivers and uses, once for each module. Icarus copies every instance below a top, so it
    /// reads routers, tiles, arrays and the parts beside them as tops of their own, and not the modules that join them.
    Modules,
    /// Up to latches and loops of logic, which it finds only after it has copied each module to its every place.
    Places,
}

/// Modules that a mesh instantiates many times, and the parts beside them: as tops of their own, each is copied once.
const PARTS: [&str; 6] = [emit::ROUTER, emit::TILE, emit::PAD, emit::ROOT, emit::PERIPHERY, emit::FRONT];

/// The most tiles of which Verilator copies all modules to all places. More take minutes and gigabytes, and have the same
/// modules.
const MOST_TILES: usize = 32;

impl Depth {
    /// The depth for a mesh of so many tiles.
    pub fn of(tiles: usize) -> Depth {
        if tiles > MOST_TILES {
            Depth::Modules
        } else {
            Depth::Places
        }
    }
}

/// Version of Verilator from which it writes JSON: older ones write XML.
const JSON: Version = Version::padded(5, 30, 3);

/// Sink for output files of tools that no step reads.
const NOWHERE: &str = if cfg!(unix) { "/dev/null" } else { "NUL" };

/// Runs slang, as its own program does, in a Python that has it as a package.
const SLANG_IN_PYTHON: &str = "\
import sys
from pyslang import driver
d = driver.Driver()
d.addStandardArgs()
read = d.parseCommandLine(' '.join(['slang'] + sys.argv[1:])) and d.processOptions() and d.parseAllSources()
sys.exit(0 if read and d.runFullCompilation() else 1)
";

/// A shift by a parameter may shift all bits out, which the language defines as 0.
const SLANG_WAIVER: &str = "-Wno-shift-count-overflow";

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
    slang: Tool,
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
        let wanted = [&tools::VERILATOR, &tools::IVERILOG, &tools::YOSYS, &tools::SLANG, &tools::TCLSH];
        match wanted.map(find) {
            [Ok(verilator), Ok(iverilog), Ok(yosys), Ok(slang), Ok(tclsh)] => {
                Ok(Linters { verilator, iverilog, yosys, slang, tclsh })
            }
            found => Err(found.into_iter().filter_map(Result::err).collect()),
        }
    }

    /// All tools, by name, version and place.
    pub fn tools(&self) -> [&Tool; 5] {
        [&self.verilator, &self.iverilog, &self.yosys, &self.slang, &self.tclsh]
    }

    /// All passes over `sources`, paths below the folder they will run in. Verilator reads the design once to `depth`:
    /// what its other passes look for is known before it copies modules.
    pub fn passes(&self, sources: &[String], top: &str, depth: Depth) -> Vec<Pass<'_>> {
        let verilator = |language, depth| self.verilator_pass(sources, top, language, depth);
        // Yosys takes its script as one argument; our paths have no blanks.
        let read = format!("read_verilog -noautowire {}", sources.join(" "));
        let script =
            format!("{read}; hierarchy -check -top {top}; proc; write_rtlil {}; check -assert", netlist(top));
        let parts: &[&str] = if depth == Depth::Modules && top == emit::TOP { &PARTS } else { &[top] };
        let tops: Vec<&str> = parts.iter().flat_map(|part| ["-s", part]).collect();
        vec![
            verilator("1364-2005", depth),
            verilator("1800-2017", Depth::Modules),
            Pass {
                tool: &self.iverilog,
                language: "1364-2005",
                command: join(&[&["-g2005", "-Wall", "-t", "null"], &tops], sources),
                parse: messages::iverilog,
            },
            Pass {
                tool: &self.yosys,
                language: "1364-2005",
                command: ["-q", "-p", &script].map(str::to_owned).to_vec(),
                parse: messages::yosys,
            },
            verilator(SYNTHESIS, Depth::Modules),
            self.slang_pass(sources, top),
        ]
    }

    fn verilator_pass(
        &self,
        sources: &[String],
        top: &str,
        language: &'static str,
        depth: Depth,
    ) -> Pass<'_> {
        let (standard, defines): (_, &[&str]) = match language {
            SYNTHESIS => ("1364-2005", &["-DSYNTHESIS"]),
            standard => (standard, &[]),
        };
        let ends: &[&str] = match depth {
            Depth::Places => &["--lint-only"],
            Depth::Modules if self.verilator.version >= JSON => {
                &["--json-only", "--json-only-output", NOWHERE, "--json-only-meta-output", NOWHERE]
            }
            Depth::Modules => &["--xml-only", "--xml-output", NOWHERE],
        };
        let options = ["-Wall", "-Wno-fatal", "--language", standard, "--top-module", top];
        Pass {
            tool: &self.verilator,
            language,
            command: join(&[ends, &options, defines, &[WAIVERS_FILE]], sources),
            parse: messages::verilator,
        }
    }

    fn slang_pass(&self, sources: &[String], top: &str) -> Pass<'_> {
        let script: &[&str] = if tools::is_python(&self.slang.path) { &["-c", SLANG_IN_PYTHON] } else { &[] };
        let options = ["--std", "1364-2005", "--error-limit", "0", SLANG_WAIVER, "--top", top];
        Pass {
            tool: &self.slang,
            language: "1364-2005",
            command: join(&[script, &options], sources),
            parse: messages::slang,
        }
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
