//! Runs of the commands, each with its stimulus and its expected results.

pub mod attention;
mod breakdown;
pub mod decode;
pub mod device;
mod fabric_pins;
pub mod fetch;
mod homes;
pub mod network;
mod slice_id;
pub mod steps;
mod token_writers;
mod watchdog;

pub use breakdown::{Event, Passed};
pub use slice_id::SliceId;
pub use watchdog::{Watchdog, TIMEOUT};
