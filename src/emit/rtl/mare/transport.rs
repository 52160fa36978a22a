//! The transport: requester, home agent and tile port of a tile.

use crate::design::TILE_EVENTS;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::mare::params::{MareParams, HOME_WIDTH};
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn transport(w: &MareParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_transport",
        &[
            "Transport of slices at a tile: requester, home agent, and the port to the network.",
            "",
            "Coordinates are ports, so all tiles elaborate alike. Every tile counts periods by itself;",
            "all agree, because all leave reset together.",
        ],
    )
    .mesh_params(&w.net)
    .tiles(w)
    .x_width(&w.net)
    .y_width(&w.net)
    .vn0_vcs(&w.net)
    .vcs(&w.net)
    .slots(&w.net)
    .vc_depth(w)
    .dest_width(&w.net)
    .head_width(&w.net)
    .flit_width(&w.net)
    .tile_params(w)
    .part_id_width(w)
    .param("NUM_EVENTS", TILE_EVENTS.len() as u32, "Events that a tile counts.")
    .param("OUTSIDE_EVENTS", OUTSIDE_EVENTS, "Of these, events from outside this module.")
    .sources(w)
    .param("FIFO_PTR_WIDTH", w.fifo_ptr(), "Width of a place in the requester's FIFO in bits.")
    .fifo_rest(w)
    .clocked()
    .compute_clocked()
    .compute_idle(w)
    .coordinates()
    .group("A command: fetch a range of a slice.")
    .input("cmd_valid", 1, "")
    .output("cmd_ready", 1, "")
    .input("cmd_tag", "TAG_WIDTH", "")
    .input("cmd_home", HOME_WIDTH, "The slice's home, {y, x}.")
    .input("cmd_mask", "MASK_WIDTH", "Heads that need it.")
    .input("cmd_first", "INDEX_WIDTH", "First flit of the range; starts a chunk.")
    .input("cmd_last", "INDEX_WIDTH", "Last flit of the range.")
    .input(
        "cmd_patient",
        1,
        "No retry before its first flit arrives, because its slice may be missing for long.",
    )
    .output("cmd_tag_busy", 1, "Some of the slice that the command had in the cycle before is in flight.")
    .output("cmd_came_valid", 1, "An awaited flit has arrived.")
    .output("cmd_came_tag", "TAG_WIDTH", "")
    .slice_out()
    .fill()
    .patch(w)
    .claim()
    .publish()
    .next_burst(Dir::Output)
    .freed(Dir::Output)
    .parts()
    .router_link()
    .group("The home's use of the router's buffer.")
    .output("data_sent", 1, "A flit enters the buffer.")
    .output("data_credit", 2, "Number of slots freed.")
    .group("For counters and diagnosis.")
    .input("event_outside", "OUTSIDE_EVENTS", "Events from outside this module, one pulse each.")
    .output("event_index", 5, "Index of the current total.")
    .output("event_data", 32, "Its total.")
    .instances(&["meshkv_requester", "meshkv_home_agent", "meshkv_tile_port", "meshkv_event_counters"])
    .build()
}

/// Counted events from outside the transport: the last ones.
pub(in crate::emit::rtl) const OUTSIDE_EVENTS: u32 = 3;
