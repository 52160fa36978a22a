//! The filler of the staging memory.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn filler(w: &TakvParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Takv, "meshkv_filler",
        &[
            "Fills the staging memory with the slices of which this tile is the home, in the order of their",
            "requests.",
            "",
            "Each slice takes a free slot and is read by bursts with different IDs, so that answers may arrive",
            "in any order. It is published when complete. After an error, which is reported, the slice is",
            "published all the same, so that no tile waits forever.",
        ],
    )
    .control(w, &["TAG_WIDTH", "INDEX_WIDTH", "FLIT_WIDTH", "EXPECTED_WIDTH", "NUMBER_WIDTH", "ID_WIDTH", "LEN_WIDTH"])
    .control(w, &["CREDIT_WIDTH", "HALF_FLITS", "HEAD_DIM", "SLICE_FLITS", "BURST_FLITS"])
    .staging_slots("SLOTS", &w.tile)
    .control(w, &["SLOT_WIDTH", "ADDR_WIDTH", "TIMEOUT_WIDTH"])
    .param("CREDITS", 4, "Bursts that may wait in the memory port.")
    .param("DEPTH", 16, "Slices that can wait.")
    .clocked()
    .group("A slice to be filled.")
    .input("s_valid", 1, "")
    .output("s_ready", 1, "")
    .input("s_tag", "TAG_WIDTH", "Which.")
    .input("s_first", "INDEX_WIDTH", "First flit of K that will be requested; likewise of V.")
    .input("s_last", "INDEX_WIDTH", "Last flit of K that will be requested; likewise of V.")
    .input("s_expected", "EXPECTED_WIDTH", "Number of tiles that will request it.")
    .input("s_number", "NUMBER_WIDTH", "Its number in external memory.")
    .request()
    .response()
    .filling()
    .freed(Dir::Input)
    .errors("1")
    .group("Events, one pulse each.")
    .output("event_fill", 1, "A flit is written.")
    .output("event_slice", 1, "A slice is published.")
    .output("event_wait", 1, "A slice waits for a free slot.")
    .instances(&["meshkv_fifo"])
    .build()
}
