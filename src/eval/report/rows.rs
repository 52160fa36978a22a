//! Rows of one sweep, or of several of the same kind, for a report.

use crate::config::WorkKind;
use crate::eval::grid::{Column, Role};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Labels that are derived for all rows: shape of the mesh, and name of the sweep.
pub(super) const MESH: &str = "mesh";
pub(super) const SWEEP: &str = "sweep";

/// Rows of sweeps of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// Kind of the runs.
    pub kind: WorkKind,
    /// All columns of any of the sweeps.
    pub columns: Vec<Column>,
    /// A row each, by column, with the derived labels `mesh` and `sweep`.
    pub rows: Vec<Map<String, Value>>,
}

/// A value as text, in the form of `--where` and `--baseline`.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Rows {
    /// An empty set of rows.
    pub fn new(kind: WorkKind) -> Rows {
        Rows { kind, columns: Vec::new(), rows: Vec::new() }
    }

    /// Adds the rows of the sweep `name`.
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

    /// Labels that distinguish points, the most informative first.
    pub(super) fn labels(&self) -> Vec<&str> {
        let own = self.columns.iter().filter(|column| column.role == Role::Label).map(|c| c.name.as_str());
        let derived = [SWEEP, "point", MESH].into_iter();
        derived.chain(own.filter(|name| *name != "point")).filter(|name| *name != "seed").collect()
    }

    /// Labels that vary, without those that an earlier one determines, such as the mesh of a named
    /// point.
    pub(super) fn varying(&self) -> Vec<&str> {
        let mut kept: Vec<&str> = Vec::new();
        for label in self.labels() {
            if self.values(label).len() > 1 && !kept.iter().any(|first| self.follows(first, label)) {
                kept.push(label);
            }
        }
        kept
    }

    /// True if rows that are equal in `first` are equal in `then`.
    pub(super) fn follows(&self, first: &str, then: &str) -> bool {
        let pairs: BTreeSet<_> =
            self.rows.iter().map(|row| [first, then].map(|key| text(Rows::value(row, key)))).collect();
        pairs.len() == self.values(first).len()
    }
}
