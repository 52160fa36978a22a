//! The FIFO of one clock.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn fifo() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Common,
        "meshkv_fifo",
        &["FIFO of any depth in one clock; the oldest word falls through to the output."],
    )
    .param("WIDTH", 64, "Width of a word in bits.")
    .param("DEPTH", 8, "Words, at least 2.")
    .clocked()
    .input("s_valid", 1, "")
    .output("s_ready", 1, "")
    .input("s_data", "WIDTH", "Word in.")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_data", "WIDTH", "Word out.")
    .build()
}
