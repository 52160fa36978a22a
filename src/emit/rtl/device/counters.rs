//! The counters of the core, for the host.

use crate::design::SELECT_TILE_BITS;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::device::params::DeviceParams;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn row_choice(core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Device,
        "meshkv_row_choice",
        &["Selects a tile's word of one row, a cycle later; 0 for a tile of another row."],
    )
    .params_of(&[core], &[])
    .only(&["COLS"])
    .input("clk", 1, "")
    .input("tile", SELECT_TILE_BITS, "Number of the tile.")
    .input("first", SELECT_TILE_BITS, "Number of the row's first tile, tied to a constant.")
    .input("of_row", "COLS*32", "Words of the row.")
    .output("chosen", 32, "The tile's word.")
    .build()
}

pub(in crate::emit::rtl) fn counter_choice(w: &DeviceParams, core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_counter_choice",
        &[
            "Selects one tile's word out of all, together with its index.",
            "",
            "Each row has its own multiplexer; the result goes to SLR0 with two registers a boundary. Nearer rows",
            "add delay, so that every word arrives with the index. The query takes the same path before.",
        ],
    )
    .seen_by_rows(w, core)
    .input("clk", 1, "")
    .input("tile", SELECT_TILE_BITS, "Number of the tile.")
    .input("index", 5, "Index of all tiles' words, in the SLR of row 0.")
    .input("of_tiles", "TILES*32", "Words of all tiles; tile t's is the t-th.")
    .output("chosen", 32, "The word of that tile.")
    .output("chosen_index", 5, "Its index.")
    .instances(&["meshkv_crossing_chain", "meshkv_delay", "meshkv_row_choice"])
    .build()
}

impl ModuleBuilder {
    /// Parameters of modules with pipelines from SLR0 to all rows.
    pub(in crate::emit::rtl) fn seen_by_rows(self, w: &DeviceParams, core: &ModuleSpec) -> Self {
        self.params_of(&[core], &[]).only(&["TILES", "COLS", "ROWS"]).front(w, &["ROW_BOUNDARIES"])
    }
}

pub(in crate::emit::rtl) fn pad_view(w: &DeviceParams, core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_pad_view",
        &[
            "Transfers a total of PaD to the network's clock.",
            "",
            "PaD's scan changes in every cycle, so it cannot be sampled from another clock. The query crosses the",
            "clocks, waits for the scan, and the total returns, both by handshake. One query at a time.",
        ],
    )
    .seen_by_rows(w, core)
    .input("clk", 1, "")
    .input("rst", 1, "Reset of the core: no query is sent and no total arrives.")
    .compute_clocked()
    .group("Query of a total.")
    .input("ask_valid", 1, "A query is pending.")
    .output("ask_ready", 1, "The query is sent.")
    .input("ask_tile", SELECT_TILE_BITS, "Number of the tile.")
    .input("ask_index", 5, "Index, as in pad_index.")
    .group("The total.")
    .output("total_valid", 1, "One pulse.")
    .output("total", 32, "Total when the scan passed it.")
    .ports_of_core(core, &["pad_index", "pad_data"])
    .instances(&["meshkv_async_register", "meshkv_counter_choice"])
    .build()
}

pub(in crate::emit::rtl) fn counter_view(w: &DeviceParams, core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_counter_view",
        &[
            "Reads one of the core's counters: waits until the scan of its tile passes it, and stores the total.",
            "",
            "A total of PaD is transferred from its clock repeatedly as long as it is selected.",
        ],
    )
    .seen_by_rows(w, core)
    .clocked()
    .compute_clocked()
    .input("core_rst", 1, "The core is in reset: there is no total.")
    .selected(Dir::Input)
    .ports_of_core(core, &SEEN)
    .instances(&["meshkv_counter_choice", "meshkv_pad_view"])
    .build()
}

/// Counters of the core.
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
