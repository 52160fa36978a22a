//! Memory, tile, what stands around the tiles, and the fabric of all. Their bodies are templates;
//! `docs/takv.md` has the reasons.

use super::block::Block;
use super::common_parts::CROSSING;
use super::control_parts::{HEAD, PLACE};
use super::control_widths::ControlWidths;
use super::module::{Dir, ModuleBuilder, ModuleSpec};

pub(super) fn filler(w: &ControlWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Takv, "meshkv_filler",
        &[
            "Fills the staging memory with the slices that this tile is home to, in the order they will be",
            "asked for.",
            "",
            "Each takes a free slot, is read burst by burst under names of their own, so that answers may come",
            "in any order, and is published when all of it is there. What goes wrong is reported and the slice",
            "given out all the same: nothing waits for ever.",
        ],
    )
    .control(w, &["TAG_WIDTH", "INDEX_WIDTH", "FLIT_WIDTH", "EXPECTED_WIDTH", "NUMBER_WIDTH", "ID_WIDTH", "LEN_WIDTH"])
    .control(w, &["CREDIT_WIDTH", "HALF_FLITS", "HEAD_DIM", "SLICE_FLITS", "BURST_FLITS"])
    .staging_slots("SLOTS", &w.tile)
    .control(w, &["SLOT_WIDTH", "ADDR_WIDTH", "TIMEOUT_WIDTH"])
    .param("CREDITS", 4, "Bursts that may wait in the memory port.")
    .param("DEPTH", 16, "Slices that can wait.")
    .clocked()
    .group("A slice to be filled.")
    .input("s_valid", 1, "")
    .output("s_ready", 1, "")
    .input("s_tag", "TAG_WIDTH", "Which.")
    .input("s_first", "INDEX_WIDTH", "First flit of K that will be asked for. Of V likewise.")
    .input("s_last", "INDEX_WIDTH", "Last flit of K that will be asked for. Of V likewise.")
    .input("s_expected", "EXPECTED_WIDTH", "Tiles that will ask for it.")
    .input("s_number", "NUMBER_WIDTH", "Its number in external memory.")
    .request()
    .response()
    .filling()
    .freed(Dir::Input)
    .errors("1")
    .group("To be counted, one pulse each.")
    .output("event_fill", 1, "A flit is written.")
    .output("event_slice", 1, "A slice is published.")
    .output("event_wait", 1, "A slice waits for a free slot.")
    .instances(&["meshkv_fifo"])
    .build()
}

