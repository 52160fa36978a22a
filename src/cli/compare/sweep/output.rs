//! Output of `meshkv sweep` as JSON.

use crate::config::WorkKind;
use crate::eval::grid::row_schema;
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;

/// Result of `meshkv sweep`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::cli) enum SweepOutput<'a> {
    /// All points were run.
    Summary(Summary),
    /// The points, with `--dry-run`.
    List(List<'a>),
    /// The row of one point, with `--only`.
    Row(SweepRow),
}

/// A row, by column.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct SweepRow(pub(super) Map<String, Value>);

/// A sweep that was run.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SweepSummary")]
pub(in crate::cli) struct Summary {
    /// Points of the grid that can be run.
    pub(super) points: usize,
    /// Rows that already existed.
    pub(super) kept: usize,
    /// Rows that this run added.
    pub(super) run: usize,
    /// Ids of points without a row, because their run failed.
    pub(super) failed: Vec<String>,
    /// Violations of all rows.
    pub(super) violations: u64,
    /// Seconds of wall time.
    #[serde(skip)]
    pub(super) seconds: f64,
    /// Folder of the rows.
    pub(super) output: PathBuf,
}

/// The points of a sweep.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SweepList")]
pub(in crate::cli) struct List<'a> {
    /// All points, in the order of the file.
    #[schemars(with = "Vec<Listed>")]
    pub(super) points: Points<'a>,
    /// Points that have a row.
    pub(super) done: usize,
}

/// Points that are made while they are written, once.
pub(in crate::cli) struct Points<'a>(pub(super) RefCell<Box<dyn Iterator<Item = Listed> + 'a>>);

impl fmt::Debug for Points<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Points")
    }
}

impl Serialize for Points<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&mut *self.0.borrow_mut())
    }
}

/// A point.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SweepPoint")]
pub(in crate::cli) struct Listed {
    /// Its id, for `--only`.
    pub(super) id: String,
    /// True if it has a row.
    pub(super) done: bool,
    /// Keys of the configuration that vary, the mesh, and keys of the workload, each with its value.
    #[schemars(schema_with = "labels")]
    pub(super) labels: Map<String, Value>,
}

fn labels(_: &mut SchemaGenerator) -> Schema {
    let value = json_schema!({ "type": ["number", "string", "boolean", "null"] });
    json_schema!({ "type": "object", "additionalProperties": value })
}

impl JsonSchema for SweepRow {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SweepRow".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let kinds = [(WorkKind::Traffic, "Row of traffic."), (WorkKind::Decode, "Row of decode steps.")];
        let rows = kinds.map(|(kind, doc)| {
            let mut schema = row_schema(kind);
            schema.insert("description".to_owned(), doc.into());
            schema
        });
        json_schema!({ "anyOf": rows })
    }
}
