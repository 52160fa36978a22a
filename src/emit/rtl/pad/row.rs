//! One row of the array.

use crate::design::Design;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::common::delay::delay;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::pad::dot::{choice_dsp, dot, dsp};
use crate::emit::rtl::pad::row_params::PadRowParams;

pub(in crate::emit::rtl) fn row_of(w: &PadRowParams) -> ModuleSpec {
    let b = ModuleBuilder::new(Block::Pad, "meshkv_row",
        &[
            "A row of the systolic array: a flit against the stationary vector of one context a cycle.",
            "",
            "K flits meet the query and give weights, V flits meet the weights and give sums. A row keeps slots of",
            "contexts; ops of any slot may follow each other, and go on to the next row a cycle later. Nothing",
            "can wait, so whoever sends ops keeps these distances: an op of a slot's part 4 cycles after its last",
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
    .group("Four elements of a query. Who leaves a cycle between words need not look at q_ready.")
    .input("q_valid", 1, "")
    .output("q_ready", 1, "")
    .input("q_slot", "PAD_SLOT_WIDTH", "")
    .input("q_word", "WORD_WIDTH", "Elements 4 * q_word and on.")
    .input("q_data", 64, "")
    .group("An op.")
    .pad_op("op_", Dir::Input);
    b.group("The same a cycle later, to the next row.")
        .pad_op("next_", Dir::Output)
        .pad_load()
        .group("A K op with its tail is in the scratchpad.")
        .output("k_done", 1, "")
        .output("k_done_token", "TOKEN_WIDTH", "")
        .group("What READ asked for.")
        .output("sum_valid", 1, "")
        .output("sum_data", "SUM_WIDTH", "")
        .output("sum_max", 32, "m of the slot, 0 if it has none.")
        .instances(&["meshkv_delay", "meshkv_dot", "meshkv_sums", "meshkv_weight", "meshkv_scratchpad"])
        .build()
}

pub(in crate::emit::rtl) fn sums(w: &PadRowParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Pad, "meshkv_sums",
        &[
            "Fixed point: dots are placed and added to the sums of a slot, or to the logit of its token.",
            "",
            "One shifter and one adder serve both. A sum is shifted down, as far as m has risen, when it is next",
            "read; READ shows it as it is. A sum may come again 8 cycles later, a logit at once.",
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
    .input("fall", 8, "Bits 6:0: how far its sum is shifted down. Bit 7: it is none yet.")
    .group("The dot.")
    .input("dot", "DOT_WIDTH", "")
    .input("exponent", 6, "")
    .group("Whether a slot has an m: without, it has no sums.")
    .output("max_slot", "PAD_SLOT_WIDTH", "")
    .input("max_some", 1, "")
    .group("A sum that is read.")
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
            "The weight of a logit: scaled, split, and 2 to the power of its fraction, 12 cycles later.",
            "",
            "It does not need m, which only decides exponents.",
        ],
    )
    .logit_width(w)
    .pad_scale(w)
    .input("clk", 1, "")
    .input("logit", "LOGIT_WIDTH", "Signed, 20 bits below the point.")
    .output("exponent", 31, "Signed.")
    .output("significand", 16, "Below the point; the leading one is not shown.")
    .instances(&["meshkv_delay", "meshkv_dsp"])
    .build()
}

pub(in crate::emit::rtl) fn scratchpad(w: &PadRowParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Pad, "meshkv_scratchpad",
        &[
            "The weights of a segment's tokens for each slot, m, and the way of a block into the lanes.",
            "",
            "The largest weight of a block is known when its last token has come, so loading begins with m and then",
            "brings a lane a cycle; four leave together.",
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
    .pad_load()
    .group("Four lanes of a vector.")
    .output("m_valid", 1, "")
    .output("m_slot", "PAD_SLOT_WIDTH", "")
    .output("m_buffer", 1, "")
    .output("m_groups", "GROUPS", "One-hot: which four.")
    .output("m_lanes", 92, "Each sign, exponent of 5 bits, significand of 17.")
    .group("How far the sums of a slot fall with a buffer.")
    .input("op_slot", "PAD_SLOT_WIDTH", "")
    .input("op_buffer", 1, "")
    .output("op_fall", 8, "")
    .group("m of a slot.")
    .input("max_slot", "PAD_SLOT_WIDTH", "")
    .output("max_some", 1, "It has one.")
    .output("max_data", 32, "0 if it has none.")
    .input("clear_valid", 1, "It has none from now on.")
    .input("clear_slot", "PAD_SLOT_WIDTH", "")
    .build()
}

/// A row and what it is made of, the row last, with room for `slots` contexts.
pub fn row_modules(design: &Design, slots: u32) -> Vec<ModuleSpec> {
    let w = PadRowParams::of(design, slots);
    let choice = w.align_in_dsp().then(choice_dsp);
    let parts = [dot(&w), sums(&w), weight(&w), scratchpad(&w), row_of(&w)];
    [delay(), dsp()].into_iter().chain(choice).chain(parts).collect()
}
