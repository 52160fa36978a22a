//! The modules of a home agent: request table, duplicate filter, streamer, staging memory.
//!
//! Their bodies are templates; `docs/mare.md` has the reasons.

use super::block::Block;
use super::module::{Dir, ModuleBuilder, ModuleSpec};
use super::tile_widths::TileWidths;

pub(super) fn request_table(w: &TileWidths) -> ModuleSpec {
    let mut b = ModuleBuilder::new(Block::Mare, "meshkv_request_table",
        &[
            "Requests that a home has under way: coalescing, and who is next.",
            "",
            "The first fetch for a range opens a request. Fetches for the same range and generation that come",
            "while its window is open join it: their destinations and head masks are merged. The window is open",
            "for its time, and on until the home has time for it. Then the tree is built and the chunks leave,",
            "requests in turns. All that is asked for is there. A fetch that finds the table full waits.",
        ],
    )
    .tiles(w)
    .key_width(w)
    .index_width(w)
    .mask_width(w)
    .chunk_flits(w)
    .slot_width(w)
    .request_entries("ENTRIES", w);
    if w.mare.coalesce_window > 0 || w.mare.dedup {
        b = b.tag_width(w);
    }
    if w.mare.coalesce_window + w.mare.tree_build_cycles > 0 {
        b = b
            .param("TOTAL", w.mare.coalesce_window + w.mare.tree_build_cycles, "Cycles of window and tree.")
            .param("TREE", w.mare.tree_build_cycles, "Cycles it takes to build a tree.")
            .param("CLOSING", w.mare.tree_build_cycles + 1, "TREE + 1: the last cycle of a window.")
            .param("COUNT_WIDTH", w.count(), "Width of their counter in bits.");
    }
    b.clocked()
        .group("A fetch.")
        .input("s_valid", 1, "")
        .output("s_ready", 1, "It joins a request or opens one.")
        .input("s_key", "KEY_WIDTH", "")
        .range("s_")
        .input("s_again", 1, "The tile has asked for it before and has it not yet.")
        .input("s_tile", "TILES", "One-hot: who asks.")
        .input("s_mask", "MASK_WIDTH", "Heads that wait for it.")
        .input("s_slot", "SLOT_WIDTH", "Where the slice is.")
        .scan()
        .group("One chunk that is due.")
        .output("m_valid", 1, "")
        .input("m_ready", 1, "")
        .output("m_key", "KEY_WIDTH", "")
        .output("m_first", "INDEX_WIDTH", "First flit of the chunk.")
        .output("m_last", "INDEX_WIDTH", "Its last flit.")
        .output("m_slot", "SLOT_WIDTH", "")
        .output("m_dest", "TILES", "Tiles that asked for it.")
        .output("m_mask", "MASK_WIDTH", "Heads of all of them.")
        .output("m_again", 1, "One of them has asked before.")
        .table_events()
        .build()
}

pub(super) fn bloom_filter(w: &TileWidths) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_bloom_filter",
        &[
            "Bloom filter of two hash functions and two banks.",
            "",
            "A key that was inserted in this period or the one before is always seen; another is seen by",
            "chance. A bank is cleared as a whole, when the period begins that will fill it.",
        ],
    )
    .param("BITS", w.mare.bloom_bits, "Bits of one bank, half for each hash function.")
    .hash_width(w)
    .param("KEY_WIDTH", w.name(), "Width of a key in bits.")
    .clocked()
    .input("key", "KEY_WIDTH", "What is looked up and, with insert, remembered.")
    .output("seen", 1, "It may have been inserted; if not seen, it was not.")
    .input("insert", 1, "The key is remembered.")
    .input("tick", 1, "The last cycle of a period.")
    .input("period", 1, "Parity of the period: the bank that is filled.")
    .build()
}

pub(super) fn duplicate_filter(w: &TileWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Mare, "meshkv_duplicate_filter",
        &[
            "Takes out of a chunk's destinations those that have been sent it already.",
            "",
            "All that is ever sent of a slice enters the network here, at its home, so what this filter has",
            "not let through twice no router sees twice. A destination is taken out only on a hit of the whole",
            "tag, generation and chunk; where no tag is free, the chunk is sent and not remembered.",
        ],
    )
    .tiles(w)
    .key_width(w)
    .index_width(w)
    .chunk_flits(w)
    .bloom(w)
    .tag_entries("ENTRIES", w)
    .clocked()
    .input("tick", 1, "The last cycle of a period.")
    .input("period", 1, "Parity of the period.")
    .group("A chunk, held until it is taken.")
    .input("s_valid", 1, "")
    .output("s_ready", 1, "The chunk is taken, together with its answer.")
    .input("s_key", "KEY_WIDTH", "")
    .input("s_first", "INDEX_WIDTH", "")
    .input("s_dest", "TILES", "")
    .input("s_again", 1, "One of the destinations has asked before: nothing is remembered of it.")
    .group("Who is left.")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_dest", "TILES", "None: the chunk need not be sent.")
    .group("To be counted, one pulse each.")
    .filter_events()
    .instances(&["meshkv_bloom_filter"])
    .build()
}

pub(super) fn slice_streamer(w: &TileWidths) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_slice_streamer",
        &[
            "Reads chunks from the staging memory and sends them, a flit a cycle.",
            "",
            "The next chunk is taken in the cycle in which the last flit of the one before is asked for.",
        ],
    )
    .tiles(w)
    .key_width(w)
    .index_width(w)
    .mask_width(w)
    .slot_width(w)
    .slice_flits(w)
    .addr_width(w)
    .flit_width(&w.net)
    .clocked()
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
    .output("rd_valid", 1, "There is something to read.")
    .output("rd_addr", "ADDR_WIDTH", "")
    .input("rd_data", "FLIT_WIDTH", "")
    .group("A flit.")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_key", "KEY_WIDTH", "")
    .output("m_index", "INDEX_WIDTH", "")
    .output("m_dest", "TILES", "")
    .output("m_mask", "MASK_WIDTH", "")
    .output("m_data", "FLIT_WIDTH", "")
    .build()
}

