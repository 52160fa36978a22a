//! The modules of a tile beside its home agent: requester, the port to the network, the tile, and
//! the fabric of all. Their bodies are templates; `docs/mare.md` has the reasons.

use super::module::{ModuleBuilder, ModuleSpec};
use super::tile_widths::{of_each, TileWidths, HOME_WIDTH};

/// Events a tile counts, in the order of `event_index`.
pub const TILE_EVENTS: [&str; 19] = [
    "fetches",
    "joins",
    "retries",
    "commands_waiting",
    "flits_taken",
    "duplicate_flits",
    "requests_opened",
    "requests_merged",
    "table_full_cycles",
    "chunks_looked_up",
    "bloom_positives",
    "bloom_false_positives",
    "exact_hits",
    "chunks_trimmed",
    "chunks_dropped",
    "tags_full",
    "flits_streamed",
    "stream_stalled",
    "flits_kept",
];

pub(super) fn tile_decode(w: &TileWidths) -> ModuleSpec {
    ModuleBuilder::new("meshkv_tile_decode", &["A tile's coordinates as one bit of all tiles."])
        .mesh_params(&w.net)
        .x_width(&w.net)
        .y_width(&w.net)
        .input("x", "X_WIDTH", "")
        .input("y", "Y_WIDTH", "")
        .output("tile", "COLS*ROWS", "One-hot: bit y * COLS + x.")
        .build()
}
pub(super) fn requester(w: &TileWidths) -> ModuleSpec {
    ModuleBuilder::new(
        "meshkv_requester",
        &[
            "Asks homes for slices, a range at a time, and hands on what comes, each flit once.",
            "",
            "Room in the FIFO is reserved before a fetch leaves, so whatever comes is taken at once. A head that",
            "asks for what is on its way joins, with a fetch of the same generation; when a flit of it has come, it",
            "is asked for anew with a generation that no home still remembers. What has not come for long is asked",
            "for again. A flit that no slot waits for is a duplicate and is dropped.",
        ],
    )
    .x_width(&w.net)
    .y_width(&w.net)
    .tag_width(w)
    .param("GEN_WIDTH", w.key - w.tag, "Width of a generation in bits.")
    .key_width(w)
    .index_width(w)
    .mask_width(w)
    .flit_width(&w.net)
    .fifo_depth(w)
    .fetch_slots("SLOTS", w)
    .fetch_history("HISTORY", w)
    .retry_ticks(w)
    .clocked()
    .input("tick", 1, "The last cycle of a period.")
    .command()
    .group("A fetch, to the network or to the home beside.")
    .output("fetch_valid", 1, "")
    .input("fetch_ready", 1, "")
    .output("fetch_key", "KEY_WIDTH", "")
    .output("fetch_mask", "MASK_WIDTH", "")
    .output("fetch_x", "X_WIDTH", "The home.")
    .output("fetch_y", "Y_WIDTH", "")
    .output("fetch_first", "INDEX_WIDTH", "")
    .output("fetch_last", "INDEX_WIDTH", "")
    .output("fetch_again", 1, "It was asked for before.")
    .group("A flit that comes; it is always taken.")
    .input("rx_valid", 1, "One pulse a flit.")
    .input("rx_key", "KEY_WIDTH", "")
    .input("rx_index", "INDEX_WIDTH", "")
    .input("rx_data", "FLIT_WIDTH", "")
    .slice_out("")
    .group("To be counted, one pulse each.")
    .output("event_fetch", 1, "A range is asked for anew.")
    .output("event_join", 1, "A head joins what is on its way.")
    .output("event_retry", 1, "A range is asked for again after a time-out.")
    .output("event_wait", 1, "A command waits.")
    .output("event_flit", 1, "A flit is taken into the FIFO.")
    .output("event_duplicate", 1, "A flit is dropped.")
    .instances(&["meshkv_fifo"])
    .build()
}

/// The tile's side that computes: what it asks for and what it gets.
impl ModuleBuilder {
    fn command(self) -> Self {
        self.group("A command: fetch a range of a slice.")
            .input("cmd_valid", 1, "")
            .output("cmd_ready", 1, "")
            .input("cmd_tag", "TAG_WIDTH", "")
            .input("cmd_x", "X_WIDTH", "The slice's home.")
            .input("cmd_y", "Y_WIDTH", "")
            .input("cmd_mask", "MASK_WIDTH", "Heads that want it.")
            .range("cmd_")
    }
    fn slice_out(self, times: &str) -> Self {
        let w = of_each(times);
        self.group("What was asked for, in order within a range.")
            .output("kv_valid", w("1").as_str(), "")
            .input("kv_ready", w("1").as_str(), "")
            .output("kv_tag", w("TAG_WIDTH").as_str(), "")
            .output("kv_index", w("INDEX_WIDTH").as_str(), "")
            .output("kv_mask", w("MASK_WIDTH").as_str(), "Heads of this tile that want it.")
            .output("kv_data", w("FLIT_WIDTH").as_str(), "")
    }
}

