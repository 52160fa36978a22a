//! Turns at one output: which class sends, and which input of that class.

use crate::design::index_bits;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::network::params::NetworkParams;

impl ModuleBuilder {
    /// Width of a number of tiles.
    fn turn_width(self, w: &NetworkParams) -> Self {
        let width = index_bits(w.rows).max(index_bits(w.cols));
        self.param("WIDTH", width, "Width of a number of tiles in bits.")
    }

    /// Width of a share of straight flits, which is at most twice a number of tiles.
    fn share_width(self, w: &NetworkParams) -> Self {
        let width = index_bits(w.rows).max(index_bits(w.cols)) + 1;
        self.param("SHARE_WIDTH", width, "Width of a share of straight flits: WIDTH + 1.")
    }
}

pub(in crate::emit::rtl) fn class_turn(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_class_turn",
        &[
            "Chooses the kind of flit that an output sends.",
            "",
            "What is scarce is the credit of a virtual channel, so classes take turns before inputs do. A class",
            "that wins against another goes last; one without a rival changes nothing.",
        ],
    )
    .clocked()
    .input("ask", w.kinds, w.kind_names())
    .output("send", w.kinds, "One-hot, or none if nothing asks.")
    .output("block", w.kinds, "A kind that goes before this one asks.")
    .build()
}

pub(in crate::emit::rtl) fn shared_turn(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_shared_turn",
        &[
            "Shares wins between two sides: while both ask, each wins its share in turn.",
            "",
            "Wins are counted, not cycles, so that the period of returning credits cannot lock out a side.",
        ],
    )
    .turn_width(w)
    .clocked()
    .input("asks", 1, "The first side asks.")
    .input("rivals", 1, "The second side asks.")
    .input("used", 1, "The winner is granted.")
    .input("share", "WIDTH", "Wins of the first side in its turn.")
    .input("rival_share", "WIDTH", "Wins of the second side in its turn.")
    .output("first", 1, "The first side wins.")
    .output("rival_turn", 1, "If both sides ask, the second wins.")
    .build()
}

pub(in crate::emit::rtl) fn straight_turn(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_straight_turn",
        &[
            "Shares wins between straight flits and those that join: share of the first for one of the others.",
            "",
            "Each win of those that join begins a new round. Wins are counted, not cycles.",
        ],
    )
    .turn_width(w)
    .clocked()
    .input("asks", 1, "A straight flit asks.")
    .input("rivals", 1, "A flit that joins asks.")
    .input("used", 1, "The winner is granted.")
    .input("share", "WIDTH", "Wins of straight flits in a round.")
    .output("straight", 1, "The straight flit wins.")
    .output("spent_turn", 1, "If others ask, the straight flit loses.")
    .build()
}

pub(in crate::emit::rtl) fn column_turns(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_column_turns",
        &["Turns of one class at the output north or south, by the tiles behind each input."],
    )
    .turn_width(w)
    .share_width(w)
    .clocked()
    .input("request", 4, "{tile, west, east, straight}.")
    .input("used", 1, "The class sends in this cycle.")
    .input("share", "SHARE_WIDTH", "Straight flits for one that joins here.")
    .input("tiles_e", "WIDTH", "Tiles to the east.")
    .input("tiles_w", "WIDTH", "Tiles to the west.")
    .input("tiles_row", "WIDTH", "Both together.")
    .output("grant", 4, "One-hot, or none if nothing asks.")
    .instances(&["meshkv_straight_turn", "meshkv_shared_turn"])
    .build()
}

pub(in crate::emit::rtl) fn tile_turns(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_tile_turns",
        &["Turns of one class at the output to the tile, by the tiles behind each input."],
    )
    .turn_width(w)
    .clocked()
    .input("request", 4, "{west, east, south, north}.")
    .input("used", 1, "The class sends in this cycle.")
    .input("tiles_n", "WIDTH", "Tiles to the north.")
    .input("tiles_s", "WIDTH", "Tiles to the south.")
    .input("tiles_column", "WIDTH", "Both together.")
    .input("tiles_e", "WIDTH", "Tiles to the east.")
    .input("tiles_w", "WIDTH", "Tiles to the west.")
    .output("grant", 4, "One-hot, or none if nothing asks.")
    .instances(&["meshkv_shared_turn"])
    .build()
}

