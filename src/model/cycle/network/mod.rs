//! Network: routers, links and their counters. It is independent of the work of the tiles.

mod flits;
mod link_counters;
mod links;
mod mesh;
mod params;
mod phase;
mod router;
mod routers;
mod state;
mod switch_allocator;

pub use flits::flit::Flit;
pub use link_counters::{TOTALS, TOTALS_PER_PORT};
pub use mesh::{Kept, RouterMesh, Shown, Upset};
