//! The swap of homes, and the occupancy that decides it.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn swap_unit(w: &TakvParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Takv, "meshkv_swap_unit",
        &[
            "Lets two homes exchange their places, between two decode steps.",
            "",
            "What a home sends leaves along its row, so occupancies are added up by row. The heaviest home of the",
            "heaviest row changes with the lightest of the lightest row if that, and only if it, lowers the sum of",
            "squares over the rows. A place takes as many macro-blocks as any other, so none gets too many.",
        ],
    )
    .control(w, &["COLS", "ROWS", "X_WIDTH", "Y_WIDTH", "HOME_WIDTH", "VALUE_WIDTH", "EPOCH", "EPOCH_WIDTH"])
    .clocked()
    .group("From the columns.")
    .input("arrived", "COLS", "The step is over there.")
    .input("occupancy_valid_in", "COLS", "One pulse a value.")
    .input("occupancy_data_in", "COLS*VALUE_WIDTH", "An occupancy, row 0 first.")
    .group("To the columns.")
    .output("ready", 1, "Every home has a place.")
    .output("go", 1, "One pulse: the next step may begin.")
    .output("map_valid", 1, "A home gets a place.")
    .output("map_home", "HOME_WIDTH", "The logical home, {y, x}.")
    .output("map_place", "HOME_WIDTH", "Where it is, {y, x}.")
    .swap_report()
    .build()
}

pub(in crate::emit::rtl) fn occupancy(w: &TakvParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Takv, "meshkv_occupancy",
        &[
            "How full the buffer is that a home sends into: slots times cycles of a step, as a moving average.",
            "",
            "When a step is over the average is sent southwards, and those of the rows beyond are passed on.",
        ],
    )
    .control(w, &["VALUE_WIDTH"])
    .param("COUNT_WIDTH", w.used(), "Width of a number of slots in bits.")
    .clocked()
    .input("sample", 1, "One pulse: the step is over.")
    .group("The credits of the buffer.")
    .input("send", 1, "A flit goes there.")
    .input("credit", 1, "A slot is free again.")
    .group("From the north.")
    .input("rx_n_occupancy_valid", 1, "One pulse a value.")
    .input("rx_n_occupancy_data", "VALUE_WIDTH", "An occupancy, the nearest row's first.")
    .group("To the south.")
    .output("tx_s_occupancy_valid", 1, "One pulse a value.")
    .output("tx_s_occupancy_data", "VALUE_WIDTH", "An occupancy, this row's first.")
    .build()
}
