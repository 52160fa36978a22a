//! Parameter values of the modules that control fetching and fill the staging memories.

use crate::design::depths::{ASK_DEPTH, DESC_DEPTH, FILL_DEPTH, REQ_DEPTH, TIMEOUT_WIDTH, VALUE_WIDTH};
use crate::design::{
    index_bits, Append, Bus, Design, Heads, Memory, Piece, Placement, PlacementKind, Sharing,
};
use crate::emit::rtl::mare::params::MareParams;
use crate::emit::rtl::module::ModuleBuilder;
use crate::emit::rtl::takv::tables::{bits, last_first, of_slices};
use std::collections::BTreeMap;

/// Parameter values of controllers, bus, prefetchers, fillers, and memory ports.
pub(in crate::emit::rtl) struct TakvParams {
    pub(in crate::emit::rtl) tile: MareParams,
    pub(in crate::emit::rtl) placement: Placement,
    pub(in crate::emit::rtl) memory: Memory,
    /// Widths of the column bus.
    pub(in crate::emit::rtl) bus: Bus,
    /// The way of new tokens into the cache, if there is one.
    pub(in crate::emit::rtl) append: Option<Append>,
    /// Pieces of all KV heads, if a slice is shared only by the heads that attend with its KV head.
    pub(in crate::emit::rtl) pieces: Vec<Piece>,
    /// Heads and rows of each column.
    pub(in crate::emit::rtl) columns: Vec<(u64, u64)>,
    pub(in crate::emit::rtl) stream: u32,
    pub(in crate::emit::rtl) streams: u32,
    pub(in crate::emit::rtl) layer: u32,
    segment: u32,
    pub(in crate::emit::rtl) slice: u32,
    slices: u32,
    pub(in crate::emit::rtl) row: u32,
    pub(in crate::emit::rtl) tokens: u32,
    row_step: u32,
    bus_depth: u32,
    row_flits_log: u32,
    flit_rows_log: u32,
    swap_epoch: u32,
    swaps: bool,
    pub(in crate::emit::rtl) head_dim: u32,
    /// Most heads of a column.
    pub(in crate::emit::rtl) heads: u32,
    /// Distribution of the heads over the columns.
    pub(in crate::emit::rtl) mapping: Heads,
}

impl TakvParams {
    pub(in crate::emit::rtl) fn of(design: &Design) -> TakvParams {
        let (model, mesh) = (&design.config.model, design.mesh);
        let tokens = design.config.kv.segment_tokens;
        let row_bits = design.config.pe.head_dim * design.config.kv.bytes_per_element * 8;
        let column = |x: u32| {
            let shared = design.pieces(Sharing::Segment);
            shared.iter().find(|p| p.column == x).map_or((0, 0), |p| (p.mask, p.rows))
        };
        TakvParams {
            tile: MareParams::of(design),
            placement: design.placement,
            memory: design.memory,
            bus: design.bus,
            append: design.append,
            pieces: design.controller_pieces(),
            columns: (0..mesh.cols()).map(column).collect(),
            stream: index_bits(model.max_streams),
            streams: model.max_streams,
            layer: index_bits(model.layers),
            segment: index_bits(design.placement.segments),
            slice: index_bits(model.kv_heads),
            slices: model.kv_heads,
            row: index_bits(tokens),
            tokens,
            row_step: design.heads.row_step(),
            bus_depth: design.bus_depth(),
            row_flits_log: (row_bits / design.flit.data_width).max(1).ilog2(),
            flit_rows_log: (design.flit.data_width / row_bits).max(1).ilog2(),
            swap_epoch: design.config.takv.swaps_every(),
            swaps: design.swaps(),
            head_dim: design.config.pe.head_dim,
            heads: design.heads.most(),
            mapping: design.heads,
        }
    }

    /// Homes can swap.
    pub(in crate::emit::rtl) fn swaps(&self) -> bool {
        self.swaps
    }

