//! The reset of the core and its pipeline to the tiles.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::device::params::DeviceParams;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn reset(w: &DeviceParams, core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_reset",
        &[
            "Reset of the core in both of its clocks, held together for eight cycles of either.",
            "",
            "Request and acknowledgement are levels that cross to the other clock and back, so neither clock need",
            "be the faster. If the other clock is stopped there is no acknowledgement; the requester needs a time-out.",
        ],
    )
    .seen_by_rows(w, core)
    .clocked()
    .input("request", 1, "Requests reset of the core.")
    .output("core_rst", "TILES", "To the core, in this clock; bit t is for tile t.")
    .output("held", 1, "Both resets have been held for long enough.")
    .output("released", 1, "Both resets are released.")
    .output("pe_down", 1, "PaD's clock was reset on its own, without request.")
    .group("Clock of PaD.")
    .input("pe_clk", 1, "")
    .input("pe_rst_n", 1, "Its own reset, active low, synchronous to it.")
    .output("pe_rst", "TILES", "To the core, in that clock.")
    .instances(&["meshkv_synchronizer", "meshkv_reset_row"])
    .build()
}

pub(in crate::emit::rtl) fn reset_row(core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_reset_row",
        &[
            "Pipeline of a reset to a row of tiles, which may be in another SLR.",
            "",
            "Registers in SLR0 equalize the length for all rows. Then there is one register on each side of every",
            "boundary, and one for each tile, which drives only the logic of that tile.",
        ],
    )
    .params_of(&[core], &[])
    .only(&["COLS"])
    .param("WAIT", 1, "Registers before the first boundary.")
    .param("BOUNDARIES", 1, "Boundaries crossed; may be 0.")
    .input("clk", 1, "")
    .input("d", 1, "Reset source.")
    .output("q", "COLS", "At the tiles, WAIT + 2 * BOUNDARIES + 1 cycles later.")
    .instances(&["meshkv_reset_stage"])
    .build()
}

pub(in crate::emit::rtl) fn reset_stage() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Device,
        "meshkv_reset_stage",
        &["One register of a reset pipeline; its initial value is 1."],
    )
    .input("clk", 1, "")
    .input("d", 1, "The reset, active high.")
    .output("q", 1, "A cycle later.")
    .build()
}
