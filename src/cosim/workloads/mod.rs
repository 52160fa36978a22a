//! Runs, each with what it sends and what it expects.

pub mod attention;
pub mod decode;
mod descriptor;
pub mod device;
mod fabric_pins;
pub mod fetch;
pub mod network;
mod slice_id;

pub use descriptor::{named_twice, Descriptor};
pub use slice_id::SliceId;