pub(super) fn tile_port(w: &TileWidths) -> ModuleSpec {
    ModuleBuilder::new(
        "meshkv_tile_port",
        &[
            "Between a tile and its router: who sends, on which virtual channel, and what stays inside.",
            "",
            "A router does not turn a flit back to its own tile, so what a home sends its own requester, and",
            "what that asks of it, passes here. Data that comes is taken at once, whatever else waits: the",
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
    .tag_width(w)
    .key_width(w)
    .index_width(w)
    .mask_width(w)
    .clocked()
    .coordinates()
    .group("A fetch of the requester.")
    .input("fetch_valid", 1, "")
    .output("fetch_ready", 1, "")
    .input("fetch_key", "KEY_WIDTH", "")
    .input("fetch_mask", "MASK_WIDTH", "")
    .input("fetch_x", "X_WIDTH", "The home.")
    .input("fetch_y", "Y_WIDTH", "")
    .range("fetch_")
    .input("fetch_again", 1, "")
    .group("The same fetch, where this tile is the home.")
    .output("own_valid", 1, "")
    .input("own_ready", 1, "")
    .group("A flit of the home.")
    .input("data_valid", 1, "")
    .output("data_ready", 1, "It has left for all its destinations.")
    .input("data_key", "KEY_WIDTH", "")
    .input("data_index", "INDEX_WIDTH", "")
    .input("data_dest", "TILES", "")
    .input("data_mask", "MASK_WIDTH", "")
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
    .output("home_x", "X_WIDTH", "Who asks.")
    .output("home_y", "Y_WIDTH", "")
    .output("home_first", "INDEX_WIDTH", "")
    .output("home_last", "INDEX_WIDTH", "")
    .output("home_again", 1, "")
    .router_link()
    .group("To be counted.")
    .output("event_keep", 1, "A flit stays in the tile.")
    .instances(&["meshkv_tile_decode", "meshkv_credit_counter", "meshkv_arbiter2"])
    .build()
}

pub(super) fn tile(w: &TileWidths) -> ModuleSpec {
    let b = ModuleBuilder::new(
        "meshkv_tile",
        &[
            "A tile beside its router: requester, home agent, and the port to the network.",
            "",
            "Coordinates are ports, so all tiles elaborate alike. Periods are counted in every tile by itself",
            "and are the same in all, since all leave reset together.",
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
    .clocked()
    .coordinates();
    tile_side(b, "")
        .router_link()
        .group("For counters and diagnosis.")
        .output("event_index", 5, "The counter that is shown.")
        .output("event_data", 32, "Its total.")
        .instances(&["meshkv_requester", "meshkv_home_agent", "meshkv_tile_port", "meshkv_event_counters"])
        .build()
}

/// What a tile shows its compute and its memory; `times` multiplies every width.
fn tile_side(b: ModuleBuilder, times: &str) -> ModuleBuilder {
    let w = of_each(times);
    b.group("A command: fetch a range of a slice.")
        .input("cmd_valid", w("1").as_str(), "")
        .output("cmd_ready", w("1").as_str(), "")
        .input("cmd_tag", w("TAG_WIDTH").as_str(), "")
        .input("cmd_home", w(HOME_WIDTH).as_str(), "The slice's home, {y, x}.")
        .input("cmd_mask", w("MASK_WIDTH").as_str(), "Heads that want it.")
        .input("cmd_first", w("INDEX_WIDTH").as_str(), "First flit of the range; begins a chunk.")
        .input("cmd_last", w("INDEX_WIDTH").as_str(), "Last flit of the range.")
        .slice_out(times)
        .fill(times)
        .publish(times)
        .release(times)
}

pub(super) fn fabric(w: &TileWidths) -> ModuleSpec {
    let b = ModuleBuilder::new(
        "meshkv_fabric",
        &[
            "The fabric: the mesh of routers and a tile at each.",
            "",
            "Tile t = y * COLS + x; its part of a packed port is the t-th. What a tile computes with and what",
            "fills its memory attach to the ports.",
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
    .column_dest_width(&w.net)
    .head_width(&w.net)
    .flit_width(&w.net)
    .starve_limit()
    .tile_params(w)
    .clocked();
    tile_side(b, "TILES*")
        .group("For counters and diagnosis.")
        .output("vc_busy", "TILES*5*VCS", "A flit waits; bit (tile * 5 + port) * VCS + v.")
        .output("stat_index", 5, "The link counter that every router shows.")
        .output("stat_data", "TILES*32", "")
        .output("event_index", 5, "The counter that every tile shows.")
        .output("event_data", "TILES*32", "")
        .instances(&["meshkv_mesh", "meshkv_tile"])
        .build()
}
