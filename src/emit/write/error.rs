//! Errors of writing the output, with help for each.

use super::manifest::MANIFEST;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Reason that nothing was written: except after `Leftover` and `Unfinished`, the output directory is unchanged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output is an existing file, or something else that is no directory.
    #[error("{} exists and is not a directory\n  help: choose another output directory", .0.display())]
    NotADirectory(PathBuf),
    /// The output is a symbolic link; swapping would replace the link, not its target.
    #[error("{} is a symbolic link to {}, and a link cannot be swapped for a directory\n  \
             help: name the directory itself", dir.display(), target.display())]
    Symlink {
        /// The output as given.
        dir: PathBuf,
        /// Target of the link.
        target: PathBuf,
    },
    /// The output is the current directory or one above it.
    #[error("{} contains the current directory, which would be swapped away below the shell\n  \
             help: run from outside, or choose a new directory here, e.g. rtl_out", .0.display())]
    ContainsCurrentDir(PathBuf),
    /// The output is not empty and was not written by this program.
    #[error("{} is not empty and has no {MANIFEST}, so meshkv did not write it\n  \
             help: choose another output directory (--force does not help: it would mix two owners)",
             .0.display())]
    NotOurs(PathBuf),
    /// The folder that is to be read was not written by this program.
    #[error("{} has no {MANIFEST}, so meshkv did not write it\n  \
             help: name a folder that `meshkv generate` wrote, or a configuration", .0.display())]
    NotGenerated(PathBuf),
    /// The manifest does not read.
    #[error("{}: not a manifest of this meshkv: {reason}\n  \
             help: restore the file, or choose another output directory", path.display())]
    BadManifest {
        /// The manifest.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
    /// Generated files were edited, or the user's files have the paths of generated ones.
    #[error("{} holds {} that meshkv did not write like this:\n{}\n  \
             help: save the edits elsewhere, or use --force, which keeps each as NAME.edited",
             dir.display(), if files.len() == 1 { "a file" } else { "files" }, indented(files))]
    Edited {
        /// The output directory.
        dir: PathBuf,
        /// All such files, below `dir`, sorted.
        files: Vec<String>,
    },
    /// A directory has the path of a file to be written, or the other way round.
    #[error("{} is in the way of a generated {wanted}\n  help: move it, or choose another output directory",
             path.display())]
    InTheWay {
        /// The obstacle.
        path: PathBuf,
        /// The expected kind: "file" or "directory".
        wanted: &'static str,
    },
    /// Another process writes the same output.
    #[error("another meshkv is writing {}\n  help: wait until it ends", .0.display())]
    Busy(PathBuf),
    /// A file cannot be written under the path it was given; a fault of the emitter.
    #[error("a generated file has the impossible path {0:?}")]
    BadPath(String),
    /// The caller stopped the writing.
    #[error("writing was stopped; the output is as it was")]
    Stopped,
    /// The new tree is in place, but the old one could not be removed.
    #[error("{} is written, but what it replaced could not be removed from {}: {}\n  \
             help: the next run tries again", dir.display(), left.display(), plain(source))]
    Leftover {
        /// The output directory, whole and new.
        dir: PathBuf,
        /// The old tree.
        left: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The output cannot be swapped, and only a part of the new files is in it.
    #[error("{} has only a part of the new files: {}\n  help: {}; the next run puts the rest into it",
             dir.display(), plain(source), remedy(source))]
    Unfinished {
        /// The output directory.
        dir: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The system returned an error.
    #[error("cannot {doing} {}: {}\n  help: {}", path.display(), plain(source), way_out(source))]
    Io {
        /// The operation: "write", "read", ...
        doing: &'static str,
        /// Its path.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

/// Operations that need the parent of the output.
pub(super) const PREPARE: &str = "prepare";
pub(super) const REPLACE: &str = "replace";

impl WriteError {
    /// True if the output could not be swapped, and files may still be put into it: its parent is not writable, or
    /// the directory is mounted, or below it lies the read-only layer of a container.
    pub(super) fn is_of_a_swap(&self) -> bool {
        use io::ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
        let WriteError::Io { doing, source, .. } = self else { return false };
        let known = [CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy];
        [PREPARE, REPLACE].contains(doing) && known.contains(&source.kind())
    }
}

/// Attaches operation and path to an I/O error.
pub(super) fn on(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WriteError {
    let path = path.to_owned();
    move |source| WriteError::Io { doing, path, source }
}

fn indented(files: &[String]) -> String {
    files.iter().map(|f| format!("    {f}")).collect::<Vec<_>>().join("\n")
}

/// The system's message without Rust's error number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space",
        _ => "make it writable",
    }
}

fn way_out(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "free some space, or choose an output directory on another disk; the output is as it was"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose an output directory that you may write"
        }
        _ => "choose another output directory; the output is as it was",
    }
}
