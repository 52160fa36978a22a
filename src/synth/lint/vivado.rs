//! Runs constraints and scripts in `tclsh`, with stand-ins for Vivado's commands that look names up in the
//! netlist with the hierarchy that synthesis leaves.

use crate::design::Fpga;
use crate::emit::{self, SourceFile, CARD_DEFINES};
use crate::synth::lint::graph::objects::to_tcl;
use crate::synth::lint::messages::{Message, Severity};
use crate::synth::lint::passes::{self, flattened, Linters};
use crate::synth::netlist::modules::Modules;
use crate::tools::child::{self, Ended};
use crate::tools::interrupt::{Interrupt, Interrupted};
use crate::tools::{self, Tool, ToolError};
use anyhow::{bail, Context as _, Result};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The stand-ins, part of the binary, so that `lint` works without the sources.
const ENGINE: [(&str, &str); 7] = [
    ("netlist.tcl", include_str!("../../../sim/vivado/netlist.tcl")),
    ("commands.tcl", include_str!("../../../sim/vivado/commands.tcl")),
    ("check.tcl", include_str!("../../../sim/vivado/check.tcl")),
    ("meaning.tcl", include_str!("../../../sim/vivado/meaning.tcl")),
    ("reports.tcl", include_str!("../../../sim/vivado/reports.tcl")),
    ("places.tcl", include_str!("../../../sim/vivado/places.tcl")),
    ("system.tcl", include_str!("../../../sim/vivado/system.tcl")),
];
/// Constraints of one kind of the top, or of a converter. Those of kind `hierarchy` are of synthesis: the instances that
/// keep their hierarchy.
pub fn constraint(top: &str, kind: &str) -> String {
    let prefix = if top == emit::TOP { String::new() } else { format!("{top}_") };
    format!("constraints/{prefix}{kind}.xdc")
}

/// Their path below the folder of the sources.
const ENGINE_FOLDER: &str = "vivado-stand-in";

/// Constraints that name objects below the top after synthesis, in the order in which they are read.
const CONSTRAINTS: [&str; 3] = ["clocks", "crossings", "floorplan"];

/// The converters that scripts package, in designs that have them.
pub const CONVERTERS: [&str; 2] = ["meshkv_axi3_read", "meshkv_axi3_io"];

/// Finds the Tcl interpreter.
///
/// # Errors
/// When it is missing, too old or broken.
pub fn find() -> Result<Tool, ToolError> {
    tools::find(&tools::TCLSH)
}

/// Returns whether the files include constraints, and scripts.
pub fn concerns(files: &[SourceFile]) -> [bool; 2] {
    ["constraints/crossings.xdc", "scripts/kernel.tcl"].map(|path| files.iter().any(|f| f.path == path))
}

/// Runs the constraints of synthesis on the elaborated netlist. Returns the findings and the paths of the instances
/// that keep their hierarchy.
///
/// # Errors
/// When the netlist cannot be read or the interpreter cannot be started.
pub fn hierarchy(
    tclsh: &Tool,
    dir: &Path,
    (netlist, top): (&Modules, &str),
    interrupt: &Interrupt,
) -> Result<(Vec<Message>, Vec<String>)> {
    let (names, number) = to_tcl(netlist, top, "")?;
    let file = constraint(top, "hierarchy");
    let job = format!(
        "set vivado::scope {number}\nvivado::prepare_xdc\nvivado::run_xdc {file}\nvivado::print_kept\n"
    );
    let (messages, said) = run(tclsh, dir, "hierarchy", &(names + &job), interrupt)?;
    Ok((messages, said.lines().filter_map(|line| line.strip_prefix("kept ")).map(str::to_owned).collect()))
}

/// Runs the constraints of the sources in `dir`, whose netlist was flattened.
///
/// # Errors
/// When the netlist cannot be read or the interpreter cannot be started.
pub fn constraints(tclsh: &Tool, dir: &Path, top: &str, interrupt: &Interrupt) -> Result<Vec<Message>> {
    // The elaborated netlist is there for the messages: it has the levels that are dissolved.
    let (elaborated, whole) = to_tcl(&read(dir, &passes::netlist(top))?, top, "e")?;
    let (names, number) = to_tcl(&read(dir, &flattened(top))?, top, "")?;
    let mut job =
        format!("set vivado::scope {number}\nset vivado::elaborated {whole}\nvivado::prepare_xdc\n");
    for file in CONSTRAINTS.map(|kind| constraint(top, kind)) {
        // A converter has no floorplan.
        if dir.join(&file).is_file() {
            // Writing to a String cannot fail.
            let _ = writeln!(job, "vivado::run_xdc {file}");
        }
    }
    let _ = writeln!(job, "vivado::check_crossings {}", constraint(top, "crossings"));
    Ok(run(tclsh, dir, "constraints", &(elaborated + &names + &job), interrupt)?.0)
}

