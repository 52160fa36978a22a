//! Axes of a sweep, and the values along them.

use serde_json::Value;
use std::ops::Range;

/// One value of one key, and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Set {
    /// `table.name` of the configuration, or `workload.name`.
    pub path: String,
    /// The value.
    pub value: Value,
    /// Bytes of the value in the sweep file.
    pub span: Range<usize>,
}

/// All values that one step along an axis sets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Choice {
    /// Name of one of `[[points]]`.
    pub name: Option<String>,
    /// Its values.
    pub sets: Vec<Set>,
}

/// An axis: each point of the grid takes one of its choices.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// In the order of the file.
    pub choices: Vec<Choice>,
}
