//! The result of a forecast, and how far it may be off.

use crate::design::time::bounds::Bounds;
use schemars::JsonSchema;
use serde::Serialize;

/// Cycles of a decode step under a mapping, before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// Expected cycles of the network's clock, from the first word of queries to the last output.
    pub cycles: u64,
    /// Least cycles of each part, where all fetches for a flit meet. PART on the links and the reading of
    /// results are left out.
    pub bounds: Bounds,
}

/// Error of forecasts of drawn steps against their cycles on the model, as a share of the cycles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ForecastError {
    /// The error that half of them do not exceed.
    pub median: f64,
    /// The error that 95 of 100 do not exceed.
    pub most_of_95: f64,
}

/// The error that is stated with each forecast. A test draws steps and holds it.
pub const FORECAST_ERROR: ForecastError = ForecastError { median: 0.05, most_of_95: 0.2 };

impl ForecastError {
    /// The error in words, which follow on what is expected.
    pub fn words(&self) -> String {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let (median, most) = (percent(self.median), percent(self.most_of_95));
        format!("half of such forecasts are within {median} of the cycles, 95 of 100 within {most}")
    }
}

#[cfg(test)]
mod tests {
    use crate::design::time::forecast::cycles::*;

    #[test]
    fn the_error_is_said_in_percent() {
        let words = ForecastError { median: 0.05, most_of_95: 0.2 }.words();
        assert_eq!(words, "half of such forecasts are within 5 % of the cycles, 95 of 100 within 20 %");
    }
}
