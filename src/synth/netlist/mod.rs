//! The one reader of Yosys' netlists (RTLIL): modules of a design for lint, and one flat module for the estimate.

pub mod area;
pub mod flat;
pub mod modules;
mod rtlil;
pub mod same;
