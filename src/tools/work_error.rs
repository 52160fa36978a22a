//! Errors of work whose result is kept: of the cache, of its files, and of the tools that do it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// Reason why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// A tool does not run.
    #[error(
        "cannot run {program}\n  help: `meshkv doctor` lists the tools that are found, and what to install"
    )]
    Missing {
        /// The tool.
        program: String,
    },
    /// A tool ran and reported errors.
    #[error("{program} failed on the generated fabric ({status}):\n{log}")]
    Failed {
        /// The tool.
        program: String,
        /// Exit status, or the signal that killed it.
        status: ExitStatus,
        /// Its first errors.
        log: String,
    },
    /// No library can be loaded from the cache.
    #[error(
        "{} is on a file system that is mounted noexec, from which no compiled fabric can be loaded\n  \
         help: set MESHKV_CACHE to a folder on another file system", folder.display()
    )]
    NoExec {
        /// The cache.
        folder: PathBuf,
    },
    /// The caller gave up waiting; the work leaves nothing behind.
    #[error("the build was stopped")]
    Stopped,
    /// No environment variable names a place for the cache.
    #[error("nowhere to keep compiled fabrics: set MESHKV_CACHE to a folder")]
    NoCache,
    /// A file operation failed.
    #[error("{what}")]
    Io {
        /// The operation, with its path.
        what: String,
        /// Error of the system.
        source: io::Error,
    },
}

/// Adds the path to the error of a failed operation.
pub(crate) fn io_error<'a>(what: &'a str, path: &'a Path) -> impl FnOnce(io::Error) -> WorkError + 'a {
    move |source| WorkError::Io { what: format!("{what} {}", path.display()), source }
}
