//! The prefetcher of a tile.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn prefetcher(w: &TakvParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Takv,
        "meshkv_prefetcher",
        &[
            "Fetches the slices that the column controller names, chunk by chunk, K then V.",
            "",
            "The other chunks of a slice are requested only when its first one begins to arrive: from then",
            "on the slice is in its home's memory. So at most one fetch of a tile must wait there.",
        ],
    )
    .control(
        w,
        &["X_WIDTH", "Y_WIDTH", "TAG_WIDTH", "INDEX_WIDTH", "MASK_WIDTH", "STREAM_WIDTH", "STREAMS_WIDTH"],
    )
    .control(w, &["ROW_WIDTH", "CHUNK_FLITS", "HALF_FLITS", "HEAD_DIM"])
    .param("DEPTH", 16, "Slices that can wait.")
    .clocked()
    .group("A slice to fetch, or a close: PaD must send its results.")
    .input("s_valid", 1, "")
    .output("s_ready", 1, "")
    .input("s_close", 1, "Nothing is fetched: results are due.")
    .input("s_tag", "TAG_WIDTH", "The slice.")
    .input("s_x", "X_WIDTH", "Its home.")
    .input("s_y", "Y_WIDTH", "")
    .input("s_mask", "MASK_WIDTH", "Heads of this tile that need it.")
    .input("s_first", "INDEX_WIDTH", "First flit of K; starts a chunk; likewise of V.")
    .input("s_last", "INDEX_WIDTH", "Last flit of K; likewise of V.")
    .input("s_stream", "STREAM_WIDTH", "First stream that attends.")
    .input("s_streams", "STREAMS_WIDTH", "Number of these streams.")
    .input("s_first_row", "ROW_WIDTH", "First attended token.")
    .input("s_last_row", "ROW_WIDTH", "Last attended token.")
    .input("s_mapping", 2, "Mapping of heads to tiles.")
    .input("s_lag", "Y_WIDTH", "Rows north from the home to this tile, modulo ROWS.")
    .job()
    .group("A command: fetch a range of a slice.")
    .output("cmd_valid", 1, "")
    .input("cmd_ready", 1, "")
    .output("cmd_tag", "TAG_WIDTH", "The slice.")
    .output("cmd_x", "X_WIDTH", "Its home.")
    .output("cmd_y", "Y_WIDTH", "")
    .output("cmd_mask", "MASK_WIDTH", "Heads that need it.")
    .output("cmd_first", "INDEX_WIDTH", "First flit of the range.")
    .output("cmd_last", "INDEX_WIDTH", "Last flit of the range.")
    .output("cmd_patient", 1, "The first of its slice, which may be missing for long.")
    .input("tag_busy", 1, "Some of the slice that the command had in the cycle before is in flight.")
    .input("came_valid", 1, "An awaited flit has arrived.")
    .input("came_tag", "TAG_WIDTH", "Tag of its slice.")
    .instances(&["meshkv_fifo"])
    .build()
}
