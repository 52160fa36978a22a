//! Registers on the way from one SLR to another.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::names::CROSSING;

pub(in crate::emit::rtl) fn crossing() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Common,
        CROSSING,
        &[
            "Register for wires from another super logic region (SLR) of the device.",
            "",
            "It is placed at the receiver, and the driver is a register too: the path is from flip-flop to",
            "flip-flop without logic. Constraints find it by its name.",
        ],
    )
    .param("WIDTH", 8, "Width in bits.")
    .param("CONTROL_WIDTH", 1, "Number of low bits that are valid bits or credits: reset clears them.")
    .clocked()
    .input("d", "WIDTH", "Input, in the other SLR.")
    .output("q", "WIDTH", "Output, in this SLR, a cycle later.")
    .build()
}

pub(in crate::emit::rtl) fn crossing_chain() -> ModuleSpec {
    ModuleBuilder::new(Block::Common, "meshkv_crossing_chain",
        &[
            "Pipeline from one SLR to another: one register on each side of every boundary.",
            "",
            "It cannot stall and has no reset: a reset at its input lasts longer than the pipeline. There is no logic",
            "between its registers, nor between them and a boundary.",
        ],
    )
    .param("WIDTH", 8, "Width in bits.")
    .param("BOUNDARIES", 1, "Boundaries crossed; may be 0.")
    .input("clk", 1, "")
    .input("d", "WIDTH", "Input.")
    .output("q", "WIDTH", "Output, two cycles a boundary later.")
    .instances(&[CROSSING])
    .build()
}