/// Reads a netlist that Yosys wrote.
///
/// # Errors
/// When there is none, or it is cut short.
pub fn read(dir: &Path, netlist: &str) -> Result<Modules> {
    let text = fs::read_to_string(dir.join(netlist)).with_context(|| format!("Yosys wrote no {netlist}"))?;
    Modules::parse(&text)
}

/// Reads what Yosys has elaborated in `dir`. Enables and resets are inputs of registers, and what drives nothing is gone.
///
/// # Errors
/// When Yosys cannot be started or fails.
pub fn registers(linters: &Linters, dir: &Path, top: &str, interrupt: &Interrupt) -> Result<Modules> {
    let (elaborated, file) = (passes::netlist(top), format!("{top}.registers.il"));
    let script = format!("read_rtlil {elaborated}; opt_dff; opt_clean; write_rtlil {file}");
    if let Some(said) = yosys(linters, dir, &script, interrupt)? {
        bail!("Yosys cannot find the registers: {said}");
    }
    read(dir, &file)
}

/// The wrapper of the system without a shell, for a card.
fn wrapper(fpga: &Fpga) -> String {
    format!("board/meshkv_{}.v", fpga.board.name())
}

/// Runs the constraints of the card's pins on the wrapper.
///
/// # Errors
/// When Yosys cannot elaborate the wrapper, or a tool cannot be started.
pub fn pins(linters: &Linters, dir: &Path, interrupt: &Interrupt) -> Result<Vec<Message>> {
    let board = |fpga: &&Fpga| dir.join(wrapper(fpga)).is_file();
    let fpga = Fpga::all().iter().find(board).context("there is no wrapper of a card in board/")?;
    let (file, top) = (wrapper(fpga), format!("meshkv_{}", fpga.board.name()));
    let script = format!("read_verilog -noautowire {file}; hierarchy -top {top}; proc; write_rtlil board.il");
    if let Some(said) = yosys(linters, dir, &script, interrupt)? {
        let text = format!("{file}: {said}");
        return Ok(vec![Message { severity: Severity::Error, text }]);
    }
    let (names, number) = to_tcl(&read(dir, "board.il")?, &top, "")?;
    let xdc = format!("constraints/{}.xdc", fpga.board.name());
    let job = format!("set vivado::scope {number}\nvivado::prepare_xdc\nvivado::run_xdc {xdc}\nvivado::check_crossings {xdc}\n");
    Ok(run(&linters.tclsh, dir, "pins", &(names + &job), interrupt)?.0)
}

/// The Vivado installation that scripts find.
#[derive(Debug, Clone, Copy)]
pub struct Installation<'a> {
    /// Release of Vivado.
    pub release: &'a str,
    /// True if it supports the parts of the cards.
    pub has_part: bool,
}

impl Default for Installation<'_> {
    fn default() -> Self {
        Installation { release: "2022.2", has_part: true }
    }
}

/// Scripts that Vivado runs, each by itself.
pub const SCRIPTS: [&str; 4] = ["kernel", "system", "floorplan", "reports"];

