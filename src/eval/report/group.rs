//! Groups rows that differ in their seed alone to one figure with its interval.

use super::choose::Chosen;
use super::rows::{text, Rows};
use crate::eval::grid::Column;
use crate::eval::rows::spread::Spread;
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
    let whole = |column: &Column| {
        // Errors are not random: those of some seeds do not average out.
        let error = spread(&column.error).map_or(0.0, |error| error.mean);
        Some(spread(&column.name)?.with_error(error))
    };
    let keys = chosen.by.iter().chain([&chosen.x]);
    Group {
        series,
        x,
        values: keys.map(|key| Rows::value(rows[0], key).clone()).collect(),
        seeds: rows.iter().filter_map(|row| Rows::value(row, "seed").as_u64()).collect(),
        y: chosen.y.iter().map(whole).collect(),
        bound: rows.iter().any(|row| Rows::value(row, "finished") == &Value::Bool(false)),
        zero_load: spread("zero_load_latency").map(|spread| spread.mean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::WorkKind;
    use crate::eval::grid::metric_columns;
    use crate::eval::report::{choose, Rows, Wanted};
    use serde_json::json;

    /// The groups of rows of a point each, with the cycles of their whole steps, the error of these and the seed.
    fn grouped(rows: &[(u32, f64, f64, u64)], baseline: Option<(String, String)>) -> Vec<Group> {
        let mut all = Rows::new(WorkKind::Decode);
        let row = |&(cols, cycles, error, seed): &(u32, f64, f64, u64)| {
            let row = json!({ "mesh.cols": cols, "mesh.rows": 2, "step_cycles": cycles, "error": error, "seed": seed });
            row.as_object().cloned().unwrap()
        };
        all.add("a", &metric_columns(WorkKind::Decode), rows.iter().map(row));
        let wanted = Wanted { y: vec!["step_cycles".to_owned()], baseline, ..Wanted::default() };
        groups(&choose(&all, &wanted).unwrap())
    }

    #[test]
    fn an_extrapolated_step_has_its_error_and_one_that_ran_whole_has_none() {
        let halves =
            |rows: &[_]| grouped(rows, None).iter().map(|g| g.y[0].unwrap().half).collect::<Vec<_>>();
        assert_eq!(halves(&[(2, 100.0, 0.25, 1), (4, 50.0, 0.0, 1)]), [Some(25.0), None]);
        // Seeds that agree do not make an error smaller.
        assert_eq!(halves(&[(2, 100.0, 0.25, 1), (2, 100.0, 0.25, 2)]), [Some(25.0)]);
    }

    #[test]
    fn a_ratio_has_the_errors_of_both() {
        let base = Some(("mesh".to_owned(), "2x2".to_owned()));
        let found = grouped(&[(2, 100.0, 0.125, 1), (4, 50.0, 0.25, 1)], base);
        assert_eq!(found.iter().map(|g| g.y[0].unwrap().mean).collect::<Vec<_>>(), [1.0, 0.5]);
        assert_eq!(found.iter().map(|g| g.y[0].unwrap().half).collect::<Vec<_>>(), [None, Some(0.1875)]);
    }
}
