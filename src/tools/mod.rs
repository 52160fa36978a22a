//! Finds the external tools: Verilator, Icarus Verilog, Yosys, ABC, slang, the C++ compiler and Tcl.
//!
//! Each tool is looked up in its own environment variable, then on `PATH`, then in a project-local virtual
//! environment (`.tools/venv`, made by `make tools`). The first that is new enough is used. This module only
//! asks for versions, and is independent of designs. [`child`] runs the tools, `cache` keeps their results.

pub(crate) mod cache;
pub mod child;
mod error;
mod find;
pub(crate) mod input;
pub mod interrupt;
pub(crate) mod locks;
pub mod whole_file;
mod work_error;
pub mod workers;

pub use error::ToolError;
pub use find::notice::{Caller, Notice};
pub use find::places::in_repository;
pub use find::program::{is_python, Program};
pub use find::tool::{Source, Tool};
pub use find::version::Version;
pub use find::wanted::{Wanted, ABC, ALL, CXX, IVERILOG, SLANG, SYNTHESIS, TCLSH, VERILATOR, YOSYS};
pub(crate) use work_error::io_error;
pub use work_error::WorkError;

use find::search::Search;

/// Finds Verilator, see [`find()`].
///
/// # Errors
/// As [`find()`].
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

/// [`find()`] for a caller that hears of slow and broken tools, and may give up.
///
/// # Errors
/// As [`find()`]; a tool that was given up counts as broken.
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
