//! The modules of a row of PaD's array: stationary operands, dot engine, sums, weights, scratchpad.
//!
//! Their bodies are templates; `docs/numbers.md` has the numbers and the stages.

use super::block::Block;
use super::module::{Dir, ModuleBuilder, ModuleSpec};
use super::pad_widths::PadWidths;

pub(super) fn delay() -> ModuleSpec {
    ModuleBuilder::new(Block::Common, "meshkv_delay", &["A value some cycles later."])
        .param("WIDTH", 1, "Width of the value in bits.")
        .param("CYCLES", 1, "Cycles, or none.")
        .input("clk", 1, "")
        .input("d", "WIDTH", "")
        .output("q", "WIDTH", "")
        .build()
}

pub(super) fn dsp() -> ModuleSpec {
    ModuleBuilder::new(Block::Pad, "meshkv_dsp",
        &[
            "A multiplier with an adder behind it: one DSP48E2 with its registers.",
            "",
            "What is added comes from the slice before it in the cascade, or from C. Operands are registered, the",
            "product is, the sum is: it takes three cycles. C enters a cycle after the operands it belongs to.",
        ],
    )
    .param("SOURCE", 0, "What is added: 0 nothing, 1 PCIN, 2 PCIN >> 17, 3 C.")
    .input("clk", 1, "")
    .input("a", 27, "Signed.")
    .input("b", 18, "Signed.")
    .input("negative", 1, "The product is subtracted.")
    .input("c", 48, "")
    .input("pcin", 48, "")
    .output("pcout", 48, "The sum, to the next slice.")
    .output("p", 48, "The sum, to look-up tables.")
    .build()
}

pub(super) fn choice_dsp() -> ModuleSpec {
    ModuleBuilder::new(Block::Pad, "meshkv_choice_dsp",
        &[
            "A multiplier that chooses between two operands, with an adder behind it: one DSP48E2 with its pre-adder.",
            "",
            "Operands are registered, the product is, and the sum is or is not: three cycles, or two.",
        ],
    )
    .param("SOURCE", 0, "What is added: 0 nothing, 1 PCIN.")
    .param("REGISTERED", 1, "Whether the sum has a register.")
    .input("clk", 1, "")
    .input("a", 27, "Signed.")
    .input("d", 27, "Signed.")
    .input("choice", 2, "What is multiplied: 0 a, 1 d, else 0.")
    .input("b", 18, "Signed.")
    .input("negative", 1, "The product is subtracted.")
    .input("pcin", 48, "")
    .output("pcout", 48, "The sum, to the next slice.")
    .output("p", 48, "The sum, to look-up tables or operands of another slice.")
    .build()
}

pub(super) fn dot(w: &PadWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Pad, "meshkv_dot",
        &[
            "The dot product of a flit with a stationary vector: exact products, aligned to the largest exponent.",
            "",
            "Elements are shifted down by what their exponent lacks to the largest, 26 bits are kept, and all else is",
            "exact integer arithmetic. Lanes work in groups of four, a group a cycle after the one before, so",
            "that products are added up along four cascades of DSP slices and only four sums meet in look-up tables.",
        ],
    )
    .lanes(w)
    .pad_flit_width(w)
    .places(w)
    .station_depth(w)
    .dot_width(w)
    .input("clk", 1, "")
    .group("A flit, and the vector it meets.")
    .input("early_addr", "ADDR_WIDTH", "addr, a cycle before.")
    .input("flit", "FLIT_WIDTH", "")
    .input("addr", "ADDR_WIDTH", "")
    .group("Four lanes of a vector, from the next cycle on.")
    .input("wr_groups", "GROUPS", "Which groups are written.")
    .input("wr_addr", "PLACES*ADDR_WIDTH", "Where, for the groups of each place of a query in a flit.")
    .input("wr_data", 92, "Each sign, exponent of 5 bits, significand of 17.")
    .group("The dot.")
    .output("dot", "DOT_WIDTH", "Signed.")
    .output("exponent", 6, "The largest sum of exponents.")
    .instances(if w.align_in_dsp() { &["meshkv_delay", "meshkv_choice_dsp"] } else { &["meshkv_delay", "meshkv_dsp"] })
    .build()
}

pub(super) fn sums(w: &PadWidths) -> ModuleSpec {
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

pub(super) fn weight(w: &PadWidths) -> ModuleSpec {
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

pub(super) fn scratchpad(w: &PadWidths) -> ModuleSpec {
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

pub(super) fn row_of(w: &PadWidths) -> ModuleSpec {
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
