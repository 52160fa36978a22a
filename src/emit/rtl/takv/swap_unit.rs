//! The swap of homes, and the occupancy that decides it.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn swap_unit(w: &TakvParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Takv,
        "meshkv_swap_unit",
        &[
            "Exchanges the places of two homes, between two decode steps.",
            "",
            "A home's data leaves along its row, so occupancies are added by row. The heaviest home of the",
            "heaviest row is exchanged with the lightest of the lightest row only if that lowers the sum of",
            "squares over the rows. All places hold equally many macro-blocks, so none overflows.",
        ],
    )
    .control(w, &["COLS", "ROWS", "X_WIDTH", "Y_WIDTH", "HOME_WIDTH", "VALUE_WIDTH", "EPOCH", "EPOCH_WIDTH"])
    .clocked()
    .group("From the columns.")
    .input("arrived", "COLS", "The step is over in that column.")
    .input("occupancy_valid_in", "COLS", "One pulse a value.")
    .input("occupancy_data_in", "COLS*VALUE_WIDTH", "An occupancy, row 0 first.")
    .group("To the columns.")
    .output("ready", 1, "All homes have places.")
    .output("go", 1, "One pulse: the next step may begin.")
    .output("map_valid", 1, "A home is assigned a place.")
    .output("map_home", "HOME_WIDTH", "The logical home, {y, x}.")
    .output("map_place", "HOME_WIDTH", "Its place, {y, x}.")
    .swap_report()
    .build()
}

pub(in crate::emit::rtl) fn occupancy(w: &TakvParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Takv, "meshkv_occupancy",
        &[
            "Occupancy of the buffer that a home sends into: moving average of slots times cycles of a step.",
            "",
            "At the end of a step the average is sent south, and those of the rows to the north are forwarded.",
        ],
    )
    .control(w, &["VALUE_WIDTH"])
    .param("COUNT_WIDTH", w.used(), "Width of a number of slots in bits.")
    .clocked()
    .input("sample", 1, "One pulse: the step is over.")
    .group("The credits of the buffer.")
    .input("send", 1, "A flit enters the buffer.")
    .input("credit", 2, "Number of slots freed.")
    .group("From the north.")
    .input("rx_n_occupancy_valid", 1, "One pulse a value.")
    .input("rx_n_occupancy_data", "VALUE_WIDTH", "An occupancy, the nearest row's first.")
    .group("To the south.")
    .output("tx_s_occupancy_valid", 1, "One pulse a value.")
    .output("tx_s_occupancy_data", "VALUE_WIDTH", "An occupancy, this row's first.")
    .build()
}
