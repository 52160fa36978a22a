//! Reads a sweep file: a base configuration, the varied keys, and the run at each point.
//!
//! ```toml
//! base = "../configs/u280_8x8.toml"
//! [grid]                      # every combination
//! noc.vc_depth = [4, 8]
//! [[zip]]                     # lists of one length that go together
//! mesh.cols = [4, 8]
//! mesh.rows = [4, 8]
//! [workload]
//! kind = "traffic"
//! load = { from = 0.05, to = 0.5, step = 0.05 }
//! ```
//!
//! Each value is checked by its key. The design checks the values of a point together.

mod axis;
mod reader;
mod values;
mod words;

pub use axis::{Axis, Choice, Set};
pub use words::workload_keys;

use super::work::{SlurmTable, WorkKind};
use crate::config::findings::finding::Finding;
use crate::config::findings::report::{Report, Text};
use crate::config::reading::walk::Walk;
use reader::Reader;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The contents of a sweep file. Its points are all combinations of a choice of every axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Stem of the file's name.
    pub name: String,
    /// The base configuration, relative to the folder of the file.
    pub base: PathBuf,
    /// Kind of the runs.
    pub kind: WorkKind,
    /// The axes; a key with one value is an axis of one choice.
    pub axes: Vec<Axis>,
    /// Options of a run on a cluster.
    pub slurm: SlurmTable,
    source: Text,
}

impl Grid {
    /// Places findings about points at the values that they are about.
    pub fn report(&self, found: &[(Finding, Option<Range<usize>>)]) -> Report {
        let problems = found.iter().map(|(finding, span)| self.source.locate(finding, span.clone(), false));
        Report::new(&self.source.path, problems.collect())
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.source.text
    }
}

/// Reads a sweep file strictly.
///
/// # Errors
/// All problems of the file at once: TOML syntax, unknown keys, wrong types, illegal values.
pub fn load_grid(path: &Path) -> Result<Grid, Report> {
    let source = Text::load(
        path,
        "name an existing sweep file; `meshkv sweep --help` shows one, `meshkv examples` writes two",
    )?;
    let name = super::stem(path).unwrap_or_default();
    let (document, walk) = Walk::parse(&source);
    let Reader { walk, axes, base, kind, slurm, .. } = Reader::of(walk, document.get_ref());
    let report = Report::new(&source.path, walk.problems);
    if report.has_errors() {
        return Err(report);
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let base = folder.join(base.unwrap_or_default());
    Ok(Grid { name, base, kind: kind.unwrap_or(WorkKind::Traffic), axes, slurm, source })
}
