//! Errors of tools, each with its way out.

use crate::tools::find::places::in_repository;
use crate::tools::find::version::Version;
use crate::tools::find::wanted::Wanted;
use std::path::PathBuf;

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
    /// Found, and it works once an environment variable that leads it elsewhere is unset.
    #[error(
        "{} at {} does not work because {variable} is set to {value}: {reason}; unset {variable}, or set it to what \
         belongs to this {}",
        wanted.name, path.display(), wanted.name
    )]
    Misled {
        /// The required tool.
        wanted: &'static Wanted,
        /// The executable.
        path: PathBuf,
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The failure with it.
        reason: String,
    },
}

/// Clause on the repository's way to install a tool.
fn or_make(in_repository: bool) -> &'static str {
    if in_repository {
        " or `make tools`"
    } else {
        ""
    }
}
