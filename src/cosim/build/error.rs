//! Errors of a build.

use crate::tools::WorkError;
use std::path::PathBuf;

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
    /// The library was built but cannot be loaded.
    #[error(
        "cannot load the compiled fabric: {0}\n  \
         help: compiled fabrics are kept in MESHKV_CACHE, else in ~/.cache/meshkv; set it to a folder that programs may \
         run from"
    )]
    Load(String),
    /// A tool failed, the work was stopped, or its result cannot be kept.
    #[error(transparent)]
    Work(#[from] WorkError),
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