impl ModuleBuilder {
    fn request(self) -> Self {
        self.group("A burst that is asked of the memory port.")
            .output("req_valid", 1, "One pulse a burst; there is a credit for it.")
            .output("req_id", "ID_WIDTH", "Its name.")
            .output("req_number", "NUMBER_WIDTH", "The slice's number in external memory.")
            .output("req_first", "INDEX_WIDTH", "First flit of the slice that is read.")
            .output("req_len", "LEN_WIDTH", "Flits less one.")
            .input("req_credit", 1, "One pulse a burst that has left the port's queue.")
    }
    fn response(self) -> Self {
        self.group("A flit that the memory port has read; it is always taken.")
            .input("rsp_valid", 1, "One pulse a flit.")
            .input("rsp_id", "ID_WIDTH", "Name of its burst.")
            .input("rsp_last", 1, "The last of its burst.")
            .input("rsp_bad", 1, "The memory reports an error.")
            .input("rsp_data", "FLIT_WIDTH", "The flit.")
    }
    /// What the filler tells the home.
    fn filling(self) -> Self {
        self.group("Filling of the staging memory.")
            .output("fill_valid", 1, "A flit is written.")
            .output("fill_addr", "ADDR_WIDTH", "Slot * SLICE_FLITS + position in the slice.")
            .output("fill_data", "FLIT_WIDTH", "The flit.")
            .group("A slot is given to a slice.")
            .output("claim_valid", 1, "One pulse a slice.")
            .output("claim_slot", "SLOT_WIDTH", "Where it will be.")
            .output("claim_tag", "TAG_WIDTH", "Which slice it is.")
            .output("claim_last", "INDEX_WIDTH", "The last of its flits that will be asked for.")
            .output("claim_expected", "EXPECTED_WIDTH", "Tiles that will ask for it.")
            .output("claim_named", 1, "The tag is that of the slice which will have the next slot.")
            .input("claim_known", 1, "It has a slot from before and must wait.")
            .group("A slice is whole.")
            .output("publish_valid", 1, "One pulse a slice.")
            .output("publish_slot", "SLOT_WIDTH", "Where it is.")
    }
    fn errors(self, width: &'static str) -> Self {
        self.group("What went wrong, until the reset.")
            .output("error_memory", width, "An answer of the memory was an error.")
            .output("error_timeout", width, "The memory did not answer in time; it is not asked any more.")
    }
    /// AXI4 read channels, `times` ("PORTS*" or nothing) as many.
    fn axi(self, times: &str) -> Self {
        let w = |width: &str| format!("{times}{width}").replace("*1", "");
        self.group("AXI4 read address channel.")
            .output("m_axi_arvalid", w("1").as_str(), "An address is offered, and held until it is taken.")
            .input("m_axi_arready", w("1").as_str(), "It is taken.")
            .output("m_axi_arid", w("AXI_ID_WIDTH").as_str(), "Tile of the port, and its burst.")
            .output("m_axi_araddr", w("AXI_ADDR_WIDTH").as_str(), "Bytes.")
            .output("m_axi_arlen", w("8").as_str(), "Beats less one.")
            .output("m_axi_arsize", w("3").as_str(), "Bytes of a beat, as a power of two.")
            .output("m_axi_arburst", w("2").as_str(), "INCR.")
            .group("AXI4 read data channel.")
            .input("m_axi_rvalid", w("1").as_str(), "A beat.")
            .output("m_axi_rready", w("1").as_str(), "Always: there is a place for what was asked for.")
            .input("m_axi_rid", w("AXI_ID_WIDTH").as_str(), "Tile of the port, and its burst.")
            .input("m_axi_rdata", w("FLIT_WIDTH").as_str(), "A flit.")
            .input("m_axi_rresp", w("2").as_str(), "0 is OKAY.")
            .input("m_axi_rlast", w("1").as_str(), "The last beat of its burst.")
    }
    /// What some tiles ask for and get, `tiles` (the parameter with their number) as wide.
    fn reads_of_tiles(self, tiles: &str) -> Self {
        let w = |width: &str| format!("{tiles}*{width}").replace("*1", "");
        self.group("Bursts that tiles ask for.")
            .input("req_valid", w("1").as_str(), "One pulse a burst.")
            .input("req_id", w("ID_WIDTH").as_str(), "Its name.")
            .input("req_number", w("NUMBER_WIDTH").as_str(), "The slice's number.")
            .input("req_first", w("INDEX_WIDTH").as_str(), "First flit that is read.")
            .input("req_len", w("LEN_WIDTH").as_str(), "Flits less one.")
            .output("req_credit", w("1").as_str(), "One pulse a burst that has left the queue.")
            .group("What was read.")
            .output("rsp_valid", w("1").as_str(), "One pulse a flit.")
            .output("rsp_id", w("ID_WIDTH").as_str(), "Name of its burst.")
            .output("rsp_last", w("1").as_str(), "The last of its burst.")
            .output("rsp_bad", w("1").as_str(), "The memory reports an error.")
            .output("rsp_data", w("FLIT_WIDTH").as_str(), "The flit.")
    }
}

pub(super) fn memory_port(w: &ControlWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Takv, "meshkv_memory_port",
        &[
            "AXI4 read master of tiles side by side in a row.",
            "",
            "They take turns, burst by burst. Bursts stay inside 4 KiB, since they begin with a multiple of their length.",
            "Nothing is asked for that there is no place for, so the data channel is always ready.",
        ],
    )
    .control(w, &["NUMBER_WIDTH", "INDEX_WIDTH", "FLIT_WIDTH", "ID_WIDTH", "LEN_WIDTH", "AXI_ID_WIDTH", "AXI_ADDR_WIDTH"])
    .control(w, &["SLICE_BYTES", "FLIT_BYTES", "FLIT_LOG"])
    .param("TILES", w.memory.tiles_per_port, "Tiles of the port; AXI_ID_WIDTH - ID_WIDTH bits tell them apart.")
    .param("CREDITS", 4, "Bursts of a tile that can wait.")
    .clocked()
    .reads_of_tiles("TILES")
    .axi("")
    .instances(&["meshkv_fifo"])
    .build()
}

