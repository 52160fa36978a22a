//! The choice of `--mapping auto` as JSON and in words.

use crate::cli::output::table;
use crate::design::{Bounds, Choice, ForecastError, FORECAST_ERROR};
use schemars::JsonSchema;
use serde::Serialize;

/// The choice of a mapping by forecasts.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct ChoiceOutput {
    /// The mapping that ran.
    chosen: &'static str,
    /// How far forecasts are off.
    error: ForecastError,
    /// All mappings.
    mappings: Vec<ForecastOutput>,
}

/// A mapping with its forecast, or the reason why it was left out.
#[derive(Debug, Serialize, JsonSchema)]
struct ForecastOutput {
    /// Name of the mapping.
    mapping: &'static str,
    /// Expected cycles, from the first word of queries to the last output.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
    /// Least cycles of each part.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<Bounds>,
    /// Reason why it has no forecast.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<&'static str>,
}

/// The choice as JSON has it; none if the user chose.
pub(in crate::cli) fn output(choice: Option<&Choice>) -> Option<ChoiceOutput> {
    let choice = choice?;
    let mappings = choice.forecasts.iter().map(|(mapping, forecast)| ForecastOutput {
        mapping: mapping.name(),
        cycles: forecast.as_ref().ok().map(|forecast| forecast.cycles),
        bounds: forecast.as_ref().ok().map(|forecast| forecast.bounds),
        left_out: forecast.as_ref().err().copied(),
    });
    Some(ChoiceOutput { chosen: choice.mapping.name(), error: FORECAST_ERROR, mappings: mappings.collect() })
}

/// A table of the forecasts; nothing if the user chose.
pub(in crate::cli) fn prose(choice: Option<&Choice>) -> String {
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
        "Mapping {}, by forecast; cycles, and the least that each part needs:\n{table}{left_out}  {}\n",
        choice.mapping.name(),
        FORECAST_ERROR.words()
    )
}
