//! The dot product of a row, what brings both of its vectors to integers, and the DSP slices.

use crate::design::index_bits;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::pad::row_params::PadRowParams;

pub(in crate::emit::rtl) fn align(w: &PadRowParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Pad, "meshkv_align",
        &[
            "Aligns a flit to the largest exponent of its elements, for all rows of the array.",
            "",
            "Each element becomes an integer of 26 bits and a sign, to nearest: a DSP slice multiplies its significand by a",
            "power of two. Lanes work in groups of four, each group a cycle after the previous one, because the products",
            "of a row are added along cascades.",
        ],
    )
    .lanes(w)
    .pad_flit_width(w)
    .param("LANE_WIDTH", index_bits(w.lanes), "Width of a lane number in bits.")
    .input("clk", 1, "")
    .group("A flit.")
    .input("flit", "FLIT_WIDTH", "Elements in FP16.")
    .input("ones", 1, "It is the flit of ones instead.")
    .input("first", "LANE_WIDTH", "First lane that counts; all before it are zero.")
    .input("last", "LANE_WIDTH", "Last such lane; all behind it are zero.")
    .group("The aligned flit.")
    .output("exponent", 5, "Largest exponent, with ALIGN_CYCLES.")
    .output("aligned", "LANES*27", "Signed elements; those of group g come 2 + g cycles after the exponent.")
    .instances(&["meshkv_delay", "meshkv_preadd_dsp"])
    .build()
}

pub(in crate::emit::rtl) fn dot(w: &PadRowParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Pad, "meshkv_dot",
        &[
            "Dot product of an aligned flit with a stationary vector, in integers.",
            "",
            "A stationary number has one of two scales, 5 bits apart: of the smaller, the element drops 5 bits. Lanes work in",
            "groups of four, each group a cycle after the previous one. So four cascades of DSP slices add the products,",
            "and only four sums are added in look-up tables.",
        ],
    )
    .lanes(w)
    .station_depth(w)
    .dot_width(w)
    .input("clk", 1, "")
    .group("The address of a vector; elements of group g come 1 + g cycles later.")
    .input("addr", "ADDR_WIDTH", "")
    .input("is_query", 1, "The vector is of a query.")
    .input("flit_exponent", 5, "Exponent of the flit, with the address.")
    .input("aligned", "LANES*27", "Signed elements.")
    .group("Four lanes of a vector, from the next cycle on.")
    .input("wr_groups", "GROUPS", "Groups to write.")
    .input("wr_addr", "ADDR_WIDTH", "")
    .input("wr_data", 72, "Each {small scale, number of 17 bits}.")
    .input("wr_exponent", 6, "Exponent of the vector.")
    .group("The dot.")
    .output("dot", "DOT_WIDTH", "Signed.")
    .output("exponent", 6, "Sum of both exponents.")
    .instances(&["meshkv_delay", "meshkv_preadd_dsp"])
    .build()
}

pub(in crate::emit::rtl) fn query_lanes(w: &PadRowParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Pad, "meshkv_query_lanes",
        &[
            "Converts a query into stationary numbers: each part to its largest exponent.",
            "",
            "A part is what a flit meets: as many elements as a flit has, or the whole query if it is shorter. Its words come",
            "in order, one after the other. Once all have come they leave as numbers, one a cycle.",
        ],
    )
    .array_rows(w)
    .pad_slot_width(w)
    .word_width(w)
    .part_words(w)
    .clocked()
    .pad_query()
    .group("Four numbers, PART_WORDS + 5 cycles later.")
    .output("w_rows", "ARRAY_ROWS", "Rows of the context.")
    .output("w_slot", "PAD_SLOT_WIDTH", "Slot of the context.")
    .output("w_word", "WORD_WIDTH", "Numbers 4 * w_word to 4 * w_word + 3.")
    .output("w_lanes", 72, "Each {small scale, signed number of 17 bits}.")
    .output("w_exponent", 6, "Exponent of the part.")
    .instances(&["meshkv_delay"])
    .build()
}

pub(in crate::emit::rtl) fn dsp() -> ModuleSpec {
    ModuleBuilder::new(Block::Pad, "meshkv_dsp",
        &[
            "Multiplier followed by an adder: one DSP48E2 with its registers.",
            "",
            "The addend comes from the previous slice of the cascade, or from C. Operands, product and sum are",
            "registered: latency is three cycles. C enters a cycle after its operands.",
        ],
    )
    .param("SOURCE", 0, "The addend: 0 nothing, 1 PCIN, 2 PCIN >> 17, 3 C.")
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

pub(in crate::emit::rtl) fn preadd_dsp() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Pad,
        "meshkv_preadd_dsp",
        &[
            "Multiplier with a choice of two operands, followed by an adder: one DSP48E2 with its pre-adder.",
            "",
            "Operands and product are registered, the sum optionally: latency is three cycles, or two.",
        ],
    )
    .param("SOURCE", 0, "The addend: 0 nothing, 1 PCIN, 2 half of bit 15.")
    .param("REGISTERED", 1, "The sum has a register.")
    .input("clk", 1, "")
    .input("a", 27, "Signed.")
    .input("d", 27, "Signed.")
    .input("choice", 2, "The multiplicand: 0 a, 1 d, else 0.")
    .input("b", 18, "Signed.")
    .input("negative", 1, "The product is subtracted.")
    .input("pcin", 48, "")
    .output("pcout", 48, "The sum, to the next slice.")
    .output("p", 48, "The sum, to look-up tables or operands of another slice.")
    .build()
}
