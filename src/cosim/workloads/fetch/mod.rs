//! Fetches of slices by all tiles, with a check that every head gets what it requested.

mod bench;
mod plan;
mod ports;
pub mod scenario;
mod scoreboard;

pub use bench::{Bench, FetchError, Fetched};
pub use plan::{Command, Plan, Resident};
