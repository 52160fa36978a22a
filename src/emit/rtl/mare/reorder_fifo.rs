//! The FIFO of the requester.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn reorder_fifo() -> ModuleSpec {
    ModuleBuilder::new(Block::Mare, "meshkv_reorder_fifo",
        &[
            "FIFO of any depth between two clocks, whose words may be written in any order.",
            "",
            "Places are given out in order, before anything is asked for; each is written when its word comes, and",
            "the reader is shown as many as have come without a gap. What is written has its place: it cannot overflow.",
        ],
    )
    .param("WIDTH", 64, "Width of a word in bits.")
    .param("DEPTH", 48, "Words, any number from 2; one more waits in the output register.")
    .param("PTR_WIDTH", 6, "Width of a place in bits, as small as can be.")
    .param("GRAY_WIDTH", 7, "PTR_WIDTH + 1.")
    .param("ROOM_WIDTH", 6, "Width of a number of places in bits, as small as can be.")
    .clocked()
    .group("Places in a row are given out.")
    .input("reserve_valid", 1, "")
    .input("reserve_count", "ROOM_WIDTH", "How many, no more than there is room.")
    .output("room", "ROOM_WIDTH", "Places that are free.")
    .output("place", "PTR_WIDTH", "The first that is given next.")
    .input("hold", 1, "What comes is not shown yet.")
    .group("A word comes.")
    .input("put_valid", 1, "")
    .input("put_place", "PTR_WIDTH", "Its place.")
    .input("put_data", "WIDTH", "")
    .group("To the reader, in its clock.")
    .input("m_clk", 1, "")
    .input("m_rst", 1, "")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_data", "WIDTH", "Word out, of a register.")
    .instances(&["meshkv_async_pointer", "meshkv_synchronizer"])
    .build()
}