pub(super) fn tile(w: &ControlWidths, parts: &[&ModuleSpec]) -> ModuleSpec {
    let transport = parts.iter().find(|p| p.name == "meshkv_transport").expect("a tile has one");
    let prefetcher = parts.iter().find(|p| p.name == "meshkv_prefetcher").expect("a tile has one");
    let filler = parts.iter().find(|p| p.name == "meshkv_filler").expect("a tile has one");
    let names: Vec<_> = parts.iter().map(|p| p.name).collect();
    let mut b = ModuleBuilder::new(
        Block::Fabric,
        "meshkv_tile",
        &[
            "A tile beside its router: what it is told on the column bus it fetches, or fills and gives out.",
            "",
            "What computes attaches to the ports: jobs and flits come in, partial results go out.",
        ],
    )
    .params_of(&[transport], &[])
    .control(w, &["BUS_WIDTH", "BUS_DEPTH", "ASK_DEPTH", "FILL_DEPTH", "REQ_DEPTH", "ROW_STEP"])
    .params_of(parts, &["WIDTH", "DEPTH", "SLOTS", "CREDITS", "COUNT_WIDTH"])
    .control(w, &["LAYER_WIDTH", "HEAD_PLACE_WIDTH", "QUERY_WORD_WIDTH"]);
    if w.swaps() {
        b = b.control(w, &["USED_WIDTH"]);
    }
    b = b.clocked().compute_clocked().compute_idle(&w.tile).coordinates();
    b = b
        .group("Column bus, from the south.")
        .input("rx_s_bus_valid", 1, "One pulse a word.")
        .input("rx_s_bus_data", "BUS_WIDTH", "The word.")
        .output("rx_s_bus_credit", 1, "One pulse a word that has left.")
        .group("Column bus, to the north.")
        .output("tx_n_bus_valid", 1, "One pulse a word.")
        .output("tx_n_bus_data", "BUS_WIDTH", "The word.")
        .input("tx_n_bus_credit", 1, "One pulse a word that has left the next stop.");
    if w.swaps() {
        let occupancy =
            parts.iter().find(|p| p.name == "meshkv_occupancy").expect("homes that swap have one");
        b = b.ports_of(occupancy, &["rx_n_", "tx_s_"], "");
    }
    b = compute_side(b, prefetcher, transport, "");
    b.ports_of(filler, &["req_", "rsp_", "error_"], "")
        .router_link()
        .group("For counters and diagnosis.")
        .output("event_index", 5, "The counter that is shown.")
        .output("event_data", 32, "Its total.")
        .instances(&names)
        .build()
}

/// What a tile shows its compute, `times` ("TILES*" or nothing) as wide.
fn compute_side(
    b: ModuleBuilder,
    prefetcher: &ModuleSpec,
    transport: &ModuleSpec,
    times: &str,
) -> ModuleBuilder {
    let w = |width: &str| format!("{times}{width}").replace("*1", "");
    b.query("vector", Dir::Output, PLACE, times)
        .ports_of(prefetcher, &["job_"], times)
        .ports_of(transport, &["kv_"], times)
        .group("A flit of a partial result, for the reduce root of the column.")
        .input("part_valid", w("1").as_str(), "")
        .output("part_ready", w("1").as_str(), "")
        .input("part_first", w("1").as_str(), "First flit of its packet.")
        .input("part_last", w("1").as_str(), "Last flit of its packet.")
        .input("part_alone", w("1").as_str(), "It is the only one of its head.")
        .input("part_stream", w("STREAM_WIDTH").as_str(), "Whose it is.")
        .input("part_layer", w("LAYER_WIDTH").as_str(), "Of which layer.")
        .input(
            "part_head",
            w("HEAD_PLACE_WIDTH").as_str(),
            "Of which query head, by its place in the column.",
        )
        .input("part_data", w("FLIT_WIDTH").as_str(), "The flit.")
        .group("A flit of a partial result that has arrived; row 0 has the reduce roots.")
        .output(
            "root_valid",
            w("SOURCES").as_str(),
            "One-hot: its virtual channel, or last that it is of this tile.",
        )
        .input(
            "root_credit",
            w("SOURCES").as_str(),
            "One pulse a flit that has left the root's buffer of that source.",
        )
        .output("root_first", w("1").as_str(), "First flit of its packet.")
        .output("root_last", w("1").as_str(), "Last flit of its packet.")
        .output("root_alone", w("1").as_str(), "It is the only one of its head.")
        .output("root_stream", w("STREAM_WIDTH").as_str(), "Whose it is.")
        .output("root_layer", w("LAYER_WIDTH").as_str(), "Of which layer.")
        .output(
            "root_head",
            w("HEAD_PLACE_WIDTH").as_str(),
            "Of which query head, by its place in the column.",
        )
        .output("root_x", w("X_WIDTH").as_str(), "Who sent it.")
        .output("root_y", w("Y_WIDTH").as_str(), "")
        .output("root_data", w("FLIT_WIDTH").as_str(), "The flit.")
}

