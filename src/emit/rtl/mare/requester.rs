//! The requester of slices.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::mare::params::MareParams;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn requester(w: &MareParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Mare, "meshkv_requester",
        &[
            "Requests slices from their homes, one range at a time, and delivers each flit once.",
            "",
            "FIFO places are reserved before a fetch leaves, so arriving flits are taken at once. A head that",
            "needs a range in flight joins it by a fetch of the same generation. Once a flit has arrived, the range",
            "is requested anew with a generation that no home remembers. An overdue range is requested",
            "again. A flit that no slot waits for is a duplicate and is dropped.",
        ],
    )
    .x_width(&w.net)
    .y_width(&w.net)
    .tag_width(w)
    .param("GEN_WIDTH", w.key - w.tag, "Width of a generation in bits.")
    .key_width(w)
    .index_width(w)
    .mask_width(w)
    .flit_width(&w.net)
    .chunk_flits(w)
    .fifo_depth(w)
    .fetch_slots("SLOTS", w)
    .fetch_history("HISTORY", w)
    .retry_ticks(w)
    .fifo_pointers(w)
    .clocked()
    .compute_clocked()
    .coordinates()
    .input("tick", 1, "The last cycle of a period.")
    .command()
    .input("cmd_patient", 1, "No retry before its first flit arrives, because its slice may be missing for long.")
    .output("tag_busy", 1, "Some of the slice that the command had in the cycle before is in flight.")
    .group("An awaited flit has arrived.")
    .output("came_valid", 1, "One pulse a flit.")
    .output("came_tag", "TAG_WIDTH", "")
    .group("A fetch, to the network or to this tile's home.")
    .output("fetch_valid", 1, "")
    .input("fetch_ready", 1, "")
    .output("fetch_key", "KEY_WIDTH", "")
    .output("fetch_mask", "MASK_WIDTH", "")
    .output("fetch_x", "X_WIDTH", "The home.")
    .output("fetch_y", "Y_WIDTH", "")
    .output("fetch_first", "INDEX_WIDTH", "")
    .output("fetch_last", "INDEX_WIDTH", "")
    .output("fetch_again", 1, "It was requested before.")
    .output("fetch_own", 1, "This tile is the home.")
    .group("An arriving flit; it is always taken.")
    .input("rx_valid", 1, "One pulse a flit.")
    .input("rx_key", "KEY_WIDTH", "")
    .input("rx_index", "INDEX_WIDTH", "")
    .input("rx_data", "FLIT_WIDTH", "")
    .slice_out()
    .group("Events, one pulse each.")
    .output("event_fetch", 1, "A range is requested anew.")
    .output("event_join", 1, "A head joins a range in flight.")
    .output("event_retry", 1, "A range is requested again after a time-out.")
    .output("event_wait", 1, "A command waits.")
    .output("event_flit", 1, "A flit is taken into the FIFO.")
    .output("event_duplicate", 1, "A flit is dropped.")
    .compute_idle(w)
    .instances(if w.overlap { &["meshkv_reorder_fifo"] } else { &["meshkv_reorder_fifo", "meshkv_synchronizer"] })
    .build()
}

impl ModuleBuilder {
    fn command(self) -> Self {
        self.group("A command: fetch a range of a slice.")
            .input("cmd_valid", 1, "")
            .output("cmd_ready", 1, "")
            .input("cmd_tag", "TAG_WIDTH", "")
            .input("cmd_x", "X_WIDTH", "The slice's home.")
            .input("cmd_y", "Y_WIDTH", "")
            .input("cmd_mask", "MASK_WIDTH", "Heads that need it.")
            .range("cmd_")
    }
    pub(in crate::emit::rtl) fn slice_out(self) -> Self {
        self.group("Requested flits in the order of requests; in PaD's clock.")
            .output("kv_valid", 1, "")
            .input("kv_ready", 1, "")
            .output("kv_tag", "TAG_WIDTH", "Tag of the slice.")
            .output("kv_index", "INDEX_WIDTH", "Position in the slice.")
            .output("kv_mask", "MASK_WIDTH", "Heads of this tile that need it.")
            .output("kv_data", "FLIT_WIDTH", "")
    }
}
