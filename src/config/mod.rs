//! Reads the configuration file of the user, strictly.
//!
//! This module reads and types a file and checks each key by itself. It knows no widths and no
//! hardware. [`crate::design`] checks keys together and passes its check to [`load`], so that all
//! problems of a file are reported at once.

mod choices;
mod commented;
mod findings;
mod grid;
mod keys;
mod models;
mod reading;
mod schema;
mod work;

pub(crate) use choices::named;
pub use choices::{
    AskedMapping, Board, Engine, IoMemory, KvFormat, KvScales, Mapping, Narrow, PatternKind, Sharing,
    VirtualNetworks,
};
pub use commented::{commented, Preset};
pub use findings::advice::{toml_of, Advice, Setting};
pub use findings::advise::followed;
pub use findings::finding::{Finding, Severity};
pub use findings::report::{AcceptedProblem, Problem, Report};
pub use grid::{load_grid, workload_keys, Axis, Choice, Grid, Set};
pub use keys::{tables, violations, Key, Kind, Table};
pub use reading::accept::Warnings;
pub use reading::file_keys::{json_schema, VERSION};
pub use schema::*;
pub use work::{DecodeWork, SlurmTable, TrafficWork, WorkKind};

use findings::report::Text;
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

/// Warnings of this module that a file can accept, beside those of `check`.
pub const OWN_WARNINGS: [&str; 1] = [reading::history::RULE];

/// Reads a file strictly. `check` checks its name and the keys together; `warnings` are those that it can give.
///
/// # Errors
/// All problems of the file at once: an unreadable file, TOML syntax, unknown keys, wrong types,
/// illegal values, and the errors of `check`, with the warnings among them.
pub fn load(
    path: &Path,
    check: impl Fn(&str, &Config) -> Vec<Finding>,
    warnings: Warnings<'_>,
) -> Result<Loaded, Report> {
    let shown = path.display().to_string();
    let name = stem(path)
        .ok_or_else(|| Report::unreadable(&shown, "is not the name of a file".into(), "name a .toml file"))?;
    let source = Text::load(path, "name an existing file, or write one with `meshkv init`; `meshkv examples` writes those of the help texts")?;
    let mut draft = reading::read::read(&source);
    // What follows from a file that is no TOML follows from defaults that nobody chose.
    let mut found = if draft.broken { Vec::new() } else { check(&name, &draft.config) };
    if let Some(version) = draft.version {
        found.extend(reading::history::changed(version, &draft.config, &draft.spans));
    }
    found.retain(|finding| !finding.keys().any(|key| draft.wrong.contains(key)));
    if !draft.broken {
        draft.advise(&mut found, &|config| check(&name, config));
    }
    let sound = draft.problems.is_empty() && found.iter().all(|f| f.severity == Severity::Warning);
    let sorted = reading::accept::sort(&draft.accepts, found, warnings, sound);
    let place = |finding: &Finding| draft.place(&source, finding);
    let mut problems: Vec<Problem> = sorted.kept.iter().map(place).collect();
    problems.extend(sorted.wrong.iter().map(|(f, span)| source.locate(f, Some(span.clone()), false)));
    let accepted = sorted.accepted.iter();
    let accepted: Vec<_> = accepted
        .map(|(finding, reason)| AcceptedProblem { problem: place(finding), reason: reason.clone() })
        .collect();
    problems.extend(draft.problems);
    let report = Report { accepted, ..Report::new(&source.path, problems) };
    if report.has_errors() {
        return Err(report);
    }
    Ok(Loaded { name, config: draft.config, warnings: report })
}

/// Name of a configuration: the stem of its file's name.
fn stem(path: &Path) -> Option<String> {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned())
}
