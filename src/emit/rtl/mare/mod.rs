//! Requests for slices, and the homes that answer them; `docs/mare.md` gives the reasons.

mod h3_hash;
pub(super) mod values;

use crate::emit::rtl::spec::template::{templates, Template};

/// Templates of its modules.
pub(super) const TEMPLATES: &[Template] = templates!(Mare,
    "mare":
        "meshkv_bloom_filter", "meshkv_burst_gate", "meshkv_duplicate_filter", "meshkv_fetch_miss_queue",
        "meshkv_flit_way", "meshkv_home_agent", "meshkv_reorder_fifo", "meshkv_request_table",
        "meshkv_requester", "meshkv_slice_streamer", "meshkv_staging_directory", "meshkv_staging_memory",
        "meshkv_tile_decode", "meshkv_tile_port", "meshkv_transport";
);
