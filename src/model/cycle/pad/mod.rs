//! What computes beside every tile.

mod contexts;
mod event_counters;
#[allow(clippy::module_inception)]
mod pad;
mod ports;
mod rows;
mod sequencer;
mod weight_loader;

pub use contexts::{Context, Contexts};
pub use event_counters::EventCounters;
pub use pad::{Between, Pad};
pub use ports::ComputeIn;
pub use rows::Rows;
pub use sequencer::{Did, Now, Sequencer, Told};
pub use weight_loader::{Tokens, WeightLoader, WeightLoaderIn};
