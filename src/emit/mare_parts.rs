//! The modules of a tile beside its router: home agent, duplicate filter, requester, and the
//! port between them and the network. Their bodies are templates; `docs/mare.md` has the reasons.

use super::hash;
use super::module::{ModuleBuilder, ModuleSpec};
use super::router_parts::Widths;
use crate::design::{index_bits, Design, Mare};

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

/// Parameter values of the tile's modules.
pub(super) struct TileWidths {
    pub(super) net: Widths,
    tag: u32,
    key: u32,
    index: u32,
    mask: u32,
    mare: Mare,
}

impl TileWidths {
    pub(super) fn of(design: &Design) -> TileWidths {
        TileWidths {
            net: Widths::of(design),
            tag: design.flit.tag_width(),
            key: design.flit.key_width(),
            index: design.flit.index_width(),
            mask: design.flit.mask_width(),
            mare: design.mare,
        }
    }

    fn tiles(&self) -> u32 {
        self.net.cols * self.net.rows
    }

    fn slot(&self) -> u32 {
        index_bits(self.mare.staging_slots)
    }

    fn addr(&self) -> u32 {
        index_bits(self.mare.staging_depth)
    }

    /// Bits of one hash: it addresses half a bank.
    pub(super) fn hash(&self) -> u32 {
        (self.mare.bloom_bits / 2).ilog2()
    }

    /// Bits of what is looked up: a key and the first flit of a chunk.
    fn name(&self) -> u32 {
        self.key + self.index
    }

    /// The random matrices of the two hash functions, as Verilog literals.
    pub(super) fn hash_rows(&self) -> [String; 2] {
        [1, 2].map(|seed| hash::matrix_literal(seed, self.hash(), self.name()))
    }

    /// Bits of the counter of a request's window and tree.
    fn count(&self) -> u32 {
        index_bits(self.mare.coalesce_window + self.mare.tree_build_cycles + 2)
    }
}

