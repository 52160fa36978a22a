//! The port between a tile and its router.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::mare::params::MareParams;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn tile_port(w: &MareParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_tile_port",
        &[
            "Port between a tile and its router: arbitrates senders, selects virtual channels, loops back local flits.",
            "",
            "A router does not return a flit to its own tile, so flits between a tile's home and its own requester",
            "pass through here. Arriving data is taken at once, whatever else waits: the",
            "network never waits for a tile.",
        ],
    )
    .mesh_params(&w.net)
    .tiles(w)
    .x_width(&w.net)
    .y_width(&w.net)
    .vn0_vcs(&w.net)
    .vcs(&w.net)
    .slots(&w.net)
    .dest_width(&w.net)
    .head_width(&w.net)
    .flit_width(&w.net)
    .key_width(w)
    .index_width(w)
    .mask_width(w)
    .part_id_width(w)
    .sources(w)
    .clocked()
    .coordinates()
    .parts()
    .group("A fetch of the requester.")
    .input("fetch_valid", 1, "")
    .output("fetch_ready", 1, "")
    .input("fetch_key", "KEY_WIDTH", "")
    .input("fetch_mask", "MASK_WIDTH", "")
    .input("fetch_x", "X_WIDTH", "The home.")
    .input("fetch_y", "Y_WIDTH", "")
    .range("fetch_")
    .input("fetch_again", 1, "")
    .input("fetch_own", 1, "This tile is the home.")
    .group("The same fetch, where this tile is the home.")
    .output("own_valid", 1, "")
    .input("own_ready", 1, "")
    .group("A flit of the home.")
    .input("data_valid", 1, "")
    .output("data_ready", 1, "It has left for all destinations.")
    .input("data_key", "KEY_WIDTH", "")
    .input("data_index", "INDEX_WIDTH", "")
    .input("data_dest", "TILES", "")
    .input("data_mask", "MASK_WIDTH", "")
    .flit_way(Dir::Input, "data_")
    .input("data_data", "FLIT_WIDTH", "")
    .group("A flit for the requester.")
    .output("kv_valid", 1, "One pulse a flit.")
    .output("kv_key", "KEY_WIDTH", "")
    .output("kv_index", "INDEX_WIDTH", "")
    .output("kv_data", "FLIT_WIDTH", "")
    .group("A fetch for the home.")
    .output("home_valid", 1, "One pulse a fetch.")
    .input("home_credit", 1, "One pulse a slot freed.")
    .output("home_key", "KEY_WIDTH", "")
    .output("home_mask", "MASK_WIDTH", "")
    .output("home_x", "X_WIDTH", "Column of the requester.")
    .output("home_y", "Y_WIDTH", "")
    .output("home_first", "INDEX_WIDTH", "")
    .output("home_last", "INDEX_WIDTH", "")
    .output("home_again", 1, "")
    .router_link()
    .group("The home's use of the router's buffer.")
    .output("data_sent", 1, "A flit enters the buffer.")
    .output("data_credit", 2, "Number of slots freed.")
    .group("Events.")
    .output("event_keep", 1, "A flit stays in the tile.")
    .instances(&["meshkv_tile_decode", "meshkv_credit_counter"])
    .build()
}

pub(in crate::emit::rtl) fn tile_decode(w: &MareParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_tile_decode",
        &["Decodes a tile's coordinates to a one-hot set of tiles."],
    )
    .mesh_params(&w.net)
    .x_width(&w.net)
    .y_width(&w.net)
    .input("x", "X_WIDTH", "")
    .input("y", "Y_WIDTH", "")
    .output("tile", "COLS*ROWS", "One-hot: bit y * COLS + x.")
    .build()
}

pub(in crate::emit::rtl) fn flit_way(w: &MareParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_flit_way",
        &["Way of a flit of a slice out of its home: which virtual channel, into the tile, to the router, or both."],
    )
    .mesh_params(&w.net)
    .tiles(w)
    .x_width(&w.net)
    .y_width(&w.net)
    .vn0_vcs(&w.net)
    .vcs(&w.net)
    .tag_width(w)
    .coordinates()
    .input("tag", "TAG_WIDTH", "Tag of the slice.")
    .input("dest", "TILES", "Its destinations.")
    .flit_way(Dir::Output, "")
    .instances(&["meshkv_tile_decode"])
    .build()
}

impl ModuleBuilder {
    /// The way of a flit of a slice.
    pub(in crate::emit::rtl) fn flit_way(self, dir: Dir, prefix: &str) -> Self {
        self.port(dir, format!("{prefix}near"), 1, "This tile is a destination.")
            .port(dir, format!("{prefix}far"), 1, "Others are.")
            .port(dir, format!("{prefix}several"), 1, "There are several others.")
            .port(dir, format!("{prefix}vc"), "VCS", "One-hot: the virtual channel.")
    }
    /// Partial results to the reduce root and, at its tile, from all tiles.
    pub(in crate::emit::rtl) fn parts(self) -> Self {
        self.group("A flit of a partial result, for the reduce root of the column.")
            .input("part_valid", 1, "")
            .output("part_ready", 1, "")
            .input("part_first", 1, "First flit of its packet.")
            .input("part_last", 1, "Last flit of its packet.")
            .input("part_others", "Y_WIDTH", "Partial results of its head besides this one.")
            .input("part_id", "PART_ID_WIDTH", "{head, layer, stream}.")
            .input("part_data", "FLIT_WIDTH", "")
            .group("A flit of a partial result that has arrived; row 0 has the reduce roots.")
            .output(
                "root_valid",
                "SOURCES",
                "One-hot: its virtual channel; the last bit: it is of this tile.",
            )
            .input("root_credit", "SOURCES", "One pulse a flit that left the root's buffer of that source.")
            .output("root_first", 1, "")
            .output("root_last", 1, "")
            .output("root_others", "Y_WIDTH", "")
            .output("root_id", "PART_ID_WIDTH", "{head, layer, stream}.")
            .output("root_x", "X_WIDTH", "Column of the sender.")
            .output("root_y", "Y_WIDTH", "")
            .output("root_data", "FLIT_WIDTH", "")
    }
}
