//! The count of the slices that tiles were told of while queries come.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn slices_said(w: &TakvParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Takv,
        "meshkv_slices_said",
        &[
            "Counts the slices that each row was told of while its tiles keep their jobs, and says when one has no room left.",
            "",
            "A tile keeps as many as its queues of slices to fetch and to fill hold, whichever is the shorter.",
        ],
    )
    .control(w, &["ROWS", "ASK_DEPTH", "FILL_DEPTH"])
    .clocked()
    .input("counts", 1, "Tiles keep jobs.")
    .input("ends", 1, "They are about to let them go.")
    .input("says", 1, "One pulse a slice.")
    .input("rows", "ROWS", "Rows that fetch it or fill it.")
    .output("full", 1, "No more may be said.")
    .build()
}
