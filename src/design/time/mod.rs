//! Bounds and forecasts of a run.

pub(super) mod bounds;
pub(super) mod forecast;
