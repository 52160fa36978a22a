//! Runs of the commands, each with its stimulus and its expected results.

pub mod attention;
pub mod card;
pub mod decode;
pub mod device;
pub mod fetch;
pub mod network;
pub mod random;
pub mod requests;
mod shared;
pub mod steps;

pub use shared::bound::Bound;
pub use shared::breakdown::{Event, Passed};
pub use shared::page_writer::shuffled;
pub use shared::slice_id::SliceId;
pub use shared::tile_errors::{TileError, TileErrorKind};
pub use shared::watchdog::{Watchdog, TIMEOUT};
