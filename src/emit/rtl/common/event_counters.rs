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
            "Beside each event run the low bits of its total; a scan visits one after the other and keeps",
            "the 32-bit totals in a small memory. So many counters cost one adder. The scan shows each total",
            "as it passes: reading costs no port. Totals wrap after 2^32.",
        ],
    )
    .param("NUM_EVENTS", 25, "Events, at most 31.")
    .clocked()
    .input("happens", "NUM_EVENTS", "What happens in this cycle.")
    .group("The total that the scan has reached.")
    .output("stat_index", 5, "")
    .output("stat_data", 32, "")
    .build()
}
