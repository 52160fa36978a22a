//! The modules that bring slices from their homes: requester, the port to the network, and the
//! transport that joins them with the home agent. Their bodies are templates; `docs/mare.md` has the reasons.

use super::block::Block;
use super::module::{Dir, ModuleBuilder, ModuleSpec};
use super::tile_widths::{TileWidths, HOME_WIDTH};

/// Events a tile counts, in the order of `event_index`.
pub const TILE_EVENTS: [&str; 23] = [
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
    "fetches_parked",
    "flits_filled",
    "slices_filled",
    "fill_waiting",
];

/// Events of those that are counted for what stands beside the transport: the last ones.
pub(super) const OUTSIDE_EVENTS: u32 = 3;

pub(super) fn tile_decode(w: &TileWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Mare, "meshkv_tile_decode", &["A tile's coordinates as one bit of all tiles."])
        .mesh_params(&w.net)
        .x_width(&w.net)
        .y_width(&w.net)
        .input("x", "X_WIDTH", "")
        .input("y", "Y_WIDTH", "")
        .output("tile", "COLS*ROWS", "One-hot: bit y * COLS + x.")
        .build()
}
pub(super) fn requester(w: &TileWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Mare, "meshkv_requester",
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
    .chunk_flits(w)
    .fifo_depth(w)
    .fetch_slots("SLOTS", w)
    .fetch_history("HISTORY", w)
    .retry_ticks(w)
    .fifo_pointers(w)
    .clocked()
    .compute_clocked()
    .input("tick", 1, "The last cycle of a period.")
    .command()
    .input("cmd_patient", 1, "It is not asked for again before some of it has come: its slice may be missing for long.")
    .output("tag_busy", 1, "Some of the command's slice is on its way.")
    .group("A flit that was awaited has come.")
    .output("came_valid", 1, "One pulse a flit.")
    .output("came_tag", "TAG_WIDTH", "")
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
    .slice_out()
    .group("To be counted, one pulse each.")
    .output("event_fetch", 1, "A range is asked for anew.")
    .output("event_join", 1, "A head joins what is on its way.")
    .output("event_retry", 1, "A range is asked for again after a time-out.")
    .output("event_wait", 1, "A command waits.")
    .output("event_flit", 1, "A flit is taken into the FIFO.")
    .output("event_duplicate", 1, "A flit is dropped.")
    .compute_idle(w)
    .instances(if w.overlap { &["meshkv_reorder_fifo"] } else { &["meshkv_reorder_fifo", "meshkv_synchronizer"] })
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
    pub(super) fn slice_out(self) -> Self {
        self.group("What was asked for, in the order in which it was; in the clock of what computes.")
            .output("kv_valid", 1, "")
            .input("kv_ready", 1, "")
            .output("kv_tag", "TAG_WIDTH", "Which slice.")
            .output("kv_index", "INDEX_WIDTH", "Position in the slice.")
            .output("kv_mask", "MASK_WIDTH", "Heads of this tile that want it.")
            .output("kv_data", "FLIT_WIDTH", "")
    }
    /// Partial results, out to the reduce root and, where this is its tile, in from all.
    fn parts(self) -> Self {
        self.group("A flit of a partial result, for the reduce root of the column.")
            .input("part_valid", 1, "")
            .output("part_ready", 1, "")
            .input("part_first", 1, "First flit of its packet.")
            .input("part_last", 1, "Last flit of its packet.")
            .input("part_alone", 1, "It is the only one of its head.")
            .input("part_id", "PART_ID_WIDTH", "Whose it is: {head, layer, stream}.")
            .input("part_data", "FLIT_WIDTH", "")
            .group("A flit of a partial result that has arrived; row 0 has the reduce roots.")
            .output("root_valid", "SOURCES", "One-hot: its virtual channel, or last that it is of this tile.")
            .input(
                "root_credit",
                "SOURCES",
                "One pulse a flit that has left the root's buffer of that source.",
            )
            .output("root_first", 1, "")
            .output("root_last", 1, "")
            .output("root_alone", 1, "")
            .output("root_id", "PART_ID_WIDTH", "Whose it is: {head, layer, stream}.")
            .output("root_x", "X_WIDTH", "Who sent it.")
            .output("root_y", "Y_WIDTH", "")
            .output("root_data", "FLIT_WIDTH", "")
    }
}

pub(super) fn tile_port(w: &TileWidths) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
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
    .group("What a home has in the router's buffer.")
    .output("data_sent", 1, "A flit goes there.")
    .output("data_credit", 1, "A slot is free again.")
    .group("To be counted.")
    .output("event_keep", 1, "A flit stays in the tile.")
    .instances(&["meshkv_tile_decode", "meshkv_credit_counter", "meshkv_arbiter2"])
    .build()
}

pub(super) fn transport(w: &TileWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Mare, "meshkv_transport",
        &[
            "How slices come and go at a tile: requester, home agent, and the port to the network.",
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
    .part_id_width(w)
    .param("NUM_EVENTS", TILE_EVENTS.len() as u32, "Events that a tile counts.")
    .param("OUTSIDE_EVENTS", OUTSIDE_EVENTS, "Of them those of what stands beside this.")
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
    .input("cmd_mask", "MASK_WIDTH", "Heads that want it.")
    .input("cmd_first", "INDEX_WIDTH", "First flit of the range; begins a chunk.")
    .input("cmd_last", "INDEX_WIDTH", "Last flit of the range.")
    .input("cmd_patient", 1, "It is not asked for again before some of it has come: its slice may be missing for long.")
    .output("cmd_tag_busy", 1, "Some of the command's slice is on its way.")
    .output("cmd_came_valid", 1, "A flit that was awaited has come.")
    .output("cmd_came_tag", "TAG_WIDTH", "")
    .slice_out()
    .fill()
    .claim()
    .publish()
    .freed(Dir::Output)
    .parts()
    .router_link()
    .group("What a home has in the router's buffer.")
    .output("data_sent", 1, "A flit goes there.")
    .output("data_credit", 1, "A slot is free again.")
    .group("For counters and diagnosis.")
    .input("event_outside", "OUTSIDE_EVENTS", "Events of what stands beside this, one pulse each.")
    .output("event_index", 5, "The counter that is shown.")
    .output("event_data", 32, "Its total.")
    .instances(&["meshkv_requester", "meshkv_home_agent", "meshkv_tile_port", "meshkv_event_counters"])
    .build()
}
