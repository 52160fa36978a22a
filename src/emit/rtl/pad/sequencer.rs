//! The parts of PaD's sequencer: contexts of a job, loading of weights, contexts whose results are NaN.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::pad::params::PadParams;

/// Parameters that depend on the job's word.
const OF_JOBS: &[&str] = &[
    "COLS",
    "ROWS",
    "X_WIDTH",
    "Y_WIDTH",
    "MASK_WIDTH",
    "STREAM_WIDTH",
    "STREAMS_WIDTH",
    "SLICE_WIDTH",
    "HEADS",
    "ROW_STEP",
    "STREAMS_NUM",
];

pub(in crate::emit::rtl) fn job_contexts(w: &PadParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Pad,
        "meshkv_job_contexts",
        &[
            "Contexts of a job: the named query heads that this tile computes.",
            "",
            "For a slice these are only heads that attend with its KV head; for results all of them.",
        ],
    )
    .pad_params(w)
    .only(OF_JOBS)
    .coordinates()
    .group("The job.")
    .input("is_close", 1, "Results are due.")
    .input("mask", "MASK_WIDTH", "Heads, by their place in the column.")
    .input("slice", "SLICE_WIDTH", "KV head.")
    .input("stream", "STREAM_WIDTH", "First stream.")
    .input("streams", "STREAMS_WIDTH", "Number of streams.")
    .input("lag", "Y_WIDTH", "Distance to the home's row.")
    .input("mapping", 2, "Mapping of the descriptor.")
    .output("wanted", "STREAMS_NUM*HEADS", "Bit stream * HEADS + place of the head.")
    .build()
}

pub(in crate::emit::rtl) fn weight_loader(w: &PadParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Pad,
        "meshkv_weight_loader",
        &[
            "Loads the weights of a block, one context of each row after the other.",
            "",
            "A block is loaded once all its logits are complete and one of the two buffers is free. A buffer is",
            "free again when the last op of its block has left the last row.",
        ],
    )
    .pad_params(w)
    .only(&[
        "ARRAY_ROWS",
        "SLOTS",
        "SLOT_WIDTH",
        "LANE_LOG",
        "TOKEN_WIDTH",
        "BLOCK_WIDTH",
        "LOAD_CYCLES",
        "LOAD_GAP",
        "FREE_CYCLES",
        "LOAD_COUNT_WIDTH",
    ])
    .clocked()
    .group("The slice. Its tokens follow a cycle later and stay.")
    .input("starts", 1, "A slice begins.")
    .input("next_first_block", "BLOCK_WIDTH", "Block of its first token, with starts.")
    .input("places", "ARRAY_ROWS*SLOTS", "Contexts, by row and slot.")
    .input("first_block", "BLOCK_WIDTH", "Block of the first token.")
    .input("last_block", "BLOCK_WIDTH", "Block of the last token.")
    .input("first_lane", "LANE_LOG", "Place of the first token in its block.")
    .input("last_lane", "LANE_LOG", "Place of the last token in its block.")
    .input("last_token", "TOKEN_WIDTH", "The last token.")
    .group("From the array.")
    .input("k_done", 1, "The last weight of a token is in the last row's scratchpad.")
    .input("k_done_token", "TOKEN_WIDTH", "That token.")
    .input("finishes", 1, "The last op of a block enters the array.")
    .group("To the array.")
    .output("load_row", "ARRAY_ROWS", "A context of the row is loaded.")
    .output("load_slot", "ARRAY_ROWS*SLOT_WIDTH", "Slot of that context.")
    .output("load_block", "BLOCK_WIDTH", "The block.")
    .output("load_buffer", 1, "Buffer for its weights.")
    .output("load_first", "LANE_LOG", "First token of the block that counts.")
    .output("load_last", "LANE_LOG", "Last one.")
    .group("State.")
    .output("weights_ready", 1, "A block's weights are loaded.")
    .output("weights_load", 1, "Weights are being loaded.")
    .output("weights_at_rest", 1, "Nothing happens before more logits arrive.")
    .build()
}

pub(in crate::emit::rtl) fn odd_contexts(w: &PadParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Pad,
        "meshkv_odd_contexts",
        &[
            "Remembers contexts with an infinity or a NaN in their query, keys or values.",
            "",
            "All their results are NaN. The first word of a query clears what its context had of the query before, and",
            "the end of a result what it had of keys and values: queries may be kept from run to run.",
        ],
    )
    .pad_params(w)
    .only(&["FLIT_WIDTH", "HEADS", "STREAMS_NUM", "LANE_LOG", "SUB_WIDTH"])
    .clocked()
    .group("A word of a query.")
    .input("takes", 1, "A word is taken.")
    .input("q_begins", 1, "It is the first of its query.")
    .input("q_context", "STREAMS_NUM*HEADS", "Its context, one-hot.")
    .input("q_data", 64, "Its four elements.")
    .group("The flit.")
    .input("kv_data", "FLIT_WIDTH", "Its elements.")
    .input("k_issues", 1, "It passes as K.")
    .input("v_issues", 1, "It passes as V.")
    .input("counts", 1, "The token of K counts.")
    .input("sub", "SUB_WIDTH", "Number of that token in the flit.")
    .input("first", "LANE_LOG", "First token of V's block that counts.")
    .input("last", "LANE_LOG", "Last one.")
    .input("contexts", "STREAMS_NUM*HEADS", "Contexts that it meets.")
    .group("Results.")
    .input("read_ends", 1, "The last number of a context's results is read.")
    .input("read_context", "STREAMS_NUM*HEADS", "That context, one-hot, from their first number on.")
    .output("special", "STREAMS_NUM*HEADS", "Contexts whose results are NaN.")
    .build()
}
