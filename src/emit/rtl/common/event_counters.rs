//! Counters of events with a scan of their totals.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn event_counters() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Common,
        "meshkv_event_counters",
        &[
            "Counts events over a whole run.",
            "",
            "Each event has the low bits of its total next to it. A scan visits one event a cycle and keeps",
            "the 32-bit totals in a small memory, so that many counters share one adder. The scan outputs each",
            "total as it passes, so that reading needs no port. Totals wrap after 2^32.",
        ],
    )
    .param("NUM_EVENTS", 25, "Events, at most 31.")
    .clocked()
    .input("happens", "NUM_EVENTS", "Events of this cycle.")
    .group("The total under the scan.")
    .output("stat_index", 5, "")
    .output("stat_data", 32, "")
    .build()
}
