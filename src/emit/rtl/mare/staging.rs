//! The staging memory of a home, and its directory.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::mare::params::MareParams;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn staging_memory(w: &MareParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_staging_memory",
        &["Staging memory of a tile: one port fills it while the other is read."],
    )
    .staging_depth("DEPTH", w)
    .addr_width(w)
    .flit_width(&w.net)
    .input("clk", 1, "")
    .input("wr_en", 1, "")
    .input("wr_addr", "ADDR_WIDTH", "")
    .input("wr_data", "FLIT_WIDTH", "")
    .input("rd_en", 1, "Both stages of the read move on.")
    .input("rd_valid", 1, "There is something to read; never what is written in the same cycle.")
    .input("rd_addr", "ADDR_WIDTH", "")
    .output("rd_data", "FLIT_WIDTH", "What was asked for two enabled cycles before.")
    .build()
}

pub(in crate::emit::rtl) fn staging_directory(w: &MareParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_staging_directory",
        &[
            "Which slices the staging memory holds, where, and when they have been served.",
            "",
            "A slot is freed when as many tiles as were expected have asked for its last flit and nothing of",
            "it is left to be sent. A slice that nobody is expected for stays.",
        ],
    )
    .tag_width(w)
    .index_width(w)
    .expected_width(w)
    .staging_slots("SLOTS", w)
    .slot_width(w)
    .clocked()
    .claim()
    .publish()
    .group("Look-up, in the same cycle.")
    .input("tag", "TAG_WIDTH", "The slice.")
    .input("again", 1, "By a tile that has asked for it before.")
    .output("resident", 1, "It is in the staging memory, and not only what is left of being served.")
    .output("slot", "SLOT_WIDTH", "Where.")
    .input("asked_valid", 1, "What is looked up is asked for, by a tile for the first time.")
    .input("asked_flit", "INDEX_WIDTH", "Its last flit.")
    .group("Whether anything of a slot is still to be sent.")
    .output("scan", "SLOT_WIDTH", "The slot that is asked about.")
    .input("scan_busy", 1, "Something of it is still to be sent.")
    .freed(Dir::Output)
    .build()
}
