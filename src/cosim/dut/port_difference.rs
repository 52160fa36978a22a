//! The first port in which two fabrics differ, as a message.

use std::ops::Range;
use thiserror::Error;

/// Cycles of waves before and after a difference.
const BEFORE: u64 = 64;
const AFTER: u64 = 16;

/// A difference between model and Verilog at a port of the whole fabric.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cycle {cycle}: {place}{port}: {values}")]
pub struct PortDifference {
    /// Period of the difference, since reset.
    pub cycle: u64,
    /// The tile, column or memory port; empty for a port of the whole.
    pub place: String,
    /// The port.
    pub port: String,
    /// Value of each of them.
    pub values: String,
}

impl PortDifference {
    /// Cycles for waves: from shortly before the difference to shortly after.
    pub fn wave_cycles(&self) -> Range<u64> {
        cycles_near(self.cycle)
    }
}

/// Cycles from shortly before this one to shortly after it.
pub(in crate::cosim) fn cycles_near(cycle: u64) -> Range<u64> {
    cycle.saturating_sub(BEFORE)..cycle + AFTER
}
