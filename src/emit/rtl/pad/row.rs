//! The array of a tile and its rows.

use crate::design::{Array, Design};
use crate::emit::rtl::block::Block;
use crate::emit::rtl::common::delay::delay;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::pad::dot::{align, dot, dsp, preadd_dsp, query_lanes};
use crate::emit::rtl::pad::row_params::PadRowParams;

fn row_of(w: &PadRowParams) -> ModuleSpec {
    let b = ModuleBuilder::new(Block::Pad, "meshkv_pad_row",
        &[
            "Row of the systolic array: multiplies a flit by the stationary vector of one context a cycle.",
            "",
            "K flits times the query give weights, V flits times the weights give sums. A row stores slots of",
            "contexts; ops of any slot may follow each other, and pass to the next row a cycle later.",
        ],
    )
    .row_params(w)
    .dot_cycles(w)
    .clocked()
    .group("Four numbers of a query.")
    .input("w_valid", 1, "")
    .input("w_slot", "PAD_SLOT_WIDTH", "")
    .input("w_word", "WORD_WIDTH", "Numbers 4 * w_word to 4 * w_word + 3.")
    .input("w_lanes", 72, "Each {small scale, signed number of 17 bits}.")
    .input("w_exponent", 6, "Exponent of its part.")
    .group("An op.")
    .pad_op("op_", Dir::Input);
    b.group("The same a cycle later, to the next row.")
        .pad_op("next_", Dir::Output)
        .pad_load("")
        .group("The weight of a K op with tail is in the scratchpad.")
        .output("k_done", 1, "")
        .output("k_done_token", "TOKEN_WIDTH", "")
        .pad_sums("")
        .instances(&["meshkv_delay", "meshkv_dot", "meshkv_sums", "meshkv_weight", "meshkv_scratchpad"])
        .build()
}

fn array_of(w: &PadRowParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Pad, "meshkv_pad_array",
        &[
            "The systolic array of a tile: flits are aligned once, and pass row after row.",
            "",
            "Nothing can stall, so the driver keeps these distances: words of a query in order, and none while weights are",
            "loaded; an op of a slot's part FRESH_CYCLES after its last word; a word of a slot only after k_done of its",
            "last K op; a load of a block only after k_done of its last token, FREE_CYCLES after the last op of the",
            "buffer, and as many cycles after another load as there are lanes; the first op of that buffer LOAD_CYCLES after",
            "the load; no load of a slot from its first READ to the answer of its last; ops of the same sum 8 cycles apart.",
        ],
    )
    .array_rows(w)
    .pad_flit_width(w)
    .row_params(w)
    .part_words(w)
    .dot_cycles(w)
    .param("ALIGN_CYCLES", Array::align_cycles(w.lanes), "Cycles from an op to the first row.")
    .clocked()
    .pad_query()
    .group("An op. All but context and valid bit is the same for every row.")
    .input("op_valid", "ARRAY_ROWS", "Rows that have a context for it. One op a cycle; none can stall.")
    .input("op_slot", "ARRAY_ROWS*PAD_SLOT_WIDTH", "Slot of each row's context.")
    .pad_op_fields("op_", Dir::Input)
    .input("op_first", "LANE_WIDTH", "K, V: first lane that counts.")
    .input("op_last", "LANE_WIDTH", "K, V: last lane that counts.")
    .input("op_data", "FLIT_WIDTH", "K, V: the flit.")
    .pad_load("ARRAY_ROWS*")
    .group("The weight of a K op with tail is in the scratchpads of all rows.")
    .output("k_done", 1, "")
    .output("k_done_token", "TOKEN_WIDTH", "")
    .pad_sums("ARRAY_ROWS*")
    .instances(&["meshkv_delay", "meshkv_align", "meshkv_query_lanes", "meshkv_pad_row"])
    .build()
}

