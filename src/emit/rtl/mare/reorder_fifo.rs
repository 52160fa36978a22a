//! The FIFO of the requester.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn reorder_fifo() -> ModuleSpec {
    ModuleBuilder::new(Block::Mare, "meshkv_reorder_fifo",
        &[
            "FIFO of any depth between two clocks whose words may be written in any order.",
            "",
            "Places are allocated in order, before the request; each is written when its word arrives.",
            "The reader sees the words up to the first gap. Every word has a reserved place, so the FIFO cannot overflow.",
        ],
    )
    .param("WIDTH", 64, "Width of a word in bits.")
    .param("DEPTH", 48, "Words, any number from 2; the two output registers hold one more each.")
    .param("PTR_WIDTH", 6, "Width of a place in bits, as small as possible.")
    .param("GRAY_WIDTH", 7, "PTR_WIDTH + 1.")
    .param("ROOM_WIDTH", 6, "Width of a number of places in bits, as small as possible.")
    .clocked()
    .group("Consecutive places are allocated.")
    .input("reserve_valid", 1, "")
    .input("reserve_count", "ROOM_WIDTH", "Their number, at most room.")
    .output("room", "ROOM_WIDTH", "Free places.")
    .output("place", "PTR_WIDTH", "The next place to be allocated.")
    .input("hold", 1, "Arriving words stay invisible to the reader.")
    .group("A word arrives.")
    .input("put_valid", 1, "")
    .input("put_place", "PTR_WIDTH", "Its place.")
    .input("put_data", "WIDTH", "")
    .group("To the reader, in its clock.")
    .input("m_clk", 1, "")
    .input("m_rst", 1, "")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_data", "WIDTH", "Word out, from a register.")
    .instances(&["meshkv_async_pointer", "meshkv_synchronizer"])
    .build()
}
