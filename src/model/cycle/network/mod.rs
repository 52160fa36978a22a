//! Network: routers, links and their counters. It knows nothing of what its tiles compute.

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
