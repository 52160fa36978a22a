//! Fabric: wiring of the other blocks, without logic of its own.

mod core;
mod endpoints;
#[allow(clippy::module_inception)]
mod fabric;
mod periphery;
mod tile;

pub use core::{Core, Edges, PadShown, RootShown};
pub use endpoints::{Endpoints, FabricIn, FabricShown, LocalIn};
pub use fabric::{Fabric, Network, NodeShown, Nodes};
pub use periphery::{Asked, ControlShown, Periphery, Tiles};
pub use tile::{Shown, Tile, TileIn};
