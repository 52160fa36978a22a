//! The home agent, its streamer, and the park of waiting fetches.

use crate::design::depths::CHECKED_DEPTH;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::mare::params::MareParams;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn home_agent(w: &MareParams) -> ModuleSpec {
    let mut b = ModuleBuilder::new(Block::Mare, "meshkv_home_agent",
        &[
            "Home of the slices in this tile's staging memory: answers fetches with slices.",
            "",
            "Fetches for slices that are not resident are parked; the others are merged in the request table.",
            "A due chunk passes the duplicate filter, is read burst by burst as it is filled, and leaves with its",
            "set of destinations.",
        ],
    )
    .mesh_params(&w.net)
    .tiles(w)
    .x_width(&w.net)
    .y_width(&w.net)
    .vn0_vcs(&w.net)
    .vcs(&w.net)
    .tag_width(w)
    .key_width(w)
    .index_width(w)
    .mask_width(w)
    .flit_width(&w.net)
    .vc_depth(w)
    .slice_flits(w)
    .chunk_flits(w)
    .burst_flits(w);
    if w.mare.dedup {
        b = b.bloom(w).tag_entries("TAG_ENTRIES", w);
    }
    b = b
        .request_entries("REQUEST_ENTRIES", w)
        .park_depth(w)
        .param("CHECKED_DEPTH", CHECKED_DEPTH, "Fetches between the look-up and the request table.")
        .expected_width(w)
        .staging_slots("SLOTS", w)
        .slot_width(w)
        .staging_depth("STAGING_DEPTH", w)
        .addr_width(w)
        .clocked();
    if w.mare.dedup {
        b = b.input("tick", 1, "The last cycle of a period.").input("period", 1, "Parity of the period.");
    }
    b = b
        .group("A fetch from the network.")
        .input("fetch_valid", 1, "One pulse a fetch, which has a credit.")
        .output("fetch_credit", 1, "One pulse a slot freed.")
        .input("fetch_key", "KEY_WIDTH", "")
        .input("fetch_mask", "MASK_WIDTH", "")
        .input("fetch_x", "X_WIDTH", "Column of the requester.")
        .input("fetch_y", "Y_WIDTH", "")
        .range("fetch_")
        .input("fetch_again", 1, "The tile has requested it before and does not have it yet.")
        .group("A fetch of this tile.")
        .input("own_fetch_valid", 1, "")
        .output("own_fetch_ready", 1, "")
        .input("own_fetch_key", "KEY_WIDTH", "")
        .input("own_fetch_mask", "MASK_WIDTH", "")
        .input("own_x", "X_WIDTH", "This tile.")
        .input("own_y", "Y_WIDTH", "")
        .range("own_fetch_")
        .input("own_fetch_again", 1, "")
        .fill()
        .patch(w)
        .claim()
        .publish()
        .next_burst(Dir::Output)
        .freed(Dir::Output)
        .group("A flit of a slice.")
        .output("m_valid", 1, "")
        .input("m_ready", 1, "")
        .output("m_key", "KEY_WIDTH", "")
        .output("m_index", "INDEX_WIDTH", "")
        .output("m_dest", "TILES", "")
        .output("m_mask", "MASK_WIDTH", "")
        .flit_way(Dir::Output, "m_")
        .output("m_data", "FLIT_WIDTH", "")
        .table_events()
        .output("event_park", 1, "A fetch waits for its slice.");
    if w.mare.dedup {
        b = b.filter_events();
    }
    let mut parts = vec![
        "meshkv_fifo",
        "meshkv_fetch_park",
        "meshkv_tile_decode",
        "meshkv_staging_directory",
        "meshkv_request_table",
    ];
    if w.mare.dedup {
        parts.push("meshkv_duplicate_filter");
    }
    parts.extend(["meshkv_burst_gate", "meshkv_slice_streamer", "meshkv_staging_memory"]);
    b.instances(&parts).build()
}

