//! The reset of the core, and its way to the tiles.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::device::params::DeviceParams;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn reset(w: &DeviceParams, core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_reset",
        &[
            "Reset of the core in both of its clocks, held together for eight cycles of either.",
            "",
            "It is asked for and given back by levels that cross to the other clock and back, so neither clock need",
            "be the faster. If the other clock stands still nothing is answered; who asks must not wait for ever.",
        ],
    )
    .seen_by_rows(w, core)
    .clocked()
    .input("request", 1, "The core is to be in reset.")
    .output("core_rst", "TILES", "To the core, in this clock, tile t's the t-th.")
    .output("held", 1, "Both have been held for long enough.")
    .output("released", 1, "Neither is held any more.")
    .output("pe_down", 1, "What computes was reset by itself, without request.")
    .group("Clock of what computes.")
    .input("pe_clk", 1, "")
    .input("pe_rst_n", 1, "Its own reset, active low, synchronous to it.")
    .output("pe_rst", "TILES", "To the core, in that clock.")
    .instances(&["meshkv_synchronizer", "meshkv_reset_row"])
    .build()
}

pub(in crate::emit::rtl) fn reset_row(core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_reset_row",
        &[
            "The way of a reset to a row of tiles, which may stand in another SLR.",
            "",
            "It waits in SLR0 first, so that all rows have ways of one length; then there is a register on either side of each",
            "boundary, and one for each tile, which drives no more than what stands with it.",
        ],
    )
    .params_of(&[core], &[])
    .only(&["COLS"])
    .param("WAIT", 1, "Registers before the first boundary.")
    .param("BOUNDARIES", 1, "Boundaries on the way; there may be none.")
    .input("clk", 1, "")
    .input("d", 1, "Where it is made.")
    .output("q", "COLS", "At the tiles, WAIT + 2 * BOUNDARIES + 1 cycles later.")
    .instances(&["meshkv_reset_stage"])
    .build()
}

pub(in crate::emit::rtl) fn reset_stage() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Device,
        "meshkv_reset_stage",
        &["One register on the way of a reset, which comes up set."],
    )
    .input("clk", 1, "")
    .input("d", 1, "The reset, active high.")
    .output("q", 1, "A cycle later.")
    .build()
}
