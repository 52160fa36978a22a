//! Registers on the way from one SLR to another.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::names::CROSSING;

pub(in crate::emit::rtl) fn crossing() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Common,
        CROSSING,
        &[
            "Register on wires that come from another super logic region (SLR) of the device.",
            "",
            "It stands where they are received, and what drives them is a register too: from flip-flop to",
            "flip-flop, without logic between them. Constraints find it by its name.",
        ],
    )
    .param("WIDTH", 8, "Width of all in bits.")
    .param("CONTROL_WIDTH", 1, "The lowest bits, which are valid bits and credits: none shows out of reset.")
    .clocked()
    .input("d", "WIDTH", "In the other SLR.")
    .output("q", "WIDTH", "Here, a cycle later.")
    .build()
}

pub(in crate::emit::rtl) fn crossing_chain() -> ModuleSpec {
    ModuleBuilder::new(Block::Common, "meshkv_crossing_chain",
        &[
            "A way from one SLR to another: at each boundary a register on either side of it.",
            "",
            "What is on it cannot be stopped, and has no reset: one at its begin outlasts what is on the way. No logic stands between its registers, nor between them and a boundary.",
        ],
    )
    .param("WIDTH", 8, "Width of all in bits.")
    .param("BOUNDARIES", 1, "Boundaries on the way; there may be none.")
    .input("clk", 1, "")
    .input("d", "WIDTH", "Where it begins.")
    .output("q", "WIDTH", "Where it ends, two cycles a boundary later.")
    .instances(&[CROSSING])
    .build()
}
