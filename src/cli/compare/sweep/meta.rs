//! Description of a folder of rows, for readers without the sweep file.

use crate::cli::output::provenance::Provenance;
use crate::config::{Grid, WorkKind};
use crate::eval::grid::{Column, Expanded, ROW_FORMAT};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The content of `sweep.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::cli) struct Meta {
    /// Origin: the program that wrote the rows, and the base configuration; each row has its own configuration's hash.
    pub meshkv: Provenance,
    /// Name of the sweep: the stem of its file.
    pub name: String,
    /// The workload.
    pub kind: WorkKind,
    /// The command that repeats the rows.
    pub command: String,
    /// Version of the row format.
    pub row_format: u32,
    /// Points of the grid.
    pub points: usize,
    /// Path of the base configuration, resolved from the place of the sweep file.
    pub base: String,
    /// The sweep file, word for word.
    pub text: String,
    /// Meaning of each column.
    pub columns: Vec<Column>,
}

impl Meta {
    pub(super) fn new(
        meshkv: Provenance,
        (file, estimate): (&Path, bool),
        grid: &Grid,
        all: &Expanded,
    ) -> Meta {
        Meta {
            meshkv,
            name: grid.name.clone(),
            kind: grid.kind,
            command: format!("meshkv sweep {}{}", file.display(), if estimate { " --estimate" } else { "" }),
            row_format: ROW_FORMAT,
            points: all.points.len(),
            base: grid.base.display().to_string(),
            text: grid.text().to_owned(),
            columns: all.columns.clone(),
        }
    }
}
