//! One row of the array.

use crate::design::Design;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::common::delay::delay;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::pad::dot::{dot, dsp, preadd_dsp};
use crate::emit::rtl::pad::row_params::PadRowParams;

pub(in crate::emit::rtl) fn row_of(w: &PadRowParams) -> ModuleSpec {
    let b = ModuleBuilder::new(Block::Pad, "meshkv_pad_row",
        &[
            "Row of the systolic array: multiplies a flit by the stationary vector of one context a cycle.",
            "",
            "K flits times the query give weights, V flits times the weights give sums. A row stores slots of",
            "contexts; ops of any slot may follow each other, and pass to the next row a cycle later. Nothing",
            "can stall, so the driver keeps these distances: an op of a slot's part 4 cycles after its last",
            "word; a word of a slot only after k_done of its last K op; a load of a block only after k_done of its",
            "last token and after the last op of the buffer; the first op of that buffer LANES + 7 cycles after the load; no",
            "load of a slot from its first READ to the answer of its last; ops of the same sum 8 cycles apart.",
        ],
    )
    .lanes(w)
    .pad_flit_width(w)
    .head_dim(w)
    .pad_slots(w)
    .places(w)
    .query_parts(w)
    .token_parts(w)
    .token_width(w)
    .blocks(w)
    .dim_width(w)
    .sum_width(w)
    .logit_width(w)
    .pad_scale(w)
    .param("DOT_CYCLES", w.dot_cycles(), "Cycles from a registered op to its dot.")
    .clocked()
    .group("Four elements of a query. With a cycle between words, q_ready need not be checked.")
    .input("q_valid", 1, "")
    .output("q_ready", 1, "")
    .input("q_slot", "PAD_SLOT_WIDTH", "")
    .input("q_word", "WORD_WIDTH", "Elements 4 * q_word to 4 * q_word + 3.")
    .input("q_data", 64, "")
    .group("An op.")
    .pad_op("op_", Dir::Input);
    b.group("The same a cycle later, to the next row.")
        .pad_op("next_", Dir::Output)
        .pad_load()
        .group("The weight of a K op with tail is in the scratchpad.")
        .output("k_done", 1, "")
        .output("k_done_token", "TOKEN_WIDTH", "")
        .group("The result of READ.")
        .output("sum_valid", 1, "")
        .output("sum_data", "SUM_WIDTH", "")
        .output("sum_max", 32, "m of the slot, 0 if it has none.")
        .output("sum_saturated", 1, "A logit of the slot was beyond the range.")
        .instances(&["meshkv_delay", "meshkv_dot", "meshkv_sums", "meshkv_weight", "meshkv_scratchpad"])
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
    .group("The sum read.")
    .output("read_valid", 1, "")
    .output("read_data", "SUM_WIDTH", "")
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
    .pad_load()
    .group("Four lanes of a vector.")
    .output("m_valid", 1, "")
    .output("m_slot", "PAD_SLOT_WIDTH", "")
    .output("m_buffer", 1, "")
    .output("m_groups", "GROUPS", "One-hot: the group of four.")
    .output("m_lanes", 92, "Each sign, exponent of 5 bits, significand of 17.")
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
    .build()
}

/// A row and the modules it instantiates, the row last, with room for `slots` contexts.
pub fn row_modules(design: &Design, slots: u32) -> Vec<ModuleSpec> {
    let w = PadRowParams::of(design, slots);
    let choice = w.align_in_dsp().then(preadd_dsp);
    let parts = [dot(&w), sums(&w), weight(&w), scratchpad(&w), row_of(&w)];
    [delay(), dsp()].into_iter().chain(choice).chain(parts).collect()
}
