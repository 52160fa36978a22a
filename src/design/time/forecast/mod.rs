//! Forecast of the cycles of a decode step under each mapping, and the mapping that follows from it.
//!
//! Nothing runs: `follower` follows the chunks of some slices of a layer, not its flits. So it takes a fraction of a
//! second, and a host can have its results in a table.

mod choice;
mod cycles;
mod follower;
mod links;
mod noted;
mod parts;
mod server;
mod work;

pub use choice::Choice;
pub use cycles::{Forecast, ForecastError, FORECAST_ERROR};
pub use noted::least_cycles;
