//! Groups rows that differ in their seed alone to one figure with its interval.

use super::choose::Chosen;
use super::rows::{text, Rows};
use crate::eval::spread::Spread;
use serde_json::{Map, Value};

/// The rows of one series at one x.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Values of the labels of its series, as text.
    pub series: Vec<String>,
    /// Its x, as text.
    pub x: String,
    /// The same as the rows have them: of the series, then of x.
    pub values: Vec<Value>,
    /// Its seeds.
    pub seeds: Vec<u64>,
    /// Each metric; none if no row has it.
    pub y: Vec<Option<Spread>>,
    /// True if a row is a lower bound, because not all of its sample arrived.
    pub bound: bool,
    /// Zero-load latency in cycles, for traffic.
    pub zero_load: Option<f64>,
}

/// Groups in the order of the rows.
pub fn groups(chosen: &Chosen) -> Vec<Group> {
    type Together<'a> = Vec<&'a Map<String, Value>>;
    let mut found: Vec<(Vec<String>, String, Together<'_>)> = Vec::new();
    for row in &chosen.rows.rows {
        let series: Vec<String> = chosen.by.iter().map(|key| text(Rows::value(row, key))).collect();
        let x = text(Rows::value(row, &chosen.x));
        match found.iter_mut().find(|(s, at, _)| *s == series && *at == x) {
            Some((_, _, rows)) => rows.push(row),
            None => found.push((series, x, vec![row])),
        }
    }
    found.into_iter().map(|(series, x, rows)| group(chosen, series, x, &rows)).collect()
}

fn group(chosen: &Chosen, series: Vec<String>, x: String, rows: &[&Map<String, Value>]) -> Group {
    let spread = |name: &str| {
        let values: Vec<f64> = rows.iter().filter_map(|row| Rows::value(row, name).as_f64()).collect();
        (!values.is_empty()).then(|| Spread::of(&values))
    };
    let keys = chosen.by.iter().chain([&chosen.x]);
    Group {
        series,
        x,
        values: keys.map(|key| Rows::value(rows[0], key).clone()).collect(),
        seeds: rows.iter().filter_map(|row| Rows::value(row, "seed").as_u64()).collect(),
        y: chosen.y.iter().map(|column| spread(&column.name)).collect(),
        bound: rows.iter().any(|row| Rows::value(row, "finished") == &Value::Bool(false)),
        zero_load: spread("zero_load_latency").map(|spread| spread.mean),
    }
}
