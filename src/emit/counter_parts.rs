//! What shows a host the core's counters, of both clocks.

use super::module::{Dir, ModuleBuilder, ModuleSpec};

/// Width of a tile's number among registers.
const SELECT_TILE_BITS: u32 = 9;

pub(super) fn counter_choice(core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new("meshkv_counter_choice", &["One tile's word out of those of all, a cycle later."])
        .params_of(&[core], &[])
        .only(&["TILES"])
        .param("WIDTH", 32, "Width of a word in bits.")
        .input("clk", 1, "")
        .input("tile", SELECT_TILE_BITS, "Which tile.")
        .input("of_tiles", "TILES*WIDTH", "Words of all, tile t's the t-th.")
        .output("chosen", "WIDTH", "The word of that tile.")
        .build()
}

pub(super) fn pad_view(core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(
        "meshkv_pad_view",
        &[
            "Fetches a total of what computes over into the network's clock.",
            "",
            "The scan there changes in every cycle, so that it cannot be looked at from another clock: the question goes",
            "over, waits for the scan, and the total comes back, both by handshake. One at a time.",
        ],
    )
    .params_of(&[core], &[])
    .only(&["TILES"])
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

pub(super) fn counter_view(core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(
        "meshkv_counter_view",
        &[
            "Shows one of the core's counters: waits until the scan of its tile passes it, and keeps its total.",
            "",
            "A total of what computes is fetched from its clock, again and again as long as it is selected.",
        ],
    )
    .params_of(&[core], &[])
    .only(&["TILES"])
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
