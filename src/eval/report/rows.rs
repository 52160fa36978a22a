//! The rows of one sweep or of several that ran the same, as a report sees them.

use crate::config::WorkKind;
use crate::eval::grid::{Column, Role};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Labels that no row has and all rows give: shape of the mesh, and name of the sweep.
pub(super) const MESH: &str = "mesh";
pub(super) const SWEEP: &str = "sweep";

/// Rows of sweeps of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// What was run.
    pub kind: WorkKind,
    /// All columns of any of the sweeps.
    pub columns: Vec<Column>,
    /// A row each, by column, with [`MESH`] and [`SWEEP`].
    pub rows: Vec<Map<String, Value>>,
}

/// A value as text, as `--where` and `--baseline` name it.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Rows {
    /// No rows yet.
    pub fn new(kind: WorkKind) -> Rows {
        Rows { kind, columns: Vec::new(), rows: Vec::new() }
    }

    /// Adds the rows of a sweep that is named `name`.
    pub fn add(
        &mut self,
        name: &str,
        columns: &[Column],
        rows: impl IntoIterator<Item = Map<String, Value>>,
    ) {
        for column in columns {
            if self.column(&column.name).is_none() {
                self.columns.push(column.clone());
            }
        }
        for mut row in rows {
            let side = |key: &str| row.get(key).map_or("-".to_owned(), text);
            row.insert(MESH.to_owned(), format!("{}x{}", side("mesh.cols"), side("mesh.rows")).into());
            row.insert(SWEEP.to_owned(), name.into());
            self.rows.push(row);
        }
    }

    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The value of a row, null where there is none.
    pub(super) fn value<'r>(row: &'r Map<String, Value>, key: &str) -> &'r Value {
        row.get(key).unwrap_or(&Value::Null)
    }

    /// Different values of a label, in the order of the rows.
    pub(super) fn values(&self, key: &str) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let all = self.rows.iter().map(|row| text(Rows::value(row, key)));
        all.filter(|value| seen.insert(value.clone())).collect()
    }

    /// Labels by which points can be told apart, the most telling first.
    pub(super) fn labels(&self) -> Vec<&str> {
        let own = self.columns.iter().filter(|column| column.role == Role::Label).map(|c| c.name.as_str());
        let derived = [SWEEP, "point", MESH].into_iter();
        derived.chain(own.filter(|name| *name != "point")).filter(|name| *name != "seed").collect()
    }

    /// Labels that vary, without those that follow from one before them: of a named point its mesh.
    pub(super) fn varying(&self) -> Vec<&str> {
        let mut kept: Vec<&str> = Vec::new();
        for label in self.labels() {
            if self.values(label).len() > 1 && !kept.iter().any(|first| self.follows(first, label)) {
                kept.push(label);
            }
        }
        kept
    }

    /// Whether rows that are alike in `first` are alike in `then`.
    pub(super) fn follows(&self, first: &str, then: &str) -> bool {
        let pairs: BTreeSet<_> =
            self.rows.iter().map(|row| [first, then].map(|key| text(Rows::value(row, key)))).collect();
        pairs.len() == self.values(first).len()
    }
}
