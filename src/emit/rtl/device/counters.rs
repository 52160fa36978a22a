//! The counters of the core as the host reads them.

use crate::design::SELECT_TILE_BITS;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::device::params::DeviceParams;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn row_choice(core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Device,
        "meshkv_row_choice",
        &["The word of a tile of one row, a cycle later; 0 for a tile of none."],
    )
    .params_of(&[core], &[])
    .only(&["COLS"])
    .input("clk", 1, "")
    .input("lane", SELECT_TILE_BITS, "Column of the tile; COLS or more of one in another row.")
    .input("of_row", "COLS*32", "Words of the row.")
    .output("chosen", 32, "That of the tile.")
    .build()
}

pub(in crate::emit::rtl) fn counter_choice(w: &DeviceParams, core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_counter_choice",
        &[
            "One tile's word out of those of all, with the index that was shown beside it.",
            "",
            "Each row chooses where it stands; what it chose goes to SLR0 with two registers a boundary, and rows that are",
            "nearer wait, so that every word comes as late as the index. The question goes the same way before.",
        ],
    )
    .seen_by_rows(w, core)
    .input("clk", 1, "")
    .input("tile", SELECT_TILE_BITS, "Which tile.")
    .input("index", 5, "Of what all tiles show, where row 0 stands.")
    .input("of_tiles", "TILES*32", "Words of all, tile t's the t-th.")
    .output("chosen", 32, "The word of that tile.")
    .output("chosen_index", 5, "Its index.")
    .instances(&["meshkv_crossing_chain", "meshkv_delay", "meshkv_row_choice"])
    .build()
}

impl ModuleBuilder {
    /// Parameters of what has ways to all rows from SLR0.
    pub(in crate::emit::rtl) fn seen_by_rows(self, w: &DeviceParams, core: &ModuleSpec) -> Self {
        self.params_of(&[core], &[]).only(&["TILES", "COLS", "ROWS"]).front(w, &["ROW_BOUNDARIES"])
    }
}

pub(in crate::emit::rtl) fn pad_view(w: &DeviceParams, core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_pad_view",
        &[
            "Fetches a total of what computes over into the network's clock.",
            "",
            "The scan there changes in every cycle, so that it cannot be looked at from another clock: the question goes",
            "over, waits for the scan, and the total comes back, both by handshake. One at a time.",
        ],
    )
    .seen_by_rows(w, core)
    .input("clk", 1, "")
    .input("rst", 1, "Of the core: nothing is asked and nothing comes.")
    .compute_clocked()
    .group("Which total is wanted.")
    .input("ask_valid", 1, "One is.")
    .output("ask_ready", 1, "It is asked for.")
    .input("ask_tile", SELECT_TILE_BITS, "Of which tile.")
    .input("ask_index", 5, "As pad_index has it.")
    .group("The total.")
    .output("total_valid", 1, "One pulse.")
    .output("total", 32, "As it was when the scan passed it.")
    .ports_of_core(core, &["pad_index", "pad_data"])
    .instances(&["meshkv_async_register", "meshkv_counter_choice"])
    .build()
}

pub(in crate::emit::rtl) fn counter_view(w: &DeviceParams, core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_counter_view",
        &[
            "Shows one of the core's counters: waits until the scan of its tile passes it, and keeps its total.",
            "",
            "A total of what computes is fetched from its clock, again and again as long as it is selected.",
        ],
    )
    .seen_by_rows(w, core)
    .clocked()
    .compute_clocked()
    .input("core_rst", 1, "The core is in reset: nothing is shown.")
    .selected(Dir::Input)
    .ports_of_core(core, &SEEN)
    .instances(&["meshkv_counter_choice", "meshkv_pad_view"])
    .build()
}

/// What the core shows of itself.
const SEEN: [&str; 8] = [
    "error_memory",
    "error_timeout",
    "stat_index",
    "stat_data",
    "event_index",
    "event_data",
    "pad_index",
    "pad_data",
];
