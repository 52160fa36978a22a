//! JSON Schema of a row of a sweep, from its columns.

use super::area::area_columns;
use super::column::{columns_of, text_label, Column, Role};
use crate::config::{tables, Kind, WorkKind};
use schemars::{json_schema, Schema};
use serde_json::{json, Map, Value};

/// Schema of the rows of a kind of run. Keys of the configuration are there if the sweep varies them.
pub fn row_schema(kind: WorkKind) -> Schema {
    let of_config = tables().iter().flat_map(|table| &table.keys);
    let of_config = of_config.map(|key| Column { kind: key.kind, ..text_label(&key.path, &key.doc) });
    let names: Vec<Column> =
        [text_label("point", "Name of the point, if it has one.")].into_iter().chain(of_config).collect();
    let optional = |column: &Column| {
        let shape = ["mesh.cols", "mesh.rows"].contains(&column.name.as_str());
        !shape && names.iter().any(|name| name.name == column.name)
    };
    let columns = columns_of(kind, names.clone());
    let required: Vec<&str> =
        columns.iter().filter(|column| !optional(column)).map(|column| column.name.as_str()).collect();
    // `--estimate` adds the area.
    let properties: Map<String, Value> =
        columns.iter().chain(&area_columns()).map(|column| (column.name.clone(), property(column))).collect();
    json_schema!({ "type": "object", "properties": properties, "required": required })
}

fn property(column: &Column) -> Value {
    let kind = match column.kind {
        Kind::Integer => "integer",
        Kind::Number => "number",
        Kind::Bool => "boolean",
        Kind::Text | Kind::Groups => "string",
    };
    let doc = match column.unit.as_str() {
        "" => column.doc.clone(),
        unit => format!("{} ({unit})", column.doc),
    };
    // A point or a run may lack all but its id.
    match column.role {
        Role::Id => json!({ "description": doc, "type": kind }),
        Role::Label | Role::Metric => json!({ "description": doc, "type": [kind, "null"] }),
    }
}
