//! One load point of the network: warm-up, measurement, drain.

pub mod measure;
mod phases;
pub mod statistics;

pub use phases::Phases;
