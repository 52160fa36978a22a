//! The counters of a router.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn link_counters() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_link_counters",
        &[
            "Counts events of the five outputs over a whole run.",
            "",
            "Totals of an output, from stat_index = output * 5: PART, KV_FETCH and KV_DATA flits, cycles",
            "blocked for credit, idle cycles.",
        ],
    )
    .clocked()
    .input("events", 20, "Four bits an output: {blocked, KV_DATA, KV_FETCH, PART}.")
    .group("The total under the scan.")
    .output("stat_index", 5, "")
    .output("stat_data", 32, "")
    .instances(&["meshkv_event_counters"])
    .build()
}
