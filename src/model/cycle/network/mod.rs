//! Network: routers, links and their counters. It knows nothing of what its tiles compute.

mod claims;
mod fixed_list;
mod flit;
mod flit_store;
mod input_port;
mod lanes;
mod link_counters;
mod links;
mod mesh;
mod output_port;
mod params;
mod phase;
mod router;
mod routers;
mod switch_allocator;
mod virtual_channel;
mod work_lists;

pub use flit::Flit;
pub use link_counters::{TOTALS, TOTALS_PER_PORT};
pub use mesh::{Kept, RouterMesh, Shown, Upset};