pub(in crate::emit::rtl) fn sums(w: &PadRowParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Pad,
        "meshkv_sums",
        &[
            "Fixed-point sums: aligns dots and adds them to the sums of a slot, or to the logit of a token.",
            "",
            "One shifter and one adder serve both. A sum is shifted down by the rise of m when it is next",
            "updated; READ returns it unshifted. A sum may be used again 8 cycles later, a logit at once.",
        ],
    )
    .head_dim(w)
    .pad_slots(w)
    .dim_width(w)
    .sum_width(w)
    .logit_width(w)
    .token_parts(w)
    .dot_width(w)
    .clocked()
    .group("An op, a cycle before its dot.")
    .input("valid", 1, "")
    .input("kind", 2, "")
    .input("slot", "PAD_SLOT_WIDTH", "")
    .input("begins", 1, "")
    .input("ends", 1, "")
    .input("dim", "DIM_WIDTH", "")
    .input("fall", 8, "Bits 6:0: right shift of its sum. Bit 7: there is no sum yet.")
    .group("The dot.")
    .input("dot", "DOT_WIDTH", "")
    .input("exponent", 6, "")
    .group("Presence of m of a slot: without m it has no sums.")
    .output("max_slot", "PAD_SLOT_WIDTH", "")
    .input("max_some", 1, "")
    .group("The sums read.")
    .output("read_valid", 1, "")
    .output("read_data", "SUM_WIDTH", "")
    .output(
        "read_next",
        "SUM_WIDTH",
        "That of the next dim, if dim is even; l again if it is l; 0 without a READ. Three cycles later.",
    )
    .group("The logit of a token.")
    .output("logit_valid", 1, "")
    .output("logit", "LOGIT_WIDTH", "")
    .build()
}

pub(in crate::emit::rtl) fn weight(w: &PadRowParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Pad,
        "meshkv_weight",
        &[
            "Weight of a logit: scales it, splits it, and raises 2 to its fraction, in 12 cycles.",
            "",
            "It does not need m, which only affects exponents.",
        ],
    )
    .logit_width(w)
    .pad_scale(w)
    .input("clk", 1, "")
    .input("logit", "LOGIT_WIDTH", "Signed, 20 bits below the point.")
    .output("exponent", 31, "Signed.")
    .output("significand", 16, "Fraction bits; the leading 1 is implicit.")
    .output("saturates", 1, "The logit is beyond the range, so the weight is not its own.")
    .instances(&["meshkv_delay", "meshkv_dsp"])
    .build()
}

pub(in crate::emit::rtl) fn scratchpad(w: &PadRowParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Pad, "meshkv_scratchpad",
        &[
            "Stores the weights of a segment's tokens for each slot, updates m, and loads a block into the lanes.",
            "",
            "The largest weight of a block is known when its last token has arrived. So loading starts with m and then",
            "outputs one lane a cycle, in groups of four.",
        ],
    )
    .lanes(w)
    .pad_slots(w)
    .token_width(w)
    .blocks(w)
    .clocked()
    .group("The weight of a token.")
    .input("s_valid", 1, "")
    .input("s_slot", "PAD_SLOT_WIDTH", "")
    .input("s_token", "TOKEN_WIDTH", "")
    .input("s_counts", 1, "")
    .input("s_exponent", 31, "")
    .input("s_significand", 16, "")
    .input("s_saturates", 1, "Its logit is beyond the range.")
    .pad_load("")
    .group("Four lanes of a vector.")
    .output("m_valid", 1, "")
    .output("m_slot", "PAD_SLOT_WIDTH", "")
    .output("m_buffer", 1, "")
    .output("m_groups", "GROUPS", "One-hot: the group of four.")
    .output("m_lanes", 72, "Each {small scale, number of 17 bits}.")
    .output("m_exponent", 6, "Exponent of the vector.")
    .group("Right shift of a slot's sums at a buffer.")
    .input("op_slot", "PAD_SLOT_WIDTH", "")
    .input("op_buffer", 1, "")
    .output("op_fall", 8, "")
    .group("m of a slot.")
    .input("max_slot", "PAD_SLOT_WIDTH", "")
    .output("max_some", 1, "The slot has m.")
    .output("max_data", 32, "0 if it has none.")
    .output("max_saturated", 1, "A logit of a token that counts was beyond the range.")
    .input("clear_valid", 1, "m and the flag are cleared.")
    .input("clear_slot", "PAD_SLOT_WIDTH", "")
    .instances(&["meshkv_delay"])
    .build()
}

/// The array of a tile and the modules that it instantiates, the array last, with room for `slots` contexts in each row.
pub fn array_modules(design: &Design, slots: u32) -> Vec<ModuleSpec> {
    let w = PadRowParams::of(design, slots);
    let parts =
        [align(&w), query_lanes(&w), dot(&w), sums(&w), weight(&w), scratchpad(&w), row_of(&w), array_of(&w)];
    [delay(), dsp(), preadd_dsp()].into_iter().chain(parts).collect()
}
