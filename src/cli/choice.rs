//! The choice of `--mapping auto` as JSON and in words.

use super::table;
use crate::design::Choice;
use serde_json::{json, Value};

/// Each mapping with its forecast or the reason why it was left out; null if the user chose.
pub(super) fn as_json(choice: Option<&Choice>) -> Value {
    let Some(choice) = choice else { return Value::Null };
    let mappings = choice.forecasts.iter().map(|(mapping, forecast)| match forecast {
        Ok(forecast) => {
            json!({ "mapping": mapping.name(), "cycles": forecast.cycles, "bounds": forecast.bounds })
        }
        Err(reason) => json!({ "mapping": mapping.name(), "left_out": reason }),
    });
    json!({ "chosen": choice.mapping.name(), "mappings": mappings.collect::<Vec<_>>() })
}

/// A table of the forecasts; nothing if the user chose.
pub(super) fn prose(choice: Option<&Choice>) -> String {
    let Some(choice) = choice else { return String::new() };
    let text = |text: &str| text.to_owned();
    let bounds = choice.forecasts.iter().find_map(|(_, forecast)| forecast.as_ref().ok());
    let mut head = vec![text("mapping"), text("cycles")];
    head.extend(bounds.iter().flat_map(|forecast| forecast.bounds.all()).map(|(name, _)| text(name)));
    let mut rows = vec![head];
    let mut left_out = String::new();
    for (mapping, forecast) in &choice.forecasts {
        match forecast {
            Ok(forecast) => {
                let mut row = vec![text(mapping.name()), forecast.cycles.to_string()];
                row.extend(forecast.bounds.all().map(|(_, cycles)| cycles.to_string()));
                rows.push(row);
            }
            Err(reason) => left_out += &format!("  {} is left out: {reason}\n", mapping.name()),
        }
    }
    let table = table::columns(&rows);
    format!(
        "Mapping {}, by forecast; cycles, and the least that each part needs:\n{table}{left_out}",
        choice.mapping.name()
    )
}
