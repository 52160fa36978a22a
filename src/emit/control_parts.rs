//! The modules that say what is fetched: placement, column controller, bus, prefetcher, and the swap of
//! homes. Their bodies are templates; `docs/takv.md` has the reasons.

use super::block::Block;
use super::control_widths::ControlWidths;
use super::module::{Dir, ModuleBuilder, ModuleSpec};
use crate::design::PlacementKind;

/// A query head by its place in its column: width and text.
pub(super) const PLACE: (&str, &str) = ("HEAD_PLACE_WIDTH", "Query head, by its place in the column.");
/// A query head of all: width and text.
pub(super) const HEAD: (&str, &str) = ("HEAD_ID_WIDTH", "Query head.");

pub(super) fn residue() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Takv,
        "meshkv_residue",
        &["Quotient and residue of a number by a constant, without a divider: digits run through a residue."],
    )
    .param("WIDTH", 16, "Width of the number in bits.")
    .param("MODULUS", 8, "What it is divided by, 2 to 16.")
    .param("RESIDUE_WIDTH", 3, "Width of the residue in bits.")
    .input("number", "WIDTH", "What is divided.")
    .output("residue", "RESIDUE_WIDTH", "What is left over.")
    .output("quotient", "WIDTH", "How often MODULUS goes in.")
    .build()
}

pub(super) fn placement(w: &ControlWidths) -> ModuleSpec {
    let mut b = ModuleBuilder::new(
        Block::Takv,
        "meshkv_placement",
        &[
            "Where a macro-block has its home, and which of its home's blocks it is.",
            "",
            "Two cycles from layer and segment to home and block, one look-up a cycle.",
        ],
    )
    .control(w, &["X_WIDTH", "Y_WIDTH", "LAYER_WIDTH", "SEGMENT_WIDTH"]);
    b = match w.placement.kind {
        PlacementKind::Takv => b.control(w, &["COLS", "ROWS", "STRIDE", "COLUMN_STRIDE", "ROUNDS"]),
        PlacementKind::RoundRobin => b.control(w, &["COLS", "ROWS", "SEGMENTS"]),
        PlacementKind::Hub => b.control(w, &["SEGMENTS", "HUB_X", "HUB_Y"]),
    };
    let parts: &[&str] = if w.placement.kind == PlacementKind::Hub { &[] } else { &["meshkv_residue"] };
    b.param("NUMBER_WIDTH", w.place(), "Width of the largest number that is divided.")
        .control(w, &["BLOCK_WIDTH"])
        .input("clk", 1, "")
        .input("en", 1, "Both stages move on.")
        .input("layer", "LAYER_WIDTH", "Layer l.")
        .input("segment", "SEGMENT_WIDTH", "Segment s of the layer.")
        .group("Two enabled cycles later.")
        .output("x", "X_WIDTH", "Column of the home.")
        .output("y", "Y_WIDTH", "Row of the home.")
        .output("block", "BLOCK_WIDTH", "Number of the block among those of its home.")
        .instances(parts)
        .build()
}

