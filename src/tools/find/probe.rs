//! Asks an executable for its version, and finds out why it does not answer.

use crate::tools::error::ToolError;
use crate::tools::find::notice::{Caller, Notice};
use crate::tools::find::program::{is_python, Program};
use crate::tools::find::tool::{Source, Tool};
use crate::tools::find::version::{self, Version};
use crate::tools::find::wanted::{Wanted, ABC, IVERILOG, SLANG, TCLSH};
use std::env;
use std::io::{self, Write as _};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Variables that lead every program to its libraries.
const LED_ALL: [&str; 2] = ["LD_LIBRARY_PATH", "LD_PRELOAD"];

/// Times of waiting for an answer.
#[derive(Debug, Clone, Copy)]
pub(in crate::tools) struct Patience {
    /// After it the caller hears of the wait.
    pub(in crate::tools) word: Duration,
    /// After it the tool counts as broken.
    pub(in crate::tools) limit: Duration,
}

impl Default for Patience {
    /// A Yosys in WebAssembly compiles itself at its first start, which takes minutes on a busy machine.
    fn default() -> Patience {
        Patience { word: Duration::from_secs(5), limit: Duration::from_secs(1800) }
    }
}

/// One question to one tool.
pub(in crate::tools) struct Probe<'p> {
    pub(in crate::tools) wanted: &'static Wanted,
    pub(in crate::tools) caller: &'p Caller<'p>,
    pub(in crate::tools) patience: Patience,
}

impl Probe<'_> {
    /// Finds the version of a program.
    pub(in crate::tools) fn tool(&self, program: &Program, source: Source) -> Result<Tool, ToolError> {
        self.with(program, source, &[]).map_err(|problem| self.explain(program, source, problem))
    }

    /// Finds the version of a program that does not see some variables.
    fn with(&self, program: &Program, source: Source, unset: &[&str]) -> Result<Tool, ToolError> {
        let wanted = self.wanted;
        let broken = |reason: String| ToolError::Broken { wanted, path: program.path.clone(), reason };
        // ABC takes any other word for the name of a file.
        let flags: &[&str] = match wanted.name {
            name if name == IVERILOG.name => &["-V"],
            name if name == ABC.name => &["-s", "-q", "version"],
            _ => &["--version"],
        };
        let mut command = program.command();
        for variable in unset {
            command.env_remove(variable);
        }
        let package = wanted.name == SLANG.name && is_python(&program.path);
        // Tcl has no such option: it takes any argument for the name of a script. Nor does a package.
        let output = match () {
            () if wanted.name == TCLSH.name => {
                self.ask(&mut command, program, "puts \"Tcl [info patchlevel]\"\nexit\n")
            }
            () if package => {
                self.ask(&mut command, program, "import pyslang\nprint(\"slang\", pyslang.__version__)\n")
            }
            () => self.ask(command.args(flags), program, ""),
        };
        let output = output.map_err(|e| broken(e.to_string()))?;
        // Any Python is found, and most have no such package.
        if package && !output.status.success() && source != Source::Environment {
            return Err(ToolError::Missing(wanted));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let version = Version::parse(first).or_else(|| version::of_wheel(&program.path));
        let Program { path, arguments } = program.clone();
        match version {
            // Icarus 11 prints its version but still fails, because it asks its parts first.
            Some(version) if version >= wanted.oldest => {
                Ok(Tool { name: wanted.name, path, arguments, version, source })
            }
            Some(found) => Err(ToolError::TooOld { wanted, path, found }),
            None if output.status.success() => {
                Err(broken(format!("{} printed no version: {first:?}", flags.join(" "))))
            }
            None => Err(broken(format!("{} ended with {}", flags.join(" "), output.status))),
        }
    }

    /// Names the variable without which the program works, if there is one.
    fn explain(&self, program: &Program, source: Source, problem: ToolError) -> ToolError {
        let reason = match &problem {
            ToolError::TooOld { found, .. } => format!("it is version {found}"),
            ToolError::Broken { reason, .. } => reason.clone(),
            _ => return problem,
        };
        let set = |variable: &&str| env::var_os(variable).is_some_and(|value| !value.is_empty());
        let mut leading = self.wanted.led_by.iter().copied().chain(LED_ALL).filter(set);
        let guilty = leading.find(|variable| self.with(program, source, &[variable]).is_ok());
        guilty.map_or(problem, |variable| ToolError::Misled {
            wanted: self.wanted,
            path: program.path.clone(),
            variable,
            value: env::var_os(variable).unwrap_or_default().to_string_lossy().into_owned(),
            reason,
        })
    }

    /// Runs a tool that gets `input`, for at most [`Patience::limit`].
    fn ask(&self, command: &mut Command, program: &Program, input: &str) -> io::Result<Output> {
        let pipes = || Stdio::piped();
        let mut child = command.stdin(pipes()).stdout(pipes()).stderr(pipes()).spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A tool that reads no input prints nothing either, which is reported.
            let _ = stdin.write_all(input.as_bytes());
        }
        let (begun, mut told) = (Instant::now(), false);
        while child.try_wait()?.is_none() {
            let late = begun.elapsed() > self.patience.limit;
            if late || (self.caller.stop)() {
                child.kill()?;
                child.wait()?;
                let within =
                    format!("it did not print its version within {} s", self.patience.limit.as_secs());
                return Err(io::Error::other(if late { within } else { "it was stopped".to_owned() }));
            }
            if begun.elapsed() > self.patience.word && !std::mem::replace(&mut told, true) {
                (self.caller.hear)(&Notice::Waiting(program));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        child.wait_with_output()
    }
}
