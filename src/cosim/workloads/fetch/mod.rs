//! Fetches of slices by all tiles, and the check that every head gets what it asked for.

mod bench;
mod plan;
mod ports;
pub mod scenario;
mod scoreboard;

pub use bench::{Bench, FetchError, Fetched};
pub use plan::{Command, Plan, Resident};
