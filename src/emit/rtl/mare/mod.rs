//! Requests for slices, and the homes that answer them; `docs/mare.md` gives the reasons.

pub(super) mod duplicate_filter;
pub(super) mod h3_hash;
pub(super) mod home_agent;
pub(super) mod params;
pub(super) mod reorder_fifo;
pub(super) mod request_table;
pub(super) mod requester;
pub(super) mod staging;
pub(super) mod tile_port;
pub(super) mod transport;

use crate::design::Design;
use crate::emit::rtl::mare::duplicate_filter::{bloom_filter, duplicate_filter};
use crate::emit::rtl::mare::home_agent::{burst_gate, fetch_park, home_agent, slice_streamer};
use crate::emit::rtl::mare::params::MareParams;
use crate::emit::rtl::mare::reorder_fifo::reorder_fifo;
use crate::emit::rtl::mare::request_table::request_table;
use crate::emit::rtl::mare::requester::requester;
use crate::emit::rtl::mare::staging::{staging_directory, staging_memory};
use crate::emit::rtl::mare::tile_port::{flit_way, tile_decode, tile_port};
use crate::emit::rtl::mare::transport::transport;
use crate::emit::rtl::module::ModuleSpec;

/// Bodies of its modules.
pub(super) const TEMPLATES: &[(&str, &str)] = &[
    template!("mare/meshkv_bloom_filter.v"),
    template!("mare/meshkv_burst_gate.v"),
    template!("mare/meshkv_duplicate_filter.v"),
    template!("mare/meshkv_fetch_park.v"),
    template!("mare/meshkv_flit_way.v"),
    template!("mare/meshkv_home_agent.v"),
    template!("mare/meshkv_reorder_fifo.v"),
    template!("mare/meshkv_request_table.v"),
    template!("mare/meshkv_requester.v"),
    template!("mare/meshkv_slice_streamer.v"),
    template!("mare/meshkv_staging_directory.v"),
    template!("mare/meshkv_staging_memory.v"),
    template!("mare/meshkv_tile_decode.v"),
    template!("mare/meshkv_tile_port.v"),
    template!("mare/meshkv_transport.v"),
];

/// Every module of the block, each after those it instantiates.
pub(super) fn modules(design: &Design) -> Vec<ModuleSpec> {
    let w = MareParams::of(design);
    let mut modules = vec![tile_decode(&w), flit_way(&w), request_table(&w)];
    if design.mare.dedup {
        modules.extend([bloom_filter(&w), duplicate_filter(&w)]);
    }
    modules.extend([
        reorder_fifo(),
        burst_gate(&w),
        slice_streamer(&w),
        staging_memory(&w),
        staging_directory(&w),
        fetch_park(&w),
        home_agent(&w),
        requester(&w),
        tile_port(&w),
        transport(&w),
    ]);
    modules
}
