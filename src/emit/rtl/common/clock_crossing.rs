//! Clock domain crossings.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

/// Default depth of the FIFO; each instance sets its own.
const FIFO_DEPTH: u32 = 16;

impl ModuleBuilder {
    /// Depth of a FIFO of two clocks and the widths that follow from it.
    fn async_depth(self) -> Self {
        self.param("DEPTH", FIFO_DEPTH, "Words, any number from 2.")
            .param("PTR_WIDTH", FIFO_DEPTH.ilog2(), "Width of a position in bits, as small as possible.")
            .param("GRAY_WIDTH", FIFO_DEPTH.ilog2() + 1, "PTR_WIDTH + 1.")
    }
}

pub(in crate::emit::rtl) fn async_pointer() -> ModuleSpec {
    ModuleBuilder::new(Block::Common, "meshkv_async_pointer",
        &[
            "Pointer into a ring of any depth that can be sampled in another clock.",
            "",
            "Its 2*DEPTH states are the middle ones of a reflected gray code. The code is its own mirror image except for",
            "the top bit. So the step from the last state to the first changes one bit, like every other step.",
        ],
    )
    .async_depth()
    .clocked()
    .input("step", 1, "Advances to the next position.")
    .output("position", "PTR_WIDTH", "0 to DEPTH - 1.")
    .output("wrap", 1, "Toggles every round.")
    .output("gray", "GRAY_WIDTH", "Position and wrap in gray code, from a register, for another clock.")
    .output("opposite", "GRAY_WIDTH", "The same position one round earlier or later, in gray code, from a register.")
    .build()
}

pub(in crate::emit::rtl) fn synchronizer() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Common,
        "meshkv_synchronizer",
        &[
            "Two-register synchronizer for bits of another clock.",
            "",
            "The inputs are register outputs, and at most one of several changes at a time.",
        ],
    )
    .param("WIDTH", 5, "Width in bits.")
    .bits_param("RESET", "[WIDTH-1:0]", "5'd0".to_owned(), "Output during reset.")
    .clocked()
    .input("s_data", "WIDTH", "Bits of the other clock.")
    .output("m_data", "WIDTH", "The same bits in this clock, two cycles later.")
    .build()
}

pub(in crate::emit::rtl) fn async_fifo() -> ModuleSpec {
    ModuleBuilder::new(Block::Common, "meshkv_async_fifo",
        &[
            "FIFO of any depth between two clocks.",
            "",
            "Pointers cross in gray code; a word is read three reader cycles after its write, never before it",
            "is complete. No path leads from one clock's inputs to the other's outputs. Both resets are asserted together",
            "for three cycles of the slower clock; either may end first.",
        ],
    )
    .param("WIDTH", 64, "Width of a word in bits.")
    .param("DEPTH", FIFO_DEPTH, "Words, any number from 2; the output register holds one more.")
    .group("Write side.")
    .input("s_clk", 1, "")
    .input("s_rst", 1, "")
    .input("s_valid", 1, "")
    .output("s_ready", 1, "")
    .input("s_data", "WIDTH", "Word in.")
    .group("Read side.")
    .input("m_clk", 1, "")
    .input("m_rst", 1, "")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_data", "WIDTH", "Word out, from a register.")
    .instances(&["meshkv_async_pointer", "meshkv_synchronizer"])
    .build()
}

/// One word at a time between two clocks, where a FIFO's memory would not pay.
pub(in crate::emit::rtl) fn async_register() -> ModuleSpec {
    let mut fifo = async_fifo();
    fifo.params.retain(|p| p.name == "WIDTH");
    ModuleBuilder::new(Block::Common, "meshkv_async_register",
        &[
            "One-word crossing between two clocks: the word is held until the reader has taken it.",
            "",
            "The word is visible three reader cycles after its write, and the next is accepted two or three writer",
            "cycles after it has left. Both resets are asserted together for three cycles of the slower clock.",
        ],
    )
    .params_of(&[&fifo], &[])
    .ports_of(&fifo, &["s_", "m_"], "")
    .instances(&["meshkv_synchronizer"])
    .build()
}
