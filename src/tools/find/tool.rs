//! A tool that was found, and its place.

use crate::tools::find::program::Program;
use crate::tools::find::version::Version;
use std::fmt;
use std::path::PathBuf;
use std::process::Command;

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
