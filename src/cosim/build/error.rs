//! Errors of a build.

use crate::tools::cache::CacheError;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// Reason why there is no library.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Verilator does not run.
    #[error("cannot run Verilator ({path}): co-simulation needs version 5.006 or later; `meshkv doctor` says how to install it")]
    VerilatorMissing {
        /// Path that was tried.
        path: PathBuf,
    },
    /// Verilator runs, and its runtime library is not where it says.
    #[error(
        "Verilator ({}) names {} as the folder of its library, which has no verilated.h; {}",
        path.display(), include.display(), way_to_root(*variable)
    )]
    VerilatorIncomplete {
        /// Path of the program.
        path: PathBuf,
        /// Folder that it names.
        include: PathBuf,
        /// True if the environment has `VERILATOR_ROOT`.
        variable: bool,
    },
    /// The C++ compiler does not run.
    #[error("cannot run the C++ compiler ({path}): co-simulation compiles the verilated fabric; install g++ or set CXX")]
    CompilerMissing {
        /// Path that was tried.
        path: PathBuf,
    },
    /// Waves need zlib's header.
    #[error("waves need zlib to compile: install zlib1g-dev\n{log}")]
    ZlibMissing {
        /// Output of the compiler.
        log: String,
    },
    /// Waves were asked of [`BuildForm::OneRouter`](super::form::BuildForm::OneRouter) or [`BuildForm::NetworkEndpoints`](super::form::BuildForm::NetworkEndpoints).
    #[error("a piece of the network by itself has no waves: they need the whole mesh, or all of a tile")]
    TileWaves,
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
    /// The library was built but cannot be loaded.
    #[error(
        "cannot load the compiled fabric: {0}\n  \
         help: compiled fabrics are kept in MESHKV_CACHE, else in ~/.cache/meshkv; set it to a folder that programs may \
         run from"
    )]
    Load(String),
    /// No library can be loaded from the cache.
    #[error(
        "{} is on a file system that is mounted noexec, from which no compiled fabric can be loaded\n  \
         help: set MESHKV_CACHE to a folder on another file system", folder.display()
    )]
    NoExec {
        /// The cache.
        folder: PathBuf,
    },
    /// The caller gave up waiting; the build leaves nothing behind.
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

impl BuildError {
    /// True if a tool or library is missing that the user can install.
    pub fn is_missing_tool(&self) -> bool {
        use BuildError::{CompilerMissing, VerilatorIncomplete, VerilatorMissing, ZlibMissing};
        matches!(
            self,
            VerilatorMissing { .. }
                | VerilatorIncomplete { .. }
                | CompilerMissing { .. }
                | ZlibMissing { .. }
        )
    }
}

/// The way to a Verilator that finds its library.
fn way_to_root(variable: bool) -> &'static str {
    if variable {
        "unset VERILATOR_ROOT, or set it to the root of this Verilator"
    } else {
        "install it again, or set VERILATOR_ROOT to its root"
    }
}

impl From<CacheError> for BuildError {
    fn from(error: CacheError) -> BuildError {
        match error {
            CacheError::NoExec { folder } => BuildError::NoExec { folder },
            CacheError::Stopped => BuildError::Stopped,
            CacheError::NoCache => BuildError::NoCache,
            CacheError::Io { what, source } => BuildError::Io { what, source },
        }
    }
}

/// Adds the path to the error of a failed operation.
pub(crate) fn io_error<'a>(what: &'a str, path: &'a Path) -> impl FnOnce(io::Error) -> BuildError + 'a {
    move |source| BuildError::Io { what: format!("{what} {}", path.display()), source }
}