    /// Values for the templates of the block.
    pub(in crate::emit::rtl) fn values(&self) -> BTreeMap<String, tera::Value> {
        let net = &self.tile.net;
        let (x, rho) = (index_bits(net.cols), self.rotation().ilog2());
        let piece = |(p, ends_round): &(&Piece, bool)| {
            format!(
                "1'b{}, 1'b{}, {rho}'d{}, {}, {}, {x}'d{}, {}'d{}",
                u32::from(*ends_round),
                u32::from(p.last),
                p.rho,
                bits(p.rows, net.rows),
                bits(p.mask, self.tile.mask),
                p.column,
                self.slice,
                p.kv_head
            )
        };
        // Verilog writes the highest part first.
        let next = self.pieces.iter().skip(1).map(Some).chain([None]);
        let ends = self.pieces.iter().zip(next).map(|(p, next)| (p, next.is_none_or(|n| n.round != p.round)));
        let pieces: Vec<_> = ends.collect::<Vec<_>>().iter().rev().map(piece).collect();
        let columns = |of: &dyn Fn(&(u64, u64)) -> String| {
            self.columns.iter().rev().map(of).collect::<Vec<_>>().join(", ")
        };
        let mut values: BTreeMap<String, tera::Value> = BTreeMap::new();
        values.insert("pieces".into(), pieces.into());
        let ultra = self.append.is_some_and(|append| append.ultra_rams() > 0);
        values.insert("tokens_in_ultra".into(), ultra.into());
        values.insert("column_masks".into(), columns(&|c| bits(c.0, self.tile.mask)).into());
        values.insert("column_rows".into(), columns(&|c| bits(c.1, net.rows)).into());
        let is = |kind| self.placement.kind == kind;
        values.insert("by_slice".into(), self.placement.by_slice().into());
        values.extend(of_slices(&self.placement, self.ahead()));
        values.insert("placement_takv".into(), is(PlacementKind::Takv).into());
        values.insert("placement_round_robin".into(), is(PlacementKind::RoundRobin).into());
        values.insert("placement_hub".into(), is(PlacementKind::Hub).into());
        values.insert("swaps".into(), self.swaps().into());
        values.insert("append".into(), self.append.is_some().into());
        values.insert("direct_writes".into(), self.append.is_some_and(|append| append.direct).into());
        let last = |x: u32| design_heads(self, x).1;
        let of_columns = |of: &dyn Fn(u32) -> String| last_first(net.cols, of);
        let id = self.head_id();
        values.insert(
            "first_heads".into(),
            of_columns(&|x| format!("{id}'d{}", design_heads(self, x).0)).into(),
        );
        let order: Vec<_> = self.head_order().iter().rev().map(|head| format!("{id}'d{head}")).collect();
        values.insert("head_order".into(), order.join(", ").into());
        let count = |x| last(x) - design_heads(self, x).0;
        values.insert("last_places".into(), of_columns(&|x| format!("{id}'d{}", count(x).max(1) - 1)).into());
        values.insert("have_heads".into(), of_columns(&|x| format!("1'b{}", count(x).min(1))).into());
        values.insert("query_group_words".into(), self.bus.query_group_words.into());
        values.insert("slice_word".into(), self.bus.slice.into());
        values.insert("overlap".into(), self.tile.overlap.into());
        values
    }

    /// Query heads in the order in which the front sends them: the first of each column, then the second. Heads that
    /// share flits go in their order in memory.
    fn head_order(&self) -> Vec<u32> {
        let columns: Vec<_> = (0..self.tile.net.cols).map(|x| design_heads(self, x)).collect();
        let heads = columns.iter().map(|column| column.1).max().unwrap_or(0);
        if self.head_dim * 16 < self.tile.net.flit {
            return (0..heads).collect();
        }
        let of_turn = |turn| columns.iter().filter(move |c| c.0 + turn < c.1).map(move |c| c.0 + turn);
        (0..heads).flat_map(of_turn).collect()
    }

