//! Cells that are independent of the fabric.

use crate::emit::rtl::spec::template::{templates, Template};

/// Templates of its modules.
pub(super) const TEMPLATES: &[Template] = templates!(Common,
    "common":
        "meshkv_arbiter2", "meshkv_arbiter4", "meshkv_async_fifo", "meshkv_async_pointer",
        "meshkv_async_register", "meshkv_block_fifo", "meshkv_crossing", "meshkv_crossing_chain", "meshkv_delay",
        "meshkv_event_counters", "meshkv_fifo", "meshkv_parity_check", "meshkv_synchronizer";
);
