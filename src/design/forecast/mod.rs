//! Forecast of the cycles of a decode step under each mapping, and the mapping that follows from it.
//!
//! Nothing runs: `follower` follows the slices of a step, not its flits. So it takes milliseconds, and a host
//! can have its results in a table.

mod choice;
mod cycles;
mod follower;
mod server;

pub use choice::Choice;
pub use cycles::Forecast;
