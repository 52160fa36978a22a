//! The programs that compile a fabric: their versions, and running them.
//!
//! The caller passes the path of Verilator; this file does not search for it.

use super::error::BuildError;
use super::progress::Progress;
use crate::tools::{child, Program, WorkError};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{mpsc, Mutex};
use std::thread;

/// Verilator and the C++ compiler, with their versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// The `verilator` program.
    pub verilator: Program,
    /// Output of `verilator --version`.
    pub verilator_version: String,
    /// Folder of its runtime library: `verilated.h` and the sources next to it.
    pub include: PathBuf,
    /// The C++ compiler.
    pub cxx: Program,
    /// The first line of its `--version`, and the arguments that it always gets.
    pub cxx_version: String,
}

impl Toolchain {
    /// Asks both programs for their versions. It takes about a tenth of a second, so keep the
    /// answer.
    ///
    /// # Errors
    /// [`BuildError::VerilatorMissing`] or [`BuildError::CompilerMissing`] if one does not run;
    /// [`BuildError::VerilatorIncomplete`] if Verilator's library is not where it says.
    pub fn probe(verilator: impl Into<Program>, cxx: impl Into<Program>) -> Result<Toolchain, BuildError> {
        let (verilator, cxx) = (verilator.into(), cxx.into());
        let missing = || BuildError::VerilatorMissing { path: verilator.path.clone() };
        let verilator_version = ask(&verilator, &["--version"]).ok_or_else(missing)?;
        let root = ask(&verilator, &["--getenv", "VERILATOR_ROOT"]).ok_or_else(missing)?;
        let include = Path::new(&root).join("include");
        if !include.join("verilated.h").is_file() {
            let variable = env::var_os("VERILATOR_ROOT").is_some_and(|root| !root.is_empty());
            return Err(BuildError::VerilatorIncomplete { path: verilator.path, include, variable });
        }
        let version = ask(&cxx, &["--version"]);
        let version = version.ok_or_else(|| BuildError::CompilerMissing { path: cxx.path.clone() })?;
        let words = [&[version][..], &cxx.arguments].concat();
        Ok(Toolchain { verilator, verilator_version, include, cxx, cxx_version: words.join(" ") })
    }

    /// The C++ compiler to use: `CXX` of the environment, else `g++`.
    pub fn default_cxx() -> Program {
        let words = env::var("CXX").ok().filter(|words| !Path::new(words).is_file());
        let path = || env::var_os("CXX").filter(|v| !v.is_empty()).unwrap_or_else(|| "g++".into());
        words.and_then(|words| Program::of_words(&words)).unwrap_or_else(|| Path::new(&path()).into())
    }
}

/// First line that a program prints; `None` if it does not run or fails.
fn ask(program: &Program, args: &[&str]) -> Option<String> {
    let output = program.command().args(args).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.lines().next().unwrap_or_default().trim().to_owned())
}

/// Runs one of both to its end, or until `stop`. Its output is returned only if it failed.
pub(super) fn run(command: Command, stop: &dyn Fn() -> bool) -> Result<(), BuildError> {
    child::succeed(command, stop).map_err(|error| match error {
        WorkError::Missing { program } => BuildError::CompilerMissing { path: program.into() },
        error => error.into(),
    })
}

/// Runs commands on all cores; the first error is the result.
pub(in crate::cosim) fn run_all(
    jobs: Vec<Command>,
    stop: &(dyn Fn() -> bool + Sync),
    progress: &mut dyn FnMut(Progress),
) -> Result<(), BuildError> {
    let total = jobs.len();
    progress(Progress::Compiling { done: 0, total });
    let workers = thread::available_parallelism().map_or(1, usize::from).min(total);
    let queue = Mutex::new(jobs.into_iter());
    let (sender, results) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..workers {
            let (queue, sender) = (&queue, sender.clone());
            scope.spawn(move || loop {
                // A statement of its own: the lock must not be kept while the job runs.
                let job = queue.lock().ok().and_then(|mut jobs| jobs.next());
                let Some(job) = job else { break };
                if sender.send(run(job, stop)).is_err() {
                    break;
                }
            });
        }
        drop(sender);
        for (done, result) in results.into_iter().enumerate() {
            result?;
            progress(Progress::Compiling { done: done + 1, total });
        }
        Ok(())
    })
}
