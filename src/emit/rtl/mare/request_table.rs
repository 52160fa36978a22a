//! The requests in progress at a home.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::mare::params::MareParams;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn request_table(w: &MareParams) -> ModuleSpec {
    let mut b = ModuleBuilder::new(Block::Mare, "meshkv_request_table",
        &[
            "Table of a home's requests: coalesces fetches and schedules chunks.",
            "",
            "The first fetch for a range opens a request. Fetches for the same range and generation that arrive",
            "while its window is open join it: destinations and head masks are merged. The window lasts",
            "its minimum time and then until the home is free. Then the tree is built and the chunks leave,",
            "requests in rotation, a repeated request after those that it repeats. All requested slices are resident.",
            "A fetch waits while the table is full.",
        ],
    )
    .tiles(w)
    .key_width(w)
    .index_width(w)
    .mask_width(w)
    .chunk_flits(w)
    .slot_width(w)
    .request_entries("ENTRIES", w);
    if w.mare.coalesce_window > 0 || w.mare.dedup {
        b = b.tag_width(w);
    }
    if w.mare.coalesce_window + w.mare.tree_cycles > 0 {
        b = b
            .param("TOTAL", w.mare.coalesce_window + w.mare.tree_cycles, "Cycles of window and tree.")
            .param("TREE", w.mare.tree_cycles, "Cycles to build a tree, but for those of a look-up.")
            .param("CLOSING", w.mare.tree_cycles + 1, "TREE + 1: the last cycle of a window.")
            .param("COUNT_WIDTH", w.count(), "Width of their counter in bits.");
    }
    b.clocked()
        .group("A fetch.")
        .input("s_valid", 1, "")
        .output("s_ready", 1, "It is compared; the one before it is placed.")
        .input("s_key", "KEY_WIDTH", "")
        .range("s_")
        .input("s_again", 1, "The tile has requested it before and does not have it yet.")
        .input("s_tile", "TILES", "One-hot: the requester.")
        .input("s_mask", "MASK_WIDTH", "Heads that wait for it.")
        .input("s_slot", "SLOT_WIDTH", "Slot of the slice.")
        .output("placing", 1, "There is one before it.")
        .scan()
        .group("One chunk that is due.")
        .output("m_valid", 1, "")
        .input("m_ready", 1, "")
        .output("m_key", "KEY_WIDTH", "")
        .output("m_first", "INDEX_WIDTH", "First flit of the chunk.")
        .output("m_last", "INDEX_WIDTH", "Its last flit.")
        .output("m_slot", "SLOT_WIDTH", "")
        .output("m_dest", "TILES", "Tiles that requested it.")
        .output("m_mask", "MASK_WIDTH", "Heads of all of them.")
        .output("m_again", 1, "One of them has requested it before.")
        .table_events()
        .build()
}
