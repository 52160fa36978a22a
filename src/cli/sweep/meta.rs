//! What a folder of rows says about itself, for who reads them without the sweep file.

use crate::config::{Grid, WorkKind};
use crate::eval::grid::{Column, Expanded, ROW_FORMAT};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The content of `sweep.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::cli) struct Meta {
    /// Name of the sweep: the stem of its file.
    pub name: String,
    /// What was run.
    pub kind: WorkKind,
    /// The command that gives the rows again.
    pub command: String,
    /// The program that wrote them.
    pub version: String,
    /// Version of what a row says.
    pub row_format: u32,
    /// Points of the grid.
    pub points: usize,
    /// The base configuration, as the sweep file finds it.
    pub base: String,
    /// The sweep file, word for word.
    pub text: String,
    /// What each row says.
    pub columns: Vec<Column>,
}

impl Meta {
    pub(super) fn new(file: &Path, grid: &Grid, all: &Expanded) -> Meta {
        Meta {
            name: grid.name.clone(),
            kind: grid.kind,
            command: format!("meshkv sweep {}", file.display()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            row_format: ROW_FORMAT,
            points: all.points.len(),
            base: grid.base.display().to_string(),
            text: grid.text().to_owned(),
            columns: all.columns.clone(),
        }
    }
}
