//! Chooses the x axis, the metrics and the series of a report.

use super::rows::{text, Rows};
use crate::config::{Kind, WorkKind};
use crate::eval::grid::{Column, Role};
use serde_json::Value;
use std::collections::HashMap;
use thiserror::Error;

/// Options of a report; omitted ones are chosen from the rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wanted {
    /// Label along the x axis.
    pub x: Option<String>,
    /// Metrics, a figure each.
    pub y: Vec<String>,
    /// Labels that distinguish series.
    pub by: Vec<String>,
    /// Only rows with these values.
    pub only: Vec<(String, String)>,
    /// Metrics relative to the rows with this value.
    pub baseline: Option<(String, String)>,
}

/// Contents of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// Label along the x axis.
    pub x: String,
    /// Metrics.
    pub y: Vec<Column>,
    /// Labels of a series.
    pub by: Vec<String>,
    /// The rows; metrics are relative to the baseline if there is one.
    pub rows: Rows,
    /// The baseline in words.
    pub baseline: Option<String>,
}

/// Options that the rows cannot satisfy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ChoiceError {
    /// No such column.
    #[error("{key} is no {what} of these rows\n  help: there are {list}")]
    Unknown {
        /// The column asked for.
        key: String,
        /// Its role: label, or measured number.
        what: &'static str,
        /// The existing columns.
        list: String,
    },
    /// No such value.
    #[error("no row has {key} = {value}\n  help: it is {list}")]
    NoRow {
        /// Label.
        key: String,
        /// Value asked for.
        value: String,
        /// Its values.
        list: String,
    },
    /// Rows that differ would be taken for seeds of one point.
    #[error("rows of one series and x differ in {key}, and must not be averaged\n  help: add it to --by, or keep one value of it, for example --where {key}={value}")]
    Mixed {
        /// The label.
        key: String,
        /// One of its values.
        value: String,
    },
}

/// Chooses the contents of a report.
///
/// # Errors
/// If the rows cannot satisfy an option, with a suggestion.
pub fn choose(rows: &Rows, wanted: &Wanted) -> Result<Chosen, ChoiceError> {
    let mut rows = rows.clone();
    for (key, value) in &wanted.only {
        known(&rows, key)?;
        has(&rows, key, value)?;
        rows.rows.retain(|row| text(Rows::value(row, key)) == *value);
    }
    let varying: Vec<String> = rows.varying().into_iter().map(str::to_owned).collect();
    let x = match &wanted.x {
        Some(x) => known(&rows, x).map(|()| x.clone())?,
        None => default_x(&rows, &varying),
    };
    // A label that determines x, or that x determines, adds nothing.
    let rest: Vec<String> =
        varying.into_iter().filter(|label| *label != x && !rows.follows(&x, label)).collect();
    let by = if wanted.by.is_empty() { rest.clone() } else { wanted.by.clone() };
    by.iter().try_for_each(|key| known(&rows, key))?;
    if let Some(key) = rest.iter().find(|label| !by.contains(label) && !told(&rows, &x, &by, label)) {
        let value = rows.values(key).swap_remove(0);
        return Err(ChoiceError::Mixed { key: key.clone(), value });
    }
    let asked = if wanted.y.is_empty() { default_y(rows.kind) } else { wanted.y.clone() };
    let y = asked.iter().map(|name| metric(&rows, name)).collect::<Result<Vec<_>, _>>()?;
    let baseline = wanted.baseline.as_ref().map(|(key, value)| format!("{key} = {value}"));
    if let Some((key, value)) = &wanted.baseline {
        known(&rows, key)?;
        has(&rows, key, value)?;
        relate(&mut rows, &y, key, value);
    }
    Ok(Chosen { x, y, by, rows, baseline })
}

/// True if x and the labels of the series determine a label, too.
fn told(rows: &Rows, x: &str, by: &[String], label: &str) -> bool {
    let mut seen: HashMap<Vec<String>, String> = HashMap::new();
    rows.rows.iter().all(|row| {
        let of = |key: &str| text(Rows::value(row, key));
        let key = by.iter().map(|key| of(key)).chain([of(x)]).collect();
        *seen.entry(key).or_insert_with(|| of(label)) == of(label)
    })
}