impl ModuleBuilder {
    pub(super) fn descriptor(self) -> Self {
        self.group("A descriptor: segments of a layer that some streams attend to.")
            .input("desc_valid", 1, "")
            .output("desc_ready", 1, "")
            .input(
                "desc_prefix",
                "STREAM_WIDTH",
                "Stream or common prefix whose cache it is: the tag's stream.",
            )
            .input("desc_layer", "LAYER_WIDTH", "Layer l.")
            .input("desc_first", "SEGMENT_WIDTH", "First segment.")
            .input("desc_stride", "SEGMENT_WIDTH", "Segments from one to the next.")
            .input("desc_count", "COUNT_WIDTH", "Number of segments, at least 1.")
            .input("desc_first_row", "ROW_WIDTH", "First token wanted of the first segment.")
            .input("desc_last_row", "ROW_WIDTH", "Last token wanted of the last segment.")
            .input("desc_stream", "STREAM_WIDTH", "First of the streams that attend.")
            .input("desc_streams", "STREAMS_WIDTH", "How many of them, at least 1.")
            .input(
                "desc_mapping",
                2,
                "0: a tile a head, 1: the row of the home, 2: streams striped over the rows.",
            )
            .input("desc_share", 1, "All heads get all slices, not only those of their KV head.")
            .input("desc_close", 1, "The last of these streams in this layer: partial results are due.")
            .input("desc_step", 1, "The last of the decode step.")
    }
    /// What the compute of a tile is told.
    fn job(self) -> Self {
        self.group("What comes next, for the compute; in order.")
            .output("job_valid", 1, "")
            .input("job_ready", 1, "")
            .output("job_close", 1, "Nothing more for these streams in this layer: partial results are due.")
            .output("job_tag", "TAG_WIDTH", "The slice.")
            .output("job_mask", "MASK_WIDTH", "Heads of this tile that attend to it.")
            .output("job_stream", "STREAM_WIDTH", "First of the streams that attend.")
            .output("job_streams", "STREAMS_WIDTH", "How many of them.")
            .output("job_first_row", "ROW_WIDTH", "First token wanted.")
            .output("job_last_row", "ROW_WIDTH", "Last token wanted.")
            .output("job_mapping", 2, "Which tile computes a head, as in the descriptor.")
            .output("job_lag", "Y_WIDTH", "Rows from the slice's home to this tile, round the column.")
    }
    /// Four elements of a query, `name`d so, out of a tile or in from outside.
    pub(super) fn query(self, name: &str, dir: Dir, head: (&str, &'static str), times: &str) -> Self {
        let back = if dir == Dir::Output { Dir::Input } else { Dir::Output };
        let port = |field: &str| format!("{name}_{field}");
        let w = |width: &str| format!("{times}{width}").replace("*1", "");
        self.group("Four elements of a query, before the descriptors that need them.")
            .port(dir, port("valid"), w("1").as_str(), "")
            .port(back, port("ready"), w("1").as_str(), "")
            .port(dir, port("stream"), w("STREAM_WIDTH").as_str(), "Stream.")
            .port(dir, port("head"), w(head.0).as_str(), head.1)
            .port(dir, port("word"), w("QUERY_WORD_WIDTH").as_str(), "Which four of the elements.")
            .port(dir, port("data"), w("64").as_str(), "FP16, the first in the lowest bits.")
    }
}

pub(super) fn column_controller(w: &ControlWidths, parts: &[&ModuleSpec]) -> ModuleSpec {
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

pub(super) fn bus_stop(w: &ControlWidths) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Takv,
        "meshkv_bus_stop",
        &[
            "A stop of the column bus: the tile hears every word, and the stop to the north is sent it.",
            "",
            "One register a hop. A credit stands for a word that the next stop has room for.",
        ],
    )
    .control(w, &["ROWS", "Y_WIDTH"])
    .param("WIDTH", w.bus.word, "Width of a word in bits.")
    .param("DEPTH", 4, "Words that a stop holds.")
    .clocked()
    .input("y", "Y_WIDTH", "Row of this stop, tied to a constant.")
    .group("From the south.")
    .input("rx_s_bus_valid", 1, "One pulse a word.")
    .input("rx_s_bus_data", "WIDTH", "The word.")
    .output("rx_s_bus_credit", 1, "One pulse a word that has left.")
    .group("To the north.")
    .output("tx_n_bus_valid", 1, "One pulse a word.")
    .output("tx_n_bus_data", "WIDTH", "The word.")
    .input("tx_n_bus_credit", 1, "One pulse a word that has left the next stop.")
    .group("To the tile.")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_data", "WIDTH", "The word.")
    .instances(&["meshkv_fifo"])
    .build()
}