pub(super) fn periphery(w: &ControlWidths, parts: &[&ModuleSpec]) -> ModuleSpec {
    let names: Vec<_> = parts.iter().map(|p| p.name).collect();
    let mut b = ModuleBuilder::new(
        Block::Fabric,
        "meshkv_periphery",
        &[
            "What stands around the tiles: column controllers, ports to external memory, swap of homes.",
            "",
            "All that goes to a tile or comes from one passes a register on either side.",
        ],
    )
    .control(w, &["COLS", "ROWS", "TILES", "PORTS", "ROW_PORTS", "PORT_TILES", "DESC_DEPTH", "REQ_DEPTH"])
    .params_of(parts, &["QUEUE", "CREDITS"])
    .control(w, &["HEAD_ID_WIDTH"])
    .clocked_by_tile()
    .query("query", Dir::Input, HEAD, "")
    .descriptor()
    .output("idle", 1, "All descriptors have been worked off.");
    b = b
        .group("Column buses, to row 0.")
        .output("bus_valid", "COLS", "One pulse a word.")
        .output("bus_data", "COLS*BUS_WIDTH", "The word.")
        .input("bus_credit", "COLS", "One pulse a word that has left the stop.");
    if w.swaps() {
        b = b
            .swap_report()
            .group("Occupancies, from row 0.")
            .input("column_occupancy_valid", "COLS", "One pulse a value.")
            .input("column_occupancy_data", "COLS*VALUE_WIDTH", "The value.");
    }
    b.reads_of_tiles("TILES").axi("PORTS*").instances(&names).build()
}

pub(super) fn fabric(
    w: &ControlWidths,
    mesh: &ModuleSpec,
    tile: &ModuleSpec,
    periphery: &ModuleSpec,
) -> ModuleSpec {
    let mut b = ModuleBuilder::new(Block::Fabric, super::FABRIC,
        &[
            "The fabric: the mesh of routers, a tile at each, and what stands around them.",
            "",
            "Tile t = y * COLS + x; its part of a packed port is the t-th. Descriptors of a decode step go in, what",
            "computes attaches to the tiles, external memory to the AXI ports.",
        ],
    )
    .params_of(&[mesh, tile, periphery], &[])
    .clocked_by_tile()
    .compute_clocked_by_tile();
    if !w.tile.overlap {
        b = b.input("compute_idle", "TILES", "What computes has nothing to do; in its clock.");
    }
    b = b.query("query", Dir::Input, HEAD, "").descriptor().output(
        "idle",
        1,
        "All descriptors have been worked off.",
    );
    if w.swaps() {
        b = b.swap_report();
    }
    compute_side(b, tile, tile, "TILES*")
        .axi("PORTS*")
        .errors("TILES")
        .group("For counters and diagnosis.")
        .output("vc_busy", "TILES*5*VCS", "A flit waits; bit (tile * 5 + port) * VCS + v.")
        .output("stat_index", 5, "The link counter that every router shows.")
        .output("stat_data", "TILES*32", "")
        .output("event_index", 5, "The counter that every tile shows.")
        .output("event_data", "TILES*32", "")
        .instances(&[mesh.name, tile.name, periphery.name, CROSSING])
        .build()
}
