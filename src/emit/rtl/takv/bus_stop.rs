//! A stop of the column bus.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn bus_stop(w: &TakvParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Takv,
        "meshkv_bus_stop",
        &[
            "Stop of the column bus: passes every word to its tile and to the next stop to the north.",
            "",
            "One register a hop. A credit represents room for one word in the next stop.",
        ],
    )
    .control(w, &["ROWS", "Y_WIDTH"])
    .param("WIDTH", w.bus.word, "Width of a word in bits.")
    .param("DEPTH", 4, "Words that a stop holds.")
    .clocked()
    .input("y", "Y_WIDTH", "Row of this stop, tied to a constant.")
    .group("From the south.")
    .input("rx_s_bus_valid", 1, "One pulse a word.")
    .input("rx_s_bus_data", "WIDTH", "The word.")
    .output("rx_s_bus_credit", 1, "One pulse a word that left.")
    .group("To the north.")
    .output("tx_n_bus_valid", 1, "One pulse a word.")
    .output("tx_n_bus_data", "WIDTH", "The word.")
    .input("tx_n_bus_credit", 1, "One pulse a word that left the next stop.")
    .group("To the tile.")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_data", "WIDTH", "The word.")
    .instances(&["meshkv_fifo"])
    .build()
}
