//! The staging memory of a home, and its directory.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::mare::params::MareParams;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn staging_memory(w: &MareParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_staging_memory",
        match w.append {
            true => &[
                "Staging memory of a tile: one port writes while the other reads, or writes parts of a flit.",
            ],
            false => &["Staging memory of a tile: one port writes while the other reads."],
        },
    )
    .staging_depth("DEPTH", w)
    .addr_width(w)
    .flit_width(&w.net)
    .input("clk", 1, "")
    .input("wr_en", 1, "")
    .input("wr_addr", "ADDR_WIDTH", "")
    .input("wr_data", "FLIT_WIDTH", "")
    .input("rd_en", 1, "Both stages of the read advance.")
    .input("rd_valid", 1, "The read is valid; never of the address written in the same cycle.")
    .input("rd_addr", "ADDR_WIDTH", "")
    .output("rd_data", "FLIT_WIDTH", "Data of the address two enabled cycles earlier.")
    .patch(w)
    .build()
}

pub(in crate::emit::rtl) fn staging_directory(w: &MareParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_staging_directory",
        &[
            "Directory of the slices in the staging memory: their slots, and when they are served.",
            "",
            "A slot is freed when its slice is complete, all expected tiles have requested the last flit and",
            "nothing of it remains to be sent. A slice without expected tiles stays.",
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
    .group("A fetch is looked up.")
    .input("tag", "TAG_WIDTH", "Its slice.")
    .input("asked_flit", "INDEX_WIDTH", "The last flit that it asks for.")
    .group("The answer, in the next cycle.")
    .input("checked", 1, "A fetch was looked up.")
    .input("again", 1, "The tile has requested it before.")
    .output("resident", 1, "Its slice is in the staging memory and not about to be freed.")
    .output("slot", "SLOT_WIDTH", "Its slot.")
    .group("Fetches on their way from the look-up to the request table.")
    .output("drain_start", 1, "A slot is closed: all that are there after this cycle may have found it.")
    .input("drain_busy", 1, "Some of these still are.")
    .group("Use of a slot.")
    .output("scan", "SLOT_WIDTH", "The queried slot.")
    .input("scan_busy", 1, "Some of it must still be sent.")
    .freed(Dir::Output)
    .build()
}