    fn rotation(&self) -> u32 {
        self.placement.rotation()
    }

    fn index_count(&self) -> u32 {
        (self.segment + 1).max(self.rotation().ilog2()) + 1
    }

    /// Bits of the largest dividend of the placement.
    pub(in crate::emit::rtl) fn place(&self) -> u32 {
        let p = &self.placement;
        let (layers, segments) = (u64::from(p.layers), u64::from(p.segments));
        let most = match p.kind {
            _ if p.by_slice() => u64::from(p.a) * layers + segments + (1 << self.ahead()),
            PlacementKind::Takv => {
                let row = u64::from(p.a) * layers + segments;
                row.max(layers + u64::from(p.column_stride) * segments)
            }
            PlacementKind::RoundRobin | PlacementKind::Hub => layers * segments,
        };
        (most.ilog2() + 1).max(self.layer.max(self.segment) + 1)
    }

    /// Bits of the rows by which the homes of a KV head and a cache are ahead.
    fn ahead(&self) -> u32 {
        index_bits(self.streams + self.placement.rows)
    }

    fn axi_addr(&self) -> u32 {
        self.memory.addr_width
    }

    /// Bits of a query head's number.
    pub(in crate::emit::rtl) fn head_id(&self) -> u32 {
        index_bits(self.mapping.heads())
    }

    /// Bits of a query head's place in its column.
    pub(in crate::emit::rtl) fn head(&self) -> u32 {
        index_bits(self.heads)
    }

    /// Bits of the number of router slots that a home's flits can occupy.
    pub(in crate::emit::rtl) fn used(&self) -> u32 {
        let net = &self.tile.net;
        index_bits(net.vc_depth * (net.vcs - net.vn0_vcs - 1) + 1)
    }
}

/// The documentation of each parameter, once.
impl ModuleBuilder {
    /// Adds the block's parameters of these `names` that the module lacks.
    ///
    /// # Panics
    /// If there is no such parameter: a slip in this crate.
    pub(in crate::emit::rtl) fn control(mut self, w: &TakvParams, names: &[&str]) -> Self {
        for name in names {
            if !self.has_param(name) {
                self = self.control_param(w, name);
            }
        }
        self
    }

