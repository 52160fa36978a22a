//! The dot product of a row, and the DSP slices that it is made of.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::pad::row_params::PadRowParams;

pub(in crate::emit::rtl) fn dot(w: &PadRowParams) -> ModuleSpec {
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

pub(in crate::emit::rtl) fn dsp() -> ModuleSpec {
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

pub(in crate::emit::rtl) fn choice_dsp() -> ModuleSpec {
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