pub(in crate::emit::rtl) fn burst_gate(w: &MareParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_burst_gate",
        &[
            "Passes the chunk that is due on to the streamer burst by burst, each when all of it is here.",
            "",
            "The chunk stays due until its last burst is passed on, so bursts of a chunk follow one another.",
        ],
    )
    .tiles(w)
    .index_width(w)
    .burst_flits(w)
    .clocked()
    .group("The chunk that is due; its destinations come later.")
    .input("due_valid", 1, "There is one.")
    .input("s_valid", 1, "Its destinations are known.")
    .output("s_ready", 1, "It leaves.")
    .range("s_")
    .input("s_dest", "TILES", "")
    .group("The burst that is read next.")
    .output("stream_valid", 1, "")
    .output("stream_flit", "INDEX_WIDTH", "First flit that is read.")
    .input("stream_pending", 1, "Some of the burst is still to come.")
    .group("Part of the chunk within one burst.")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_first", "INDEX_WIDTH", "")
    .output("m_last", "INDEX_WIDTH", "")
    .build()
}

pub(in crate::emit::rtl) fn slice_streamer(w: &MareParams) -> ModuleSpec {
    let b = ModuleBuilder::new(
        Block::Mare,
        "meshkv_slice_streamer",
        &[
            "Reads chunks, or parts of them, from the staging memory and sends them, one flit a cycle.",
            "",
            "The next one is taken in the cycle of the previous one's last read.",
        ],
    )
    .mesh_params(&w.net)
    .tiles(w)
    .x_width(&w.net)
    .y_width(&w.net)
    .vn0_vcs(&w.net)
    .vcs(&w.net)
    .tag_width(w)
    .key_width(w)
    .index_width(w)
    .mask_width(w)
    .slot_width(w)
    .slice_flits(w)
    .addr_width(w)
    .flit_width(&w.net)
    .clocked()
    .coordinates()
    .scan()
    .group("A chunk.")
    .input("s_valid", 1, "")
    .output("s_ready", 1, "")
    .input("s_key", "KEY_WIDTH", "")
    .range("s_")
    .input("s_slot", "SLOT_WIDTH", "")
    .input("s_dest", "TILES", "Destinations; none: nothing is sent.")
    .input("s_mask", "MASK_WIDTH", "")
    .group("The staging memory: data comes two enabled cycles after its address.")
    .output("rd_en", 1, "")
    .output("rd_valid", 1, "The read is valid.")
    .output("rd_addr", "ADDR_WIDTH", "")
    .input("rd_data", "FLIT_WIDTH", "");
    let b = match w.append {
        true => b.input("patch_valid", 1, "Its reading port is used for a write."),
        false => b,
    };
    b.group("A flit.")
        .output("m_valid", 1, "")
        .input("m_ready", 1, "")
        .output("m_key", "KEY_WIDTH", "")
        .output("m_index", "INDEX_WIDTH", "")
        .output("m_dest", "TILES", "")
        .output("m_mask", "MASK_WIDTH", "")
        .flit_way(Dir::Output, "m_")
        .output("m_data", "FLIT_WIDTH", "")
        .instances(&["meshkv_flit_way"])
        .build()
}

pub(in crate::emit::rtl) fn fetch_park(w: &MareParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_fetch_park",
        &[
            "Buffer for fetches of slices that are not in the staging memory yet.",
            "",
            "No parked fetch blocks another: there is room for the one that each tile may have",
            "waiting, and repetitions are dropped.",
        ],
    )
    .param("WIDTH", w.fetch(), "Width of a fetch in bits.")
    .param("DEPTH", w.park(), "Fetches that can wait.")
    .clocked()
    .group("A fetch.")
    .input("s_valid", 1, "")
    .output("s_ready", 1, "Taken: passed on, parked, or dropped.")
    .input("s_data", "WIDTH", "The fetch; its top bit says that it repeats an earlier one.")
    .group("The fetch that is looked up; the directory answers in the next cycle.")
    .output("look_data", "WIDTH", "")
    .input("publish_valid", 1, "Another slice has become resident.")
    .group("The fetch that was looked up.")
    .input("resident", 1, "Its slice is in the staging memory.")
    .input("room", 1, "It can be passed on if it is looked up in this cycle.")
    .output("checked", 1, "There is one.")
    .output("m_valid", 1, "It is passed on: its slice is resident.")
    .output("m_data", "WIDTH", "")
    .group("Events.")
    .output("event_park", 1, "A fetch is parked.")
    .instances(&["meshkv_fifo"])
    .build()
}
