//! PaD: timing of the array beside every tile.
//!
//! Timing does not depend on values, so none are computed: the model counts contexts, tokens and blocks.
//! Values follow from the jobs in their order ([`Contexts::wanted`]), and the datapath computes them.

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
pub use sequencer::{Now, PadCommand, Sequencer, SequencerOut};
pub use weight_loader::{Tokens, WeightLoader, WeightLoaderIn};