/// Parameters that repeat from module to module, each described once.
impl ModuleBuilder {
    fn tiles(self, w: &TileWidths) -> Self {
        self.param("TILES", w.tiles(), "Tiles of the fabric.")
    }
    fn tag_width(self, w: &TileWidths) -> Self {
        self.param("TAG_WIDTH", w.tag, "Width of a tag (stream, layer, segment, slice) in bits.")
    }
    fn key_width(self, w: &TileWidths) -> Self {
        self.param("KEY_WIDTH", w.key, "Width of a tag with its generation above it, in bits.")
    }
    fn index_width(self, w: &TileWidths) -> Self {
        self.param("INDEX_WIDTH", w.index, "Width of a flit's position in its slice in bits.")
    }
    fn mask_width(self, w: &TileWidths) -> Self {
        self.param("MASK_WIDTH", w.mask, "Width of a head mask in bits.")
    }
    fn slice_flits(self, w: &TileWidths) -> Self {
        self.param("SLICE_FLITS", w.mare.slice_flits, "Flits of a slice.")
    }
    fn chunk_flits(self, w: &TileWidths) -> Self {
        self.param(
            "CHUNK_FLITS",
            w.mare.chunk_flits,
            "Flits of a chunk, a power of two; ranges begin with one.",
        )
    }
    fn slot_width(self, w: &TileWidths) -> Self {
        self.param("SLOT_WIDTH", w.slot(), "Width of a slot number of the staging memory in bits.")
    }
    fn addr_width(self, w: &TileWidths) -> Self {
        self.param("ADDR_WIDTH", w.addr(), "Width of an address of the staging memory in bits.")
    }
    fn staging_depth(self, name: &'static str, w: &TileWidths) -> Self {
        self.param(name, w.mare.staging_depth, "Flits of the staging memory.")
    }
    fn staging_slots(self, name: &'static str, w: &TileWidths) -> Self {
        self.param(name, w.mare.staging_slots, "Slices the staging memory holds.")
    }
    fn bloom(self, w: &TileWidths) -> Self {
        self.param("BLOOM_BITS", w.mare.bloom_bits, "Bits of one bank of the Bloom filter.").hash_width(w)
    }
    fn hash_width(self, w: &TileWidths) -> Self {
        self.param("HASH_WIDTH", w.hash(), "Width of one hash in bits: it addresses half a bank.")
    }
    fn request_entries(self, name: &'static str, w: &TileWidths) -> Self {
        self.param(name, w.mare.request_entries, "Requests a home can have under way.")
    }
    fn tag_entries(self, name: &'static str, w: &TileWidths) -> Self {
        self.param(name, w.mare.tag_entries, "Exact tags that are remembered at a time.")
    }
    fn fifo_depth(self, w: &TileWidths) -> Self {
        self.param(
            "FIFO_DEPTH",
            w.mare.fifo_depth,
            "Flits of the requester's FIFO: what it may ask for ahead.",
        )
    }
    fn vc_depth(self, w: &TileWidths) -> Self {
        self.param("VC_DEPTH", w.net.vc_depth, "Flits a virtual channel buffers.")
    }
    fn fetch_slots(self, name: &'static str, w: &TileWidths) -> Self {
        self.param(name, w.mare.fetch_slots, "Ranges that can be on their way at a time, at least 2.")
    }
    fn fetch_history(self, name: &'static str, w: &TileWidths) -> Self {
        if !w.mare.dedup {
            return self;
        }
        self.param(
            name,
            w.mare.fetch_history,
            "Ranges remembered after they have come, above those on their way.",
        )
    }
    fn retry_ticks(self, w: &TileWidths) -> Self {
        self.param(
            "RETRY_TICKS",
            w.mare.retry_ticks,
            "Periods without a flit after which a range is asked for again.",
        )
    }
    /// What names a range of a slice, and who asks.
    fn range(self, prefix: &str) -> Self {
        self.input(format!("{prefix}first"), "INDEX_WIDTH", "First flit of the range; begins a chunk.").input(
            format!("{prefix}last"),
            "INDEX_WIDTH",
            "Last flit of the range.",
        )
    }
    fn publish(self) -> Self {
        self.group("A slice becomes resident.")
            .input("publish_valid", 1, "One pulse a slice, when all of it is written.")
            .input("publish_slot", "SLOT_WIDTH", "Where it begins: slot * SLICE_FLITS.")
            .input("publish_tag", "TAG_WIDTH", "Which slice it is.")
    }
    fn release(self) -> Self {
        self.group("A slot is given up.")
            .input("release_valid", 1, "One pulse a slot; no request for its slice may be under way.")
            .input("release_slot", "SLOT_WIDTH", "")
    }
    fn fill(self) -> Self {
        self.group("Filling of the staging memory.")
            .input("fill_valid", 1, "A flit is written.")
            .input("fill_addr", "ADDR_WIDTH", "Slot * SLICE_FLITS + position in the slice.")
            .input("fill_data", "FLIT_WIDTH", "")
    }
    fn filter_events(self) -> Self {
        self.output("event_lookup", 1, "A chunk is looked up.")
            .output("event_bloom", 1, "The Bloom filter knows it.")
            .output("event_false_positive", 1, "The Bloom filter knows it and no exact tag does.")
            .output("event_hit", 1, "An exact tag knows it.")
            .output("event_trim", 1, "Some destinations have it already and are taken out.")
            .output("event_drop", 1, "All destinations have it already: nothing is sent.")
            .output("event_full", 1, "No tag is free: it is sent and not remembered.")
    }
    fn table_events(self) -> Self {
        self.group("To be counted, one pulse each.")
            .output("event_open", 1, "A fetch opens a request.")
            .output("event_merge", 1, "A fetch joins a request.")
            .output("event_blocked", 1, "A fetch waits because the table is full.")
    }
}

pub(super) fn fifo() -> ModuleSpec {
    ModuleBuilder::new(
        "meshkv_fifo",
        &["FIFO of any depth in one clock; the oldest word falls through to the output."],
    )
    .param("WIDTH", 64, "Width of a word in bits.")
    .param("DEPTH", 8, "Words, at least 2.")
    .clocked()
    .input("s_valid", 1, "")
    .output("s_ready", 1, "")
    .input("s_data", "WIDTH", "Word in.")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_data", "WIDTH", "Word out.")
    .build()
}

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

