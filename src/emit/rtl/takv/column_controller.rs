//! The controller of a column.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::bundles::PLACE;
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn column_controller(w: &TakvParams, parts: &[&ModuleSpec]) -> ModuleSpec {
    let mut b = ModuleBuilder::new(
        Block::Takv,
        "meshkv_column_controller",
        &[
            "Announces on its column's bus which slices the tiles fetch, and which ones their homes fill.",
            "",
            match w.placement.by_slice() {
                true => {
                    "Slices live in the column that fetches them, and are filled and fetched in one order there: no request"
                }
                false => {
                    "All controllers process the same slices in the same order. So homes fill and tiles fetch in one"
                }
            },
            match w.placement.by_slice() {
                true => "waits for a later one. Slices that all columns share are in one order everywhere. Homes are",
                false => "order everywhere, and no request waits for a later one. Homes are",
            },
            "computed here, once a column, and sent in every word: tiles need no placement.",
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
            "LAP",
            "ROTATION_WIDTH",
            "INDEX_COUNT_WIDTH",
            "PIECES",
            "PIECE_COUNT_WIDTH",
            "LOCAL_WIDTH",
            "REGION_NUMBER_WIDTH",
            "ROW_REGIONS",
            "BLOCKS",
            "SLICES",
            "TOKENS",
            "CHUNK_FLITS",
            "ROW_FLITS_LOG",
            "FLIT_ROWS_LOG",
            "HEAD_PLACE_WIDTH",
            "QUERY_WORD_WIDTH",
            "ASK_DEPTH",
            "FILL_DEPTH",
        ],
    )
    .param("QUEUE", 4, "Descriptors that wait.");
    if w.placement.by_slice() {
        b = b.control(w, &["AHEAD_WIDTH", "COLUMN_SLICES"]);
    }
    if w.append.is_some() {
        b = b.control(w, &["QUERY_GROUP", "TOKEN_WORDS", "TOKEN_GROUPS", "TOKEN_GROUP_WIDTH"]);
    }
    if w.swaps() {
        b = b.control(w, &["HOME_WIDTH"]);
    }
    b = b
        .clocked()
        .input("x", "X_WIDTH", "Column, tied to a constant.")
        .query("query", Dir::Input, PLACE, "")
        .input("hold", 1, "Queries wait for a bus: no descriptor begins, unless they are expected.")
        .input("loading", 1, "Queries are expected: arrays wait.")
        .descriptor(w.append.is_some())
        .output("idle", 1, "All descriptors are done.");
    if w.swaps() {
        b = b
            .group("Swap of homes, between two steps.")
            .input("ready", 1, "All homes have places.")
            .output("arrived", 1, "The step is over; the controller waits.")
            .input("go", 1, "The next step may begin.")
            .input("map_valid", 1, "A home is assigned a place.")
            .input("map_home", "HOME_WIDTH", "The logical home, {y, x}.")
            .input("map_place", "HOME_WIDTH", "Its place, {y, x}.");
    }
    if w.append.is_some() {
        b = b.new_tokens(Dir::Input).more_tokens(Dir::Input);
    }
    let mut parts = vec!["meshkv_fifo", "meshkv_placement", "meshkv_close_rows", "meshkv_slices_said"];
    if w.append.is_some() {
        parts.push("meshkv_token_words");
    }
    b.group("To the bus.")
        .output("bus_valid", 1, "One pulse a word, which has a credit.")
        .output("bus_data", "BUS_WIDTH", "The word.")
        .input("bus_credit", 1, "One pulse a word that left the stop.")
        .instances(&parts)
        .build()
}
