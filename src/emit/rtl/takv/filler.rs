//! The filler of the staging memory.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn filler(w: &TakvParams) -> ModuleSpec {
    let mut b = ModuleBuilder::new(Block::Takv, "meshkv_filler",
        &[
            "Fills the staging memory with the slices of which this tile is the home, in the order of their",
            "requests.",
            "",
            "Each slice takes a free slot and is read by bursts with different IDs, so that answers may arrive",
            "in any order. It is published with its first flit, one with a new token when it has that. The home",
            "reads no burst that is not whole. After a time-out, which is reported, all slices are published and",
            "complete as they are, so that no tile waits forever.",
        ],
    )
    .control(w, &["TAG_WIDTH", "INDEX_WIDTH", "FLIT_WIDTH", "EXPECTED_WIDTH", "NUMBER_WIDTH", "ID_WIDTH", "LEN_WIDTH"])
    .control(w, &["CREDIT_WIDTH", "HALF_FLITS", "HEAD_DIM", "SLICE_FLITS", "BURST_FLITS"])
    .staging_slots("SLOTS", &w.tile)
    .control(w, &["SLOT_WIDTH", "ADDR_WIDTH", "TIMEOUT_WIDTH"])
    .control(w, if w.append.is_some() { &["ROW_FLITS_LOG"] } else { &[] })
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
    .input("s_number", "NUMBER_WIDTH", "Its number in external memory.");
    if w.append.is_some() {
        b = b
            .input("s_append", 1, "Its last token is new.")
            .group("The new token of a slice that is filled.")
            .output("token_wanted", 1, "What its next part goes over is here.")
            .output("token_drop", 1, "The token is not needed.")
            .input("next_value", 1, "That part is an element of V, not a word of K.")
            .input("next_number", "INDEX_WIDTH", "Its number.")
            .input("token_done", 1, "One pulse: its last part follows in the next cycle.")
            .input("piece_valid", 1, "A part of it is written.")
            .input("piece_value", 1, "An element of V, not a word of K.")
            .input("piece_number", "INDEX_WIDTH", "Its number.")
            .patching(Dir::Output);
    }
    b.request()
        .response()
        .filling()
        .freed(Dir::Input)
        .errors("1")
        .group("Events, one pulse each.")
        .output("event_fill", 1, "A flit is written.")
        .output("event_slice", 1, "A slice is complete.")
        .output("event_wait", 1, "A slice waits for a free slot.")
        .instances(&["meshkv_fifo"])
        .build()
}
