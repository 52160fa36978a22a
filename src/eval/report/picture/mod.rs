//! Pictures of a report.

pub(super) mod bar_names;
pub(super) mod bars;
pub(in crate::eval) mod canvas;
pub(super) mod curves;
pub(super) mod pareto;
#[cfg(test)]
pub(in crate::eval) mod placed;
pub(super) mod plot;
pub(in crate::eval) mod text;