pub(super) fn request_table(w: &TileWidths) -> ModuleSpec {
    let mut b = ModuleBuilder::new(
        "meshkv_request_table",
        &[
            "Requests that a home has under way: coalescing, and who is next.",
            "",
            "The first fetch for a range opens a request. Fetches for the same range and generation that come",
            "while its window is open join it: their destinations and head masks are merged. The window is open",
            "for its time, and on until the slice is resident and the home has time for it. Then the tree is built",
            "and the chunks leave, requests in turns. A fetch that finds the table full waits, nothing else does.",
        ],
    )
    .tiles(w)
    .tag_width(w)
    .key_width(w)
    .index_width(w)
    .mask_width(w)
    .chunk_flits(w)
    .slot_width(w)
    .request_entries("ENTRIES", w);
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
        .input("s_resident", 1, "The slice is in the staging memory.")
        .input("s_slot", "SLOT_WIDTH", "Where.")
        .publish()
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
    ModuleBuilder::new(
        "meshkv_duplicate_filter",
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
    .input("rd_addr", "ADDR_WIDTH", "")
    .output("rd_data", "FLIT_WIDTH", "What was asked for two enabled cycles before.")
    .build()
}

pub(super) fn staging_directory(w: &TileWidths) -> ModuleSpec {
    ModuleBuilder::new("meshkv_staging_directory", &["Which slices the staging memory holds, and where."])
        .tag_width(w)
        .staging_slots("SLOTS", w)
        .slot_width(w)
        .clocked()
        .publish()
        .release()
        .group("Look-up, in the same cycle.")
        .input("tag", "TAG_WIDTH", "")
        .output("resident", 1, "")
        .output("slot", "SLOT_WIDTH", "")
        .build()
}

pub(super) fn home_agent(w: &TileWidths) -> ModuleSpec {
    let mut b = ModuleBuilder::new(
        "meshkv_home_agent",
        &[
            "Home of the slices in this tile's staging memory: fetches in, slices out.",
            "",
            "Fetches of all tiles are merged in the request table; what is due passes the duplicate filter,",
            "is read, and leaves with the set of tiles that asked for it.",
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
        .publish()
        .release()
        .group("A flit of a slice.")
        .output("m_valid", 1, "")
        .input("m_ready", 1, "")
        .output("m_key", "KEY_WIDTH", "")
        .output("m_index", "INDEX_WIDTH", "")
        .output("m_dest", "TILES", "")
        .output("m_mask", "MASK_WIDTH", "")
        .output("m_data", "FLIT_WIDTH", "")
        .table_events();
    if w.mare.dedup {
        b = b.filter_events();
    }
    let mut parts =
        vec!["meshkv_fifo", "meshkv_tile_decode", "meshkv_staging_directory", "meshkv_request_table"];
    if w.mare.dedup {
        parts.push("meshkv_duplicate_filter");
    }
    parts.extend(["meshkv_slice_streamer", "meshkv_staging_memory"]);
    b.instances(&parts).build()
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
    .slice_out()
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
    fn slice_out(self) -> Self {
        self.group("What was asked for, in order within a range.")
            .output("kv_valid", 1, "")
            .input("kv_ready", 1, "")
            .output("kv_tag", "TAG_WIDTH", "")
            .output("kv_index", "INDEX_WIDTH", "")
            .output("kv_mask", "MASK_WIDTH", "Heads of this tile that want it.")
            .output("kv_data", "FLIT_WIDTH", "")
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

impl ModuleBuilder {
    fn coordinates(self) -> Self {
        self.group("Coordinates of this tile, tied to constants.")
            .input("x", "X_WIDTH", "")
            .input("y", "Y_WIDTH", "")
    }
    fn router_link(self) -> Self {
        self.group("To the router.")
            .output("tx_valid", "VCS", "One-hot: the virtual channel of the flit.")
            .output("tx_dest", "DEST_WIDTH", "")
            .output("tx_head", "HEAD_WIDTH", "")
            .output("tx_data", "FLIT_WIDTH", "")
            .input("tx_credit", "VCS", "One pulse a slot freed.")
            .group("From the router.")
            .input("rx_valid", "VCS", "One-hot: the virtual channel of the flit.")
            .input("rx_head", "HEAD_WIDTH", "")
            .input("rx_data", "FLIT_WIDTH", "")
            .output("rx_credit", "VCS", "One pulse a slot freed.")
    }
    /// Parameters of a tile and of the fabric of tiles, from the tag on.
    fn tile_params(self, w: &TileWidths) -> Self {
        let b = self
            .param(HOME_WIDTH, index_bits(w.net.cols) + index_bits(w.net.rows), "X_WIDTH + Y_WIDTH.")
            .tag_width(w)
            .key_width(w)
            .index_width(w)
            .mask_width(w)
            .slice_flits(w)
            .chunk_flits(w)
            .fifo_depth(w)
            .fetch_slots("FETCH_SLOTS", w)
            .retry_ticks(w)
            .param("BLOOM_REFRESH", w.mare.bloom_refresh, "Cycles of a period.");
        let b = if w.mare.dedup {
            b.fetch_history("FETCH_HISTORY", w).bloom(w).tag_entries("TAG_ENTRIES", w)
        } else {
            b
        };
        b.request_entries("REQUEST_ENTRIES", w)
            .staging_slots("STAGING_SLOTS", w)
            .slot_width(w)
            .staging_depth("STAGING_DEPTH", w)
            .addr_width(w)
    }
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
    // A bit a tile is as wide as there are tiles.
    let w = |name: &str| format!("{times}{name}").replace("*1", "");
    b.group("A command: fetch a range of a slice.")
        .input("cmd_valid", w("1").as_str(), "")
        .output("cmd_ready", w("1").as_str(), "")
        .input("cmd_tag", w("TAG_WIDTH").as_str(), "")
        .input("cmd_home", w(HOME_WIDTH).as_str(), "The slice's home, {y, x}.")
        .input("cmd_mask", w("MASK_WIDTH").as_str(), "Heads that want it.")
        .input("cmd_first", w("INDEX_WIDTH").as_str(), "First flit of the range; begins a chunk.")
        .input("cmd_last", w("INDEX_WIDTH").as_str(), "Last flit of the range.")
        .group("What was asked for, in order within a range.")
        .output("kv_valid", w("1").as_str(), "")
        .input("kv_ready", w("1").as_str(), "")
        .output("kv_tag", w("TAG_WIDTH").as_str(), "")
        .output("kv_index", w("INDEX_WIDTH").as_str(), "")
        .output("kv_mask", w("MASK_WIDTH").as_str(), "Heads of this tile that want it.")
        .output("kv_data", w("FLIT_WIDTH").as_str(), "")
        .group("Filling of the staging memory.")
        .input("fill_valid", w("1").as_str(), "A flit is written.")
        .input("fill_addr", w("ADDR_WIDTH").as_str(), "Slot * SLICE_FLITS + position in the slice.")
        .input("fill_data", w("FLIT_WIDTH").as_str(), "")
        .group("A slice becomes resident.")
        .input("publish_valid", w("1").as_str(), "One pulse a slice, when all of it is written.")
        .input("publish_slot", w("SLOT_WIDTH").as_str(), "Where it begins: slot * SLICE_FLITS.")
        .input("publish_tag", w("TAG_WIDTH").as_str(), "Which slice it is.")
        .group("A slot is given up.")
        .input(
            "release_valid",
            w("1").as_str(),
            "One pulse a slot; no request for its slice may be under way.",
        )
        .input("release_slot", w("SLOT_WIDTH").as_str(), "")
}

/// Width of a home's coordinates: a sum, so it has a parameter of its own.
const HOME_WIDTH: &str = "HOME_WIDTH";

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