    fn control_param(self, w: &TakvParams, name: &str) -> Self {
        let t = &w.tile;
        let p = &w.placement;
        let wide = |n: u64| format!("64'd{n}");
        match name {
            "COLS" => self.param("COLS", t.net.cols, "Tiles from west to east."),
            "ROWS" => self.param("ROWS", t.net.rows, "Tiles from south to north."),
            "TILES" => self.tiles(t),
            "X_WIDTH" => self.x_width(&t.net),
            "Y_WIDTH" => self.y_width(&t.net),
            "HOME_WIDTH" => self.param(
                "HOME_WIDTH",
                index_bits(t.net.cols) + index_bits(t.net.rows),
                "X_WIDTH + Y_WIDTH.",
            ),
            "FLIT_WIDTH" => self.flit_width(&t.net),
            "TAG_WIDTH" => self.tag_width(t),
            "INDEX_WIDTH" => self.index_width(t),
            "MASK_WIDTH" => self.mask_width(t),
            "EXPECTED_WIDTH" => self.expected_width(t),
            "CHUNK_FLITS" => self.chunk_flits(t),
            "SLICE_FLITS" => self.slice_flits(t),
            "HALF_FLITS" => self.param("HALF_FLITS", t.mare.half_flits, "Flits of K of a slice, and of V."),
            "SLOT_WIDTH" => self.slot_width(t),
            "ADDR_WIDTH" => self.addr_width(t),
            "STREAM_WIDTH" => self.param("STREAM_WIDTH", w.stream, "Width of a stream number in bits."),
            "STREAMS_WIDTH" => {
                self.param("STREAMS_WIDTH", w.stream + 1, "Width of a number of streams in bits.")
            }
            "LAYER_WIDTH" => self.param("LAYER_WIDTH", w.layer, "Width of a layer number in bits."),
            "SEGMENT_WIDTH" => self.param("SEGMENT_WIDTH", w.segment, "Width of a segment number in bits."),
            "SLICE_WIDTH" => self.param("SLICE_WIDTH", w.slice, "Width of a KV head's number in bits."),
            "COUNT_WIDTH" => {
                self.param("COUNT_WIDTH", w.segment + 1, "Width of a number of segments in bits.")
            }
            "ROW_WIDTH" => self.param("ROW_WIDTH", w.row, "Width of a token's place in its segment in bits."),
            "HEAD_ID_WIDTH" => {
                self.param("HEAD_ID_WIDTH", w.head_id(), "Width of a query head's number in bits.")
            }
            "TOKENS" => self.param("TOKENS", w.tokens, "Tokens of a segment (P)."),
            "SLICES" => self.bits_param("SLICES", "[63:0]", wide(w.slices.into()), "KV heads."),
            "STREAMS" => self.bits_param(
                "STREAMS",
                "[63:0]",
                wide(w.streams.into()),
                "Streams that can be decoded at once.",
            ),
            "BLOCKS" => self.bits_param(
                "BLOCKS",
                "[63:0]",
                wide(p.blocks_of_home().into()),
                "Macro-blocks a stream for which a home has room in external memory.",
            ),
            "SEGMENTS" => self.param("SEGMENTS", p.segments, "Segments of a layer."),
            "STRIDE" => self.param("STRIDE", p.a, "Rows from a layer to the next (a)."),
            "COLUMN_STRIDE" => self.param(
                "COLUMN_STRIDE",
                p.column_stride,
                "Columns by which a layer advances after each ROWS segments.",
            ),
            "ROUNDS" => self.param(
                "ROUNDS",
                p.segments.div_ceil(p.rows),
                "Rounds of a layer's segments over the rows.",
            ),
            "AHEAD_WIDTH" => self.param(
                "AHEAD_WIDTH",
                w.ahead(),
                "Width of the rows by which the homes of a KV head and a cache are ahead.",
            ),
            "COLUMN_SLICES" => self.param("COLUMN_SLICES", p.block_slices(), "KV heads of a column."),
            "HUB_X" => self.param("HUB_X", hub(w).0, "Column of the hub."),
            "HUB_Y" => self.param("HUB_Y", hub(w).1, "Row of the hub."),
            "PLACE_WIDTH" => self.param(
                "PLACE_WIDTH",
                w.place(),
                "Width of the largest number that is divided to place a segment.",
            ),
            "BLOCK_WIDTH" => {
                self.param("BLOCK_WIDTH", w.bus.block, "Width of the number of a home's macro-block in bits.")
            }
            "LOCAL_WIDTH" => self.param(
                "LOCAL_WIDTH",
                w.memory.local_width,
                "Width of a slice's number within its home in bits.",
            ),
            "REGION_WIDTH" => self.param(
                "REGION_WIDTH",
                w.memory.region_width,
                "Width of a byte's place in the region of a home in bits.",
            ),
            "REGION_NUMBER_WIDTH" => self.param(
                "REGION_NUMBER_WIDTH",
                w.memory.addr_width - w.memory.region_width,
                "Width of the number of a home's region in bits.",
            ),
            "ROW_REGIONS" => self.bits_param(
                "ROW_REGIONS",
                "[63:0]",
                wide(u64::from(w.memory.row_ports * w.memory.tiles_per_port)),
                "Regions of a row: its tiles, rounded up to whole ports.",
            ),
            "NUMBER_WIDTH" => self.param(
                "NUMBER_WIDTH",
                w.bus.number,
                "Width of a slice's number in external memory in bits.",
            ),
            "ROTATION" => self.param("ROTATION", w.rotation(), "Segments of a group, a power of two."),
            "LAP" => {
                self.param("LAP", w.placement.lap(), "Turns in which a tile stays at a home, a power of two.")
            }
            "ROTATION_WIDTH" => {
                self.param("ROTATION_WIDTH", w.rotation().ilog2(), "Width of a place in a group in bits.")
            }
            "INDEX_COUNT_WIDTH" => self.param(
                "INDEX_COUNT_WIDTH",
                w.index_count(),
                "Width of a position in a descriptor's segments, rounded up to whole groups.",
            ),
            "PIECES" => self.param(
                "PIECES",
                w.pieces.len() as u32,
                "Number of pieces: the heads of one KV head in one column each.",
            ),
            "PIECE_COUNT_WIDTH" => self.param(
                "PIECE_COUNT_WIDTH",
                index_bits(w.pieces.len() as u32),
                "Width of a piece's number in bits.",
            ),
            "ROW_STEP" => self.param(
                "ROW_STEP",
                w.row_step,
                "Rows from a column's head to the next, with one tile a head.",
            ),
            "ROW_FLITS_LOG" => {
                self.param("ROW_FLITS_LOG", w.row_flits_log, "Flits of a token's K, as a power of two.")
            }
            "FLIT_ROWS_LOG" => {
                self.param("FLIT_ROWS_LOG", w.flit_rows_log, "Tokens of a flit of K, as a power of two.")
            }
            "BUS_WIDTH" => self.param("BUS_WIDTH", w.bus.word, "Width of a word of the column bus in bits."),
            "BUS_DEPTH" => self.param("BUS_DEPTH", w.bus_depth, "Words that a stop of the column bus holds."),
            "ASK_DEPTH" => self.param("ASK_DEPTH", ASK_DEPTH, "Slices that a tile can queue to fetch."),
            "FILL_DEPTH" => self.param("FILL_DEPTH", FILL_DEPTH, "Slices that a home can queue to fill."),
            "DESC_DEPTH" => self.param("DESC_DEPTH", DESC_DEPTH, "Descriptors that wait in each controller."),
            "REQ_DEPTH" => {
                self.param("REQ_DEPTH", REQ_DEPTH, "Bursts of a tile that can wait at the memory port.")
            }
            "CREDIT_WIDTH" => {
                self.param("CREDIT_WIDTH", index_bits(REQ_DEPTH + 1), "Width of their number in bits.")
            }
            "ID_WIDTH" => {
                self.param("ID_WIDTH", w.memory.slot_width, "Width of the ID of a tile's burst in bits.")
            }
            "AXI_ID_WIDTH" => self.param(
                "AXI_ID_WIDTH",
                w.memory.id_width,
                "Width of an AXI ID: the tile of its port, and its burst.",
            ),
            "LEN_WIDTH" => self.param(
                "LEN_WIDTH",
                index_bits(w.memory.burst_flits),
                "Width of a burst's beats less one, in bits.",
            ),
            "BURST_FLITS" => self.burst_flits(t),
            "AXI_ADDR_WIDTH" => self.param(
                "AXI_ADDR_WIDTH",
                w.axi_addr(),
                "Width of an address of the external memory in bits.",
            ),
            "SLICE_BYTES" => self.bits_param(
                "SLICE_BYTES",
                "[63:0]",
                wide(w.memory.slice_bytes),
                "Bytes from a slice to the next in external memory.",
            ),
            "FLIT_BYTES" => {
                self.bits_param("FLIT_BYTES", "[63:0]", wide(u64::from(t.net.flit / 8)), "Bytes of a flit.")
            }
            "FLIT_LOG" => {
                self.param("FLIT_LOG", (t.net.flit / 8).ilog2(), "The same as a power of two: an AXI size.")
            }
            "PORTS" => self.param("PORTS", w.memory.ports, "Ports to external memory."),
            "ROW_PORTS" => self.param("ROW_PORTS", w.memory.row_ports, "Ports of a row of tiles."),
            "PORT_TILES" => self.param(
                "PORT_TILES",
                w.memory.tiles_per_port,
                "Tiles of a port; the last of a row may have fewer.",
            ),
            "TIMEOUT_WIDTH" => self.param(
                "TIMEOUT_WIDTH",
                TIMEOUT_WIDTH,
                "A memory without an answer for 2^TIMEOUT_WIDTH cycles is an error.",
            ),
            "HEAD_DIM" => self.param("HEAD_DIM", w.head_dim, "Elements of a K or V row, a power of two."),
            "HEADS" => self.param("HEADS", w.heads, "Query heads of a column at most."),
            "HEAD_PLACE_WIDTH" => self.param(
                "HEAD_PLACE_WIDTH",
                w.head(),
                "Width of a query head's place in its column in bits.",
            ),
            "QUERY_WORD_WIDTH" => self.param(
                "QUERY_WORD_WIDTH",
                w.bus.query_word,
                "Width of the number of four elements of a query in bits.",
            ),
            "QUERY_GROUP" => self.param(
                "QUERY_GROUP",
                w.bus.query_group_words,
                "Words of a query, four elements each, that come together.",
            ),
            "QUERY_GROUP_WIDTH" => self.param(
                "QUERY_GROUP_WIDTH",
                w.bus.query_group,
                "Width of the number of such a group of a query in bits.",
            ),
            "QUERY_DEPTH" => {
                self.param("QUERY_DEPTH", w.bus.query_depth, "Groups that wait for the bus of a column.")
            }
            "TOKEN_WORDS" => self.param(
                "TOKEN_WORDS",
                w.append.map_or(0, |a| a.words),
                "Words of 64 bits of K and V of a token and KV head.",
            ),
            "TOKEN_GROUPS" => self.param(
                "TOKEN_GROUPS",
                w.append.map_or(0, |a| a.groups),
                "Groups of such words of all streams and KV heads.",
            ),
            "TOKEN_GROUP_WIDTH" => self.param(
                "TOKEN_GROUP_WIDTH",
                w.append.map_or(0, |a| a.group),
                "Width of the number of such a group in bits.",
            ),
            "TOKEN_DEPTH" => self.param(
                "TOKEN_DEPTH",
                w.append.map_or(0, |a| a.token_depth),
                "Words of new tokens that a tile can send without an answer.",
            ),
            "WRITE_DEPTH" => self.param(
                "WRITE_DEPTH",
                w.append.map_or(0, |a| a.write_depth),
                "Words of new tokens that the writer of a memory port can take.",
            ),
            "VALUE_BURST" => self.param(
                "VALUE_BURST",
                w.append.map_or(0, |a| a.value_burst),
                "Beats of a burst of V of a new token.",
            ),
            "VALUE_WIDTH" => self.param("VALUE_WIDTH", VALUE_WIDTH, "Width of an occupancy in bits."),
            "USED_WIDTH" => self.param("USED_WIDTH", w.used(), "Width of a number of slots in bits."),
            "EPOCH" => self.param("EPOCH", w.swap_epoch, "Decode steps from one swap to the next (K)."),
            "EPOCH_WIDTH" => {
                self.param("EPOCH_WIDTH", index_bits(w.swap_epoch), "Width of a step's number in bits.")
            }
            _ => panic!("no parameter {name}"),
        }
    }
}

/// First query head of a column, and the first beyond.
fn design_heads(w: &TakvParams, x: u32) -> (u32, u32) {
    let heads = w.mapping.of_column(x);
    (heads.start, heads.end)
}

fn hub(w: &TakvParams) -> (u32, u32) {
    let at = w.placement.hub.index() as u32;
    (at % w.tile.net.cols, at / w.tile.net.cols)
}
