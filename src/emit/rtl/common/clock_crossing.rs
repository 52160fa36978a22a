//! Crossings between two clocks.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

/// Words of the FIFO as it is described; who holds one sets its own.
const FIFO_DEPTH: u32 = 16;

impl ModuleBuilder {
    /// Depth of a FIFO of two clocks and the widths that follow from it.
    fn async_depth(self) -> Self {
        self.param("DEPTH", FIFO_DEPTH, "Words, any number from 2.")
            .param("PTR_WIDTH", FIFO_DEPTH.ilog2(), "Width of a position in bits, as small as can be.")
            .param("GRAY_WIDTH", FIFO_DEPTH.ilog2() + 1, "PTR_WIDTH + 1.")
    }
}

pub(in crate::emit::rtl) fn async_pointer() -> ModuleSpec {
    ModuleBuilder::new(Block::Common, "meshkv_async_pointer",
        &[
            "A pointer into a ring of any depth that may be read in another clock.",
            "",
            "Its 2*DEPTH states are the middle ones of a reflected gray code. The code is its own mirror image but for",
            "the first bit, so the step from the last state to the first changes one bit, as does every other.",
        ],
    )
    .async_depth()
    .clocked()
    .input("step", 1, "The next position.")
    .output("position", "PTR_WIDTH", "0 to DEPTH - 1.")
    .output("wrap", 1, "Changes from round to round.")
    .output("gray", "GRAY_WIDTH", "Position and wrap; out of a register, fit for another clock.")
    .output("opposite", "GRAY_WIDTH", "The same position a round before or after; out of a register.")
    .build()
}

pub(in crate::emit::rtl) fn synchronizer() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Common,
        "meshkv_synchronizer",
        &[
            "Two registers that take bits over from another clock.",
            "",
            "The bits come out of registers, and of several at most one changes at a time.",
        ],
    )
    .param("WIDTH", 5, "Width in bits.")
    .bits_param("RESET", "[WIDTH-1:0]", "5'd0".to_owned(), "What is seen during reset.")
    .clocked()
    .input("s_data", "WIDTH", "From the other clock.")
    .output("m_data", "WIDTH", "The same two cycles later, in this clock.")
    .build()
}

pub(in crate::emit::rtl) fn async_fifo() -> ModuleSpec {
    ModuleBuilder::new(Block::Common, "meshkv_async_fifo",
        &[
            "FIFO of any depth between two clocks.",
            "",
            "Pointers cross in gray code; a word is read three cycles of its reader after it was written, never before it",
            "is whole. No path leads from one clock's inputs to the other's outputs. Both resets are held together for",
            "three cycles of the slower clock; whichever ends first.",
        ],
    )
    .param("WIDTH", 64, "Width of a word in bits.")
    .param("DEPTH", FIFO_DEPTH, "Words, any number from 2; one more waits in the output register.")
    .group("Where words come from.")
    .input("s_clk", 1, "")
    .input("s_rst", 1, "")
    .input("s_valid", 1, "")
    .output("s_ready", 1, "")
    .input("s_data", "WIDTH", "Word in.")
    .group("Where they go.")
    .input("m_clk", 1, "")
    .input("m_rst", 1, "")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_data", "WIDTH", "Word out, of a register.")
    .instances(&["meshkv_async_pointer", "meshkv_synchronizer"])
    .build()
}

/// A word at a time between two clocks, where a FIFO's memory would cost more than it gives.
pub(in crate::emit::rtl) fn async_register() -> ModuleSpec {
    let mut fifo = async_fifo();
    fifo.params.retain(|p| p.name == "WIDTH");
    ModuleBuilder::new(Block::Common, "meshkv_async_register",
        &[
            "A word between two clocks: it is held until the reader has taken it.",
            "",
            "It shows three cycles of its reader after it was written, and the next one is taken two or three of the",
            "writer after it has left. Both resets are held together for three cycles of the slower clock.",
        ],
    )
    .params_of(&[&fifo], &[])
    .ports_of(&fifo, &["s_", "m_"], "")
    .instances(&["meshkv_synchronizer"])
    .build()
}