pub(in crate::emit::rtl) fn column_output(w: &NetworkParams) -> ModuleSpec {
    straight(
        ModuleBuilder::new(
            Block::Network,
            "meshkv_column_output",
            &[
                "Decides the output north or south: first the class, then the input.",
                "",
                "All classes choose their input side by side while the class is chosen.",
            ],
        )
        .turn_width(w)
        .clocked(),
    )
    .input("tiles_e", "WIDTH", "Tiles to the east.")
    .input("tiles_w", "WIDTH", "Tiles to the west.")
    .input("tiles_row", "WIDTH", "Both together.")
    .group(w.kind_names())
    .input("want_straight", w.kinds, "")
    .input("want_e", w.kinds, "")
    .input("want_w", w.kinds, "")
    .input("want_l", w.kinds, "")
    .output("won_straight", w.kinds, "")
    .output("won_e", w.kinds, "")
    .output("won_w", w.kinds, "")
    .output("won_l", w.kinds, "")
    .instances(if w.staged {
        &["meshkv_straight_share", "meshkv_class_turn", "meshkv_column_turns"]
    } else {
        &["meshkv_straight_share", "meshkv_class_turn", "meshkv_column_turns", "meshkv_arbiter4"]
    })
    .build()
}

pub(in crate::emit::rtl) fn row_output(w: &NetworkParams) -> ModuleSpec {
    straight(
        ModuleBuilder::new(
            Block::Network,
            "meshkv_row_output",
            &["Decides the output east or west: first the class, then straight flits or the tile's."],
        )
        .turn_width(w)
        .clocked(),
    )
    .group(w.kind_names())
    .input("want_straight", w.kinds, "")
    .input("want_l", w.kinds, "")
    .output("won_straight", w.kinds, "")
    .output("won_l", w.kinds, "")
    .instances(if w.staged {
        &["meshkv_straight_share", "meshkv_class_turn", "meshkv_straight_turn"]
    } else {
        &["meshkv_straight_share", "meshkv_class_turn", "meshkv_straight_turn", "meshkv_arbiter2"]
    })
    .build()
}

pub(in crate::emit::rtl) fn tile_output(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_tile_output",
        &["Decides the output to the tile: first the class, then the input."],
    )
    .turn_width(w)
    .clocked()
    .input("tiles_n", "WIDTH", "Tiles to the north.")
    .input("tiles_s", "WIDTH", "Tiles to the south.")
    .input("tiles_column", "WIDTH", "Both together.")
    .input("tiles_e", "WIDTH", "Tiles to the east.")
    .input("tiles_w", "WIDTH", "Tiles to the west.")
    .group(w.kind_names())
    .input("want_n", w.kinds, "")
    .input("want_s", w.kinds, "")
    .input("want_e", w.kinds, "")
    .input("want_w", w.kinds, "")
    .output("won_n", w.kinds, "")
    .output("won_s", w.kinds, "")
    .output("won_e", w.kinds, "")
    .output("won_w", w.kinds, "")
    .instances(if w.staged {
        &["meshkv_class_turn", "meshkv_tile_turns"]
    } else {
        &["meshkv_class_turn", "meshkv_tile_turns", "meshkv_arbiter4"]
    })
    .build()
}

pub(in crate::emit::rtl) fn straight_share(w: &NetworkParams) -> ModuleSpec {
    straight(ModuleBuilder::new(
        Block::Network,
        "meshkv_straight_share",
        &[
            "Gives straight flits their share at an output, by class.",
            "",
            "They have a share for each tile behind them, but only while they are backed up: else plain turns",
            "cost least latency. A flit with several destinations is as slow as the slowest of its copies, so",
            "it gets twice as much.",
        ],
    )
    .turn_width(w)
        .share_width(w))
    .group("Straight flits for one that joins here.")
    .output("first_share", "SHARE_WIDTH", "First flits of PART packets.")
    .output("fetch_share", "SHARE_WIDTH", "KV_FETCH.")
    .output("data_share", "SHARE_WIDTH", "KV_DATA.")
    .build()
}

/// What decides the share of straight flits.
fn straight(b: ModuleBuilder) -> ModuleBuilder {
    b.input("behind", "WIDTH", "Tiles behind the straight flits.")
        .input("full", 3, "Their buffers are at least half full: {KV_DATA, KV_FETCH, PART}.")
        .input("several", 1, "The straight KV_DATA flit has several destinations.")
}
