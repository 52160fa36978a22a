//! The controller of a column.

use crate::design::PlacementKind;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::bundles::PLACE;
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn column_controller(w: &TakvParams, parts: &[&ModuleSpec]) -> ModuleSpec {
    let mut b = ModuleBuilder::new(
        Block::Takv,
        "meshkv_column_controller",
        &[
            "Says on the bus of its column which slices its tiles fetch, and which they are home to.",
            "",
            "All controllers go through the same slices in the same order; what a home fills and what tiles",
            "fetch is therefore in one order everywhere, and nobody waits for what comes later. Homes are",
            "found here, once a column, and are carried in every word: tiles need no placement.",
        ],
    )
    .control(w, &["COLS", "ROWS", "X_WIDTH", "Y_WIDTH"])
    .params_of(parts, &["WIDTH", "DEPTH", "NUMBER_WIDTH", "MODULUS", "RESIDUE_WIDTH"])
    .control(
        w,
        &[
            "PLACE_WIDTH",
            "STREAM_WIDTH",
            "STREAMS_WIDTH",
            "SLICE_WIDTH",
            "COUNT_WIDTH",
            "ROW_WIDTH",
            "INDEX_WIDTH",
            "MASK_WIDTH",
            "EXPECTED_WIDTH",
            "NUMBER_WIDTH",
            "BUS_WIDTH",
            "BUS_DEPTH",
            "ROTATION",
            "ROTATION_WIDTH",
            "INDEX_COUNT_WIDTH",
            "PIECES",
            "PIECE_COUNT_WIDTH",
            "BLOCKS",
            "SLICES",
            "TOKENS",
            "CHUNK_FLITS",
            "ROW_FLITS_LOG",
            "FLIT_ROWS_LOG",
            "HEAD_PLACE_WIDTH",
            "QUERY_WORD_WIDTH",
        ],
    )
    .param("QUEUE", 4, "Descriptors that wait.");
    if w.swaps() {
        b = b.control(w, &["HOME_WIDTH"]);
    }
    if w.placement.kind != PlacementKind::Hub {
        b = b.control(w, &["STREAMS"]);
    }
    b = b
        .clocked()
        .input("x", "X_WIDTH", "Column, tied to a constant.")
        .query("query", Dir::Input, PLACE, "")
        .descriptor()
        .output("idle", 1, "All descriptors have been worked off.");
    if w.swaps() {
        b = b
            .group("Homes that swap, between two steps.")
            .input("ready", 1, "Every home has a place.")
            .output("arrived", 1, "The step is over; it waits.")
            .input("go", 1, "The next step may begin.")
            .input("map_valid", 1, "A home gets a place.")
            .input("map_home", "HOME_WIDTH", "The logical home, {y, x}.")
            .input("map_place", "HOME_WIDTH", "Where it is, {y, x}.");
    }
    b.group("To the bus.")
        .output("bus_valid", 1, "One pulse a word; there is a credit for it.")
        .output("bus_data", "BUS_WIDTH", "The word.")
        .input("bus_credit", 1, "One pulse a word that has left the stop.")
        .instances(&["meshkv_fifo", "meshkv_placement"])
        .build()
}
