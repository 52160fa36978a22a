//! The first port in which two fabrics differ, in words.

use std::ops::Range;
use thiserror::Error;

/// Cycles that waves show before and after a difference.
const BEFORE: u64 = 64;
const AFTER: u64 = 16;

/// Model and Verilog differ at a port of the whole.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cycle {cycle}: {place}{port}: {values}")]
pub struct PortDifference {
    /// Period since reset in which it shows.
    pub cycle: u64,
    /// The tile, column or memory port, if it is of one.
    pub place: String,
    /// The port.
    pub port: String,
    /// What each of them has.
    pub values: String,
}

impl PortDifference {
    /// Cycles from shortly before it to shortly after: what waves should show.
    pub fn around(&self) -> Range<u64> {
        around(self.cycle)
    }
}

/// Cycles from shortly before one to shortly after it.
pub(in crate::cosim) fn around(cycle: u64) -> Range<u64> {
    cycle.saturating_sub(BEFORE)..cycle + AFTER
}
