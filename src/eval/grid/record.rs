//! One row of a sweep, as text.

use super::area::{is_area, PREFIX};
use super::column::{Column, Role, CONFIG_SHA256};
use super::point::Point;
use crate::config::Kind;
use serde_json::{Map, Value};

/// A point with its metrics: a value for each column, null where there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// In the order of the columns.
    pub values: Vec<Value>,
}

/// A value in the type of its column.
fn of_kind(column: &Column, value: &Value) -> Value {
    match column.kind {
        // 1 and 1.0 are one number, and must be one text.
        Kind::Number => value.as_f64().map_or(Value::Null, Value::from),
        _ => value.clone(),
    }
}

impl Record {
    /// The row of a point, where `found` is the row of its run as JSON.
    pub fn new(columns: &[Column], point: &Point, found: &Value) -> Record {
        Record::with(columns, point, |column| found.pointer(column.pointer).cloned())
    }

    /// The row of a point from a stored line. Its labels are those of the present sweep file, which
    /// may vary other keys.
    pub fn kept(columns: &[Column], point: &Point, line: &Map<String, Value>) -> Record {
        Record::with(columns, point, |column| line.get(&column.name).cloned())
    }

    fn with(columns: &[Column], point: &Point, metric: impl Fn(&Column) -> Option<Value>) -> Record {
        let mut labels = point.labels.iter();
        let values = columns.iter().map(|column| match column.role {
            Role::Id if column.name == CONFIG_SHA256 => point.design.config_sha256().into(),
            Role::Id => Value::from(point.id.clone()),
            Role::Label => labels.next().map_or(Value::Null, |label| of_kind(column, label)),
            Role::Metric => metric(column).map_or(Value::Null, |value| of_kind(column, &value)),
        });
        Record { values: values.collect() }
    }

    /// Puts the area of the point's configuration into its columns.
    pub fn set_area(&mut self, columns: &[Column], area: &Value) {
        for (column, value) in columns.iter().zip(&mut self.values).filter(|(column, _)| is_area(column)) {
            let found = area.get(column.pointer.trim_start_matches(PREFIX));
            *value = found.map_or(Value::Null, |found| of_kind(column, found));
        }
    }

    /// A line of JSON Lines, with its end.
    pub fn to_json(&self, columns: &[Column]) -> String {
        let field =
            |(column, value): (&Column, &Value)| format!("{}:{value}", Value::from(column.name.as_str()));
        let fields: Vec<_> = columns.iter().zip(&self.values).map(field).collect();
        format!("{{{}}}\n", fields.join(","))
    }

    /// A line of CSV, with its end.
    pub fn to_csv(&self) -> String {
        csv_line(self.values.iter().map(cell))
    }
}

/// The first line of the CSV.
pub fn csv_head(columns: &[Column]) -> String {
    csv_line(columns.iter().map(|column| column.name.as_str()))
}

/// A line of CSV, with its end; fields are quoted where RFC 4180 requires it.
pub fn csv_line(fields: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(fields).expect("a line has any number of fields");
    let bytes = writer.into_inner().expect("memory takes all of it");
    String::from_utf8(bytes).expect("fields are text")
}

/// A field of CSV.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A line of JSON Lines with its id; nothing if it is no row.
pub fn parse_line(line: &str) -> Option<(String, Map<String, Value>)> {
    parse_line_of("id", line)
}

/// A line of JSON Lines with the name that this key has; nothing if it has none.
pub fn parse_line_of(key: &str, line: &str) -> Option<(String, Map<String, Value>)> {
    let row: Map<String, Value> = serde_json::from_str(line).ok()?;
    let name = row.get(key)?.as_str()?.to_owned();
    Some((name, row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let values =
            [Value::from("a"), Value::from("a,b"), Value::from("a \"b\""), Value::Null, Value::from(0.5)];
        assert_eq!(Record { values: values.to_vec() }.to_csv(), "a,\"a,b\",\"a \"\"b\"\"\",,0.5\n");
    }

    #[test]
    fn a_line_without_its_end_is_no_row() {
        assert!(parse_line("{\"id\":\"a\",\"x\":1}").is_some());
        for line in ["{\"id\":\"a\",\"x\":1", "{\"x\":1}", "", "7", "{\"id\":7}"] {
            assert_eq!(parse_line(line), None, "{line}");
        }
    }
}
