//! The hierarchy of a wave file: every scope with its signals, as the file names them.

use fst_reader::{FstHierarchyEntry, FstReader, FstVarType};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Reason why a wave file has no view.
#[derive(Debug, Error)]
pub enum ViewError {
    /// The file cannot be opened.
    #[error("cannot read {path}: {error}")]
    Io {
        /// The wave file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// The file is no whole FST.
    #[error("{path} is no whole FST file: {error}")]
    Fst {
        /// The wave file.
        path: PathBuf,
        /// The reason.
        error: fst_reader::ReaderError,
    },
}

/// A signal of a wave file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// Full name without its range, with dots between scopes.
    pub path: String,
    /// Range of a vector, such as `[3:0]`; empty for a single bit.
    pub range: String,
    /// Bits.
    pub width: u32,
}

/// Signals of a wave file by scope and name, and its times.
#[derive(Debug, Clone, Default)]
pub struct Hierarchy {
    scopes: BTreeMap<String, BTreeMap<String, Signal>>,
    /// First and last time, in units of `10^exponent` seconds.
    pub times: (u64, u64),
    /// Exponent of the unit of time.
    pub exponent: i8,
}

impl Hierarchy {
    /// All scopes in the order of their names.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scopes.keys().map(String::as_str)
    }

    /// A signal by its scope and its name without range.
    pub fn signal(&self, scope: &str, name: &str) -> Option<&Signal> {
        self.scopes.get(scope)?.get(name)
    }

    /// Signals of a scope by their names without range.
    pub fn signals(&self, scope: &str) -> impl Iterator<Item = (&str, &Signal)> {
        self.scopes.get(scope).into_iter().flatten().map(|(name, signal)| (name.as_str(), signal))
    }

    /// Adds a signal, named as FST does: with its range after a space.
    pub fn add(&mut self, scope: &str, name: &str, width: u32) {
        // An element of a memory has its index before the range.
        let (name, range) = name.rsplit_once(' ').unwrap_or((name, ""));
        let signal = Signal { path: format!("{scope}.{name}"), range: range.to_owned(), width };
        self.scopes.entry(scope.to_owned()).or_default().insert(name.to_owned(), signal);
    }
}

/// Reads the hierarchy of a closed FST file. Parameters are left out.
///
/// # Errors
/// If it is no whole FST file.
pub fn read(path: &Path) -> Result<Hierarchy, ViewError> {
    let file = File::open(path).map_err(|error| ViewError::Io { path: path.to_owned(), error })?;
    let broken = |error| ViewError::Fst { path: path.to_owned(), error };
    let mut reader = FstReader::open(BufReader::new(file)).map_err(broken)?;
    let header = reader.get_header();
    let mut found = Hierarchy {
        times: (header.start_time, header.end_time),
        exponent: header.timescale_exponent,
        ..Hierarchy::default()
    };
    let mut scopes: Vec<String> = Vec::new();
    let entry = |entry| match entry {
        FstHierarchyEntry::Scope { name, .. } => scopes.push(match scopes.last() {
            Some(above) => format!("{above}.{name}"),
            None => name,
        }),
        FstHierarchyEntry::UpScope => {
            scopes.pop();
        }
        FstHierarchyEntry::Var { tpe, name, length, .. } if tpe != FstVarType::Parameter => {
            found.add(scopes.last().map_or("", String::as_str), &name, length);
        }
        _ => {}
    };
    reader.read_hierarchy(entry).map_err(broken)?;
    Ok(found)
}