fn known(rows: &Rows, key: &str) -> Result<(), ChoiceError> {
    let labels = rows.labels();
    if labels.contains(&key) || key == "seed" {
        return Ok(());
    }
    Err(ChoiceError::Unknown { key: key.to_owned(), what: "label", list: labels.join(", ") })
}

fn has(rows: &Rows, key: &str, value: &str) -> Result<(), ChoiceError> {
    let values = rows.values(key);
    if values.iter().any(|there| there == value) {
        return Ok(());
    }
    let (key, value) = (key.to_owned(), value.to_owned());
    Err(ChoiceError::NoRow { key, value, list: values.join(", ") })
}

fn metric(rows: &Rows, name: &str) -> Result<Column, ChoiceError> {
    let numbers = || {
        let number = |c: &&Column| c.role == Role::Metric && matches!(c.kind, Kind::Integer | Kind::Number);
        rows.columns.iter().filter(number)
    };
    numbers().find(|column| column.name == name).cloned().ok_or_else(|| {
        let list = numbers().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
        ChoiceError::Unknown { key: name.to_owned(), what: "number that was measured", list }
    })
}

fn default_x(rows: &Rows, varying: &[String]) -> String {
    let numeric = |label: &&String| {
        rows.column(label).is_some_and(|column| matches!(column.kind, Kind::Integer | Kind::Number))
    };
    let load = varying.iter().find(|label| *label == "load");
    let first = match rows.kind {
        WorkKind::Traffic => load.or_else(|| varying.iter().find(numeric)).or(varying.first()),
        WorkKind::Decode => varying.first(),
    };
    first.cloned().unwrap_or_else(|| super::rows::MESH.to_owned())
}

fn default_y(kind: WorkKind) -> Vec<String> {
    let names = match kind {
        WorkKind::Traffic => &["latency_mean", "accepted"][..],
        WorkKind::Decode => &["latency_us", "tokens_per_second", "step_cycles", "traffic"],
    };
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Divides the metrics of every row by those of the row that differs in `key` alone, seed by seed.
fn relate(rows: &mut Rows, y: &[Column], key: &str, value: &str) {
    let labels: Vec<String> = {
        let told = |label: &str| label == key || rows.follows(key, label);
        let labels = rows.labels().into_iter().filter(|label| !told(label));
        labels.chain(["seed"]).map(str::to_owned).collect()
    };
    let place = |row: &serde_json::Map<String, Value>| -> Vec<String> {
        labels.iter().map(|label| text(Rows::value(row, label))).collect()
    };
    let numbers = |row: &serde_json::Map<String, Value>| -> Vec<Option<f64>> {
        y.iter().map(|column| Rows::value(row, &column.name).as_f64()).collect()
    };
    let errors = |row: &serde_json::Map<String, Value>| -> Vec<f64> {
        y.iter().map(|column| Rows::value(row, &column.error).as_f64().unwrap_or(0.0)).collect()
    };
    let base: HashMap<Vec<String>, _> = rows
        .rows
        .iter()
        .filter(|row| text(Rows::value(row, key)) == value)
        .map(|row| (place(row), (numbers(row), errors(row))))
        .collect();
    for row in &mut rows.rows {
        let (is_base, own_errors) = (text(Rows::value(row, key)) == value, errors(row));
        let (base, base_errors) = base.get(&place(row)).map(|(base, errors)| (base, errors)).unzip();
        for ((column, own), base) in y.iter().zip(own_errors).zip(base_errors.into_iter().flatten()) {
            // A ratio has the errors of both, and that of a row over itself none.
            let both = if is_base { 0.0 } else { own + base };
            if !column.error.is_empty() {
                row.insert(column.error.clone(), both.into());
            }
        }
        for (at, column) in y.iter().enumerate() {
            let own = Rows::value(row, &column.name).as_f64();
            let other = base.and_then(|base| base[at]).filter(|base| *base != 0.0);
            // A row without a baseline has no ratio.
            let ratio = own.zip(other).map_or(Value::Null, |(own, other)| Value::from(own / other));
            row.insert(column.name.clone(), ratio);
        }
    }
}
