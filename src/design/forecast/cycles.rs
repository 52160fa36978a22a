//! The result of a forecast.

use crate::design::bounds::Bounds;

/// Cycles of a decode step under a mapping, before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// Expected cycles of the network's clock, from the first word of queries to the last output.
    pub cycles: u64,
    /// Least cycles of each part, where all fetches for a flit meet. PART on the links and the reading of
    /// results are left out.
    pub bounds: Bounds,
}
