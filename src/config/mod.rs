//! Reads the configuration file of the user, strictly.
//!
//! This module reads and types a file and checks each key by itself. It knows no widths and no
//! hardware. [`crate::design`] checks keys together and passes its check to [`load`], so that all
//! problems of a file are reported at once.

mod commented;
mod finding;
mod fingerprint;
mod grid;
mod keys;
mod read;
mod report;
mod schema;
mod spelling;
mod walk;
mod work;

pub use commented::{commented, Preset};
pub use finding::{Finding, Severity};
pub use grid::{load_grid, workload_keys, Axis, Choice, Grid, Set};
pub use keys::{json_schema, tables, violations, Key, Kind, Table};
pub use report::{Problem, Report};
pub use schema::*;
pub use work::{
    DecodeWork, Engine, Pattern, Shares, SlurmTable, TileOfHead, TrafficWork, VirtualNetwork, WorkKind,
};

use report::Text;
use std::path::Path;

/// A configuration that can be built, with its warnings.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Stem of the file's name.
    pub name: String,
    /// Contents of the file, with defaults.
    pub config: Config,
    /// Warnings only; may be empty.
    pub warnings: Report,
}

/// Reads a file strictly. `check` checks its name and the keys together.
///
/// # Errors
/// All problems of the file at once: an unreadable file, TOML syntax, unknown keys, wrong types,
/// illegal values, and the errors of `check`, with the warnings among them.
pub fn load(path: &Path, check: impl FnOnce(&str, &Config) -> Vec<Finding>) -> Result<Loaded, Report> {
    let shown = path.display().to_string();
    let name = stem(path)
        .ok_or_else(|| Report::unreadable(&shown, "is not the name of a file".into(), "name a .toml file"))?;
    let source = Text::load(path, "name an existing file, or write one with `meshkv init`; `meshkv examples` writes those of the help texts")?;
    let draft = read::read(&source);
    let mut problems = draft.problems;
    // What follows from a file that is no TOML follows from defaults that nobody chose.
    let found = if draft.broken { Vec::new() } else { check(&name, &draft.config) };
    for finding in found {
        let keys = || std::iter::once(finding.key.as_str()).chain(finding.involves.iter().copied());
        if keys().any(|key| draft.wrong.contains(key)) {
            continue;
        }
        // An omitted key has no place in the file; the key that conflicts with it has.
        let span = keys().find_map(|key| draft.spans.get(key)).cloned();
        let by_default = !draft.spans.contains_key(&finding.key);
        problems.push(source.locate(&finding, span, by_default));
    }
    let report = Report::new(&source.path, problems);
    if report.has_errors() {
        return Err(report);
    }
    Ok(Loaded { name, config: draft.config, warnings: report })
}

/// Name of a configuration: the stem of its file's name.
fn stem(path: &Path) -> Option<String> {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned())
}