pub(super) fn prefetcher(w: &ControlWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Takv, "meshkv_prefetcher",
        &[
            "Fetches the slices that the column controller names, chunk by chunk, K then V.",
            "",
            "After the first chunk of a slice the others are asked for only when it begins to come: from then",
            "on all of it is in its home's memory. So a tile never has more than one fetch that must wait there.",
        ],
    )
    .control(w, &["X_WIDTH", "Y_WIDTH", "TAG_WIDTH", "INDEX_WIDTH", "MASK_WIDTH", "STREAM_WIDTH", "STREAMS_WIDTH"])
    .control(w, &["ROW_WIDTH", "CHUNK_FLITS", "HALF_FLITS", "HEAD_DIM"])
    .param("DEPTH", 16, "Slices that can wait.")
    .clocked()
    .group("What to fetch, or that the compute shall send its results.")
    .input("s_valid", 1, "")
    .output("s_ready", 1, "")
    .input("s_close", 1, "Nothing is fetched: results are due.")
    .input("s_tag", "TAG_WIDTH", "The slice.")
    .input("s_x", "X_WIDTH", "Its home.")
    .input("s_y", "Y_WIDTH", "")
    .input("s_mask", "MASK_WIDTH", "Heads of this tile that want it.")
    .input("s_first", "INDEX_WIDTH", "First flit of K; begins a chunk. Of V likewise.")
    .input("s_last", "INDEX_WIDTH", "Last flit of K. Of V likewise.")
    .input("s_stream", "STREAM_WIDTH", "First of the streams that attend.")
    .input("s_streams", "STREAMS_WIDTH", "How many of them.")
    .input("s_first_row", "ROW_WIDTH", "First token wanted.")
    .input("s_last_row", "ROW_WIDTH", "Last token wanted.")
    .input("s_mapping", 2, "Which tile computes a head.")
    .input("s_lag", "Y_WIDTH", "Rows from the home to this tile, round the column.")
    .job()
    .group("A command: fetch a range of a slice.")
    .output("cmd_valid", 1, "")
    .input("cmd_ready", 1, "")
    .output("cmd_tag", "TAG_WIDTH", "The slice.")
    .output("cmd_x", "X_WIDTH", "Its home.")
    .output("cmd_y", "Y_WIDTH", "")
    .output("cmd_mask", "MASK_WIDTH", "Heads that want it.")
    .output("cmd_first", "INDEX_WIDTH", "First flit of the range.")
    .output("cmd_last", "INDEX_WIDTH", "Last flit of the range.")
    .output("cmd_patient", 1, "The first of its slice, which may be missing for long.")
    .input("tag_busy", 1, "Some of the command's slice is on its way.")
    .input("came_valid", 1, "A flit that was awaited has come.")
    .input("came_tag", "TAG_WIDTH", "Of which slice.")
    .instances(&["meshkv_fifo"])
    .build()
}

pub(super) fn occupancy(w: &ControlWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Takv, "meshkv_occupancy",
        &[
            "How full the buffer is that a home sends into: slots times cycles of a step, as a moving average.",
            "",
            "When a step is over the average is sent southwards, and those of the rows beyond are passed on.",
        ],
    )
    .control(w, &["VALUE_WIDTH"])
    .param("COUNT_WIDTH", w.used(), "Width of a number of slots in bits.")
    .clocked()
    .input("sample", 1, "One pulse: the step is over.")
    .group("The credits of the buffer.")
    .input("send", 1, "A flit goes there.")
    .input("credit", 1, "A slot is free again.")
    .group("From the north.")
    .input("rx_n_occupancy_valid", 1, "One pulse a value.")
    .input("rx_n_occupancy_data", "VALUE_WIDTH", "An occupancy, the nearest row's first.")
    .group("To the south.")
    .output("tx_s_occupancy_valid", 1, "One pulse a value.")
    .output("tx_s_occupancy_data", "VALUE_WIDTH", "An occupancy, this row's first.")
    .build()
}

pub(super) fn swap_unit(w: &ControlWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Takv, "meshkv_swap_unit",
        &[
            "Lets two homes exchange their places, between two decode steps.",
            "",
            "What a home sends leaves along its row, so occupancies are added up by row. The heaviest home of the",
            "heaviest row changes with the lightest of the lightest row if that, and only if it, lowers the sum of",
            "squares over the rows. A place takes as many macro-blocks as any other, so none gets too many.",
        ],
    )
    .control(w, &["COLS", "ROWS", "X_WIDTH", "Y_WIDTH", "HOME_WIDTH", "VALUE_WIDTH", "EPOCH", "EPOCH_WIDTH"])
    .clocked()
    .group("From the columns.")
    .input("arrived", "COLS", "The step is over there.")
    .input("occupancy_valid_in", "COLS", "One pulse a value.")
    .input("occupancy_data_in", "COLS*VALUE_WIDTH", "An occupancy, row 0 first.")
    .group("To the columns.")
    .output("ready", 1, "Every home has a place.")
    .output("go", 1, "One pulse: the next step may begin.")
    .output("map_valid", 1, "A home gets a place.")
    .output("map_home", "HOME_WIDTH", "The logical home, {y, x}.")
    .output("map_place", "HOME_WIDTH", "Where it is, {y, x}.")
    .swap_report()
    .build()
}

impl ModuleBuilder {
    pub(super) fn swap_report(self) -> Self {
        self.group("What is seen and done.")
            .output("occupancy_valid", 1, "After each step, one tile a cycle.")
            .output("occupancy_tile", "HOME_WIDTH", "{y, x}.")
            .output("occupancy_value", "VALUE_WIDTH", "Slots times cycles of a step, averaged.")
            .output("swap_valid", 1, "One pulse: two homes exchange their places.")
            .output("swap_a", "HOME_WIDTH", "Where the one was, {y, x}.")
            .output("swap_b", "HOME_WIDTH", "Where the other was, {y, x}.")
    }
}
