//! A delay line.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn delay() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Common,
        "meshkv_delay",
        &["Delay line: the output is the input CYCLES cycles earlier."],
    )
    .param("WIDTH", 1, "Width of the value in bits.")
    .param("CYCLES", 1, "Cycles of delay; may be 0.")
    .input("clk", 1, "")
    .input("d", "WIDTH", "")
    .output("q", "WIDTH", "")
    .build()
}