/// Runs one of the scripts; `floorplan` below the shell, as v++ does.
///
/// # Errors
/// As [`constraints`].
pub fn script(
    tclsh: &Tool,
    dir: &Path,
    (top, name): (&str, &str),
    found: Installation<'_>,
    interrupt: &Interrupt,
) -> Result<Vec<Message>> {
    let (mut job, number) = to_tcl(&read(dir, &flattened(top))?, top, "")?;
    let mut ours = format!("{top} {number}");
    for (place, converter) in CONVERTERS.iter().enumerate() {
        if dir.join(flattened(converter)).is_file() {
            let netlist = read(dir, &flattened(converter))?;
            let (names, number) = to_tcl(&netlist, converter, &format!("c{place}"))?;
            job += &names;
            ours += &format!(" {converter} {number}");
        }
    }
    // Hierarchy of the platform: the kernel is four levels down.
    job += &format!(
        "netlist::module cu cu {{}} {{}} {{{{inst {number}}}}}\n\
         netlist::module ulp ulp {{}} {{}} {{{{meshkv_1 cu}}}}\n\
         netlist::module level0 level0 {{}} {{}} {{{{ulp ulp}}}}\n\
         netlist::module platform platform {{}} {{}} {{{{level0_i level0}}}}\n\
         set vivado::scope platform\nset vivado::ours {{{ours}}}\n\
         set vivado::release {}\nset vivado::assumed {{{}}}\n",
        found.release,
        CARD_DEFINES.join(" ")
    );
    if found.has_part {
        let parts: Vec<_> = Fpga::all().iter().map(|fpga| fpga.part).collect();
        let boards: Vec<_> = Fpga::all().iter().map(|fpga| fpga.board_part).collect();
        let (parts, boards) = (parts.join(" "), boards.join(" "));
        let _ = writeln!(job, "set vivado::parts {{{parts}}}\nset vivado::board_parts {{{boards}}}");
    }
    job +=
        &format!("vivado::prepare_xdc\nvivado::prepare_script\nvivado::run_script scripts/{name}.tcl {{}}\n");
    Ok(run(tclsh, dir, name, &job, interrupt)?.0)
}

/// Runs one job, Tcl that follows the stand-ins, in the folder of the sources. Returns the findings, and all that
/// it printed.
fn run(
    tclsh: &Tool,
    dir: &Path,
    name: &str,
    job: &str,
    interrupt: &Interrupt,
) -> Result<(Vec<Message>, String)> {
    let folder = dir.join(ENGINE_FOLDER);
    fs::create_dir_all(&folder)?;
    let mut text = format!("namespace eval vivado {{ variable home [file normalize {ENGINE_FOLDER}] }}\n");
    for (file, source) in ENGINE {
        fs::write(folder.join(file), source)?;
        let _ = writeln!(text, "source {ENGINE_FOLDER}/{file}");
    }
    text += job;
    let file = format!("{ENGINE_FOLDER}/{name}.job.tcl");
    fs::write(dir.join(&file), text)?;
    let mut command = Command::new(&tclsh.path);
    command.arg(&file).current_dir(dir);
    // A script may read it, so lint removes it.
    command.env_remove("MESHKV_ANY_VIVADO");
    let output = ended(tclsh, command, interrupt)?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut messages: Vec<_> = said.lines().filter_map(finding).collect();
    if !output.status.success() {
        let text = format!("tclsh ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        messages.push(Message { severity: Severity::Error, text: text.trim_end().to_owned() });
    }
    Ok((messages, said))
}

/// Runs Yosys on a script; returns all that it printed if it failed.
///
/// # Errors
/// As [`ended`].
pub fn yosys(linters: &Linters, dir: &Path, script: &str, interrupt: &Interrupt) -> Result<Option<String>> {
    let mut command = Command::new(&linters.yosys.path);
    command.args(["-q", "-p", script]).current_dir(dir);
    let Output { status, stdout, stderr } = ended(&linters.yosys, command, interrupt)?;
    let said = [stdout, stderr].concat();
    Ok((!status.success()).then(|| String::from_utf8_lossy(&said).trim().to_owned()))
}

/// Runs a tool to its end.
///
/// # Errors
/// When it cannot be started, or was ended by Ctrl-C.
pub fn ended(tool: &Tool, command: Command, interrupt: &Interrupt) -> Result<Output> {
    let ended = child::run(command, &|| interrupt.requested())
        .with_context(|| format!("cannot run {}", tool.path.display()))?;
    match ended {
        Ended::Itself(output) => Ok(output),
        Ended::Stopped => Err(Interrupted("before the constraints were run".to_owned()).into()),
    }
}

/// `finding FILE LINE TEXT`.
fn finding(line: &str) -> Option<Message> {
    let mut words = line.strip_prefix("finding ")?.splitn(3, ' ');
    let (file, number, text) = (words.next()?, words.next()?, words.next()?);
    Some(Message { severity: Severity::Error, text: format!("{file}:{number}: {text}") })
}
