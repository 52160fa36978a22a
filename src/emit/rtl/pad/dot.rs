//! The dot product of a row, and its DSP slices.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::pad::row_params::PadRowParams;

pub(in crate::emit::rtl) fn dot(w: &PadRowParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Pad, "meshkv_dot",
        &[
            "Dot product of a flit with a stationary vector: exact products, aligned to the largest exponent.",
            "",
            "Products are shifted down by the difference to the largest exponent and 26 bits are kept; all else is",
            "exact integer arithmetic. Lanes work in groups of four, each group a cycle after the previous one. So",
            "four cascades of DSP slices add the products, and only four sums are added in look-up tables.",
        ],
    )
    .lanes(w)
    .pad_flit_width(w)
    .places(w)
    .station_depth(w)
    .dot_width(w)
    .input("clk", 1, "")
    .group("A flit and the address of its vector.")
    .input("early_addr", "ADDR_WIDTH", "addr, a cycle before.")
    .input("flit", "FLIT_WIDTH", "")
    .input("addr", "ADDR_WIDTH", "")
    .group("Four lanes of a vector, from the next cycle on.")
    .input("wr_groups", "GROUPS", "Groups to write.")
    .input("wr_addr", "PLACES*ADDR_WIDTH", "Address, for the groups of each place of a query in a flit.")
    .input("wr_data", 92, "Each sign, exponent of 5 bits, significand of 17.")
    .group("The dot.")
    .output("dot", "DOT_WIDTH", "Signed.")
    .output("exponent", 6, "The largest sum of exponents.")
    .instances(if w.align_in_dsp() { &["meshkv_delay", "meshkv_preadd_dsp"] } else { &["meshkv_delay", "meshkv_dsp"] })
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
    .param("SOURCE", 0, "The addend: 0 nothing, 1 PCIN.")
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