pub(super) fn staging_memory(w: &TileWidths) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_staging_memory",
        &["Staging memory of a tile: one port fills it while the other is read."],
    )
    .staging_depth("DEPTH", w)
    .addr_width(w)
    .flit_width(&w.net)
    .input("clk", 1, "")
    .input("wr_en", 1, "")
    .input("wr_addr", "ADDR_WIDTH", "")
    .input("wr_data", "FLIT_WIDTH", "")
    .input("rd_en", 1, "Both stages of the read move on.")
    .input("rd_valid", 1, "There is something to read; never what is written in the same cycle.")
    .input("rd_addr", "ADDR_WIDTH", "")
    .output("rd_data", "FLIT_WIDTH", "What was asked for two enabled cycles before.")
    .build()
}

pub(super) fn staging_directory(w: &TileWidths) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_staging_directory",
        &[
            "Which slices the staging memory holds, where, and when they have been served.",
            "",
            "A slot is freed when as many tiles as were expected have asked for its last flit and nothing of",
            "it is left to be sent. A slice that nobody is expected for stays.",
        ],
    )
    .tag_width(w)
    .index_width(w)
    .expected_width(w)
    .staging_slots("SLOTS", w)
    .slot_width(w)
    .clocked()
    .claim()
    .publish()
    .group("Look-up, in the same cycle.")
    .input("tag", "TAG_WIDTH", "The slice.")
    .input("again", 1, "By a tile that has asked for it before.")
    .output("resident", 1, "It is in the staging memory, and not only what is left of being served.")
    .output("slot", "SLOT_WIDTH", "Where.")
    .input("asked_valid", 1, "What is looked up is asked for, by a tile for the first time.")
    .input("asked_flit", "INDEX_WIDTH", "Its last flit.")
    .group("Whether anything of a slot is still to be sent.")
    .output("scan", "SLOT_WIDTH", "The slot that is asked about.")
    .input("scan_busy", 1, "Something of it is still to be sent.")
    .freed(Dir::Output)
    .build()
}

pub(super) fn fetch_park(w: &TileWidths) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_fetch_park",
        &[
            "Where fetches wait for slices that are not in the staging memory yet.",
            "",
            "So none of them stands in the way of another: there is room for the one that each tile may have",
            "waiting, and what repeats it may be forgotten.",
        ],
    )
    .param("WIDTH", w.fetch(), "Width of a fetch in bits.")
    .param("DEPTH", w.park(), "Fetches that can wait.")
    .param("FIRSTS", w.tiles(), "Of them those that repeat nothing, one a tile.")
    .clocked()
    .group("A fetch.")
    .input("s_valid", 1, "")
    .output("s_ready", 1, "It is taken: asked of the table, parked, or forgotten.")
    .input("s_data", "WIDTH", "The fetch.")
    .input("s_again", 1, "It repeats another.")
    .group("What is looked at, and whether its slice is there.")
    .output("m_valid", 1, "It is there.")
    .input("m_ready", 1, "")
    .output("m_data", "WIDTH", "The fetch.")
    .input("resident", 1, "Its slice is in the staging memory.")
    .input("publish_valid", 1, "Another slice has become resident.")
    .group("To be counted.")
    .output("event_park", 1, "A fetch is parked.")
    .instances(&["meshkv_fifo"])
    .build()
}

pub(super) fn home_agent(w: &TileWidths) -> ModuleSpec {
    let mut b = ModuleBuilder::new(Block::Mare, "meshkv_home_agent",
        &[
            "Home of the slices in this tile's staging memory: fetches in, slices out.",
            "",
            "Fetches for slices that are not there yet are parked; the others are merged in the request table.",
            "What is due passes the duplicate filter, is read, and leaves with the set of tiles that asked for it.",
        ],
    )
    .mesh_params(&w.net)
    .tiles(w)
    .x_width(&w.net)
    .y_width(&w.net)
    .tag_width(w)
    .key_width(w)
    .index_width(w)
    .mask_width(w)
    .flit_width(&w.net)
    .vc_depth(w)
    .slice_flits(w)
    .chunk_flits(w);
    if w.mare.dedup {
        b = b.bloom(w).tag_entries("TAG_ENTRIES", w);
    }
    b = b
        .request_entries("REQUEST_ENTRIES", w)
        .park_depth(w)
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
        .input("fetch_valid", 1, "One pulse a fetch; there is a credit for it.")
        .output("fetch_credit", 1, "One pulse a slot freed.")
        .input("fetch_key", "KEY_WIDTH", "")
        .input("fetch_mask", "MASK_WIDTH", "")
        .input("fetch_x", "X_WIDTH", "Who asks.")
        .input("fetch_y", "Y_WIDTH", "")
        .range("fetch_")
        .input("fetch_again", 1, "The tile has asked for it before and has it not yet.")
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
        .claim()
        .publish()
        .freed(Dir::Output)
        .group("A flit of a slice.")
        .output("m_valid", 1, "")
        .input("m_ready", 1, "")
        .output("m_key", "KEY_WIDTH", "")
        .output("m_index", "INDEX_WIDTH", "")
        .output("m_dest", "TILES", "")
        .output("m_mask", "MASK_WIDTH", "")
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
    parts.extend(["meshkv_slice_streamer", "meshkv_staging_memory"]);
    b.instances(&parts).build()
}
