//! Parameter values of PaD, and the slots of its contexts.

use crate::design::{index_bits, Array, Design, JOB_DEPTH, PAD_EVENTS, SECOND_SUM};
use crate::emit::rtl::module::ModuleBuilder;
use crate::emit::rtl::takv::params::TakvParams;
use std::collections::BTreeMap;

/// Parameter values of PaD.
pub(in crate::emit::rtl) struct PadParams {
    pub(in crate::emit::rtl) control: TakvParams,
    array: Array,
}

impl PadParams {
    pub(in crate::emit::rtl) fn of(design: &Design) -> PadParams {
        PadParams { control: TakvParams::of(design), array: Array::of(design) }
    }

    pub(in crate::emit::rtl) fn slots(&self) -> u32 {
        self.array.row_slots()
    }

    fn blocks(&self) -> u32 {
        self.control.tokens.div_ceil(self.array.lanes)
    }

    fn token(&self) -> u32 {
        index_bits(self.blocks() * self.array.lanes)
    }

    fn lane_log(&self) -> u32 {
        self.array.lanes.ilog2()
    }

    fn dim_log(&self) -> u32 {
        self.control.head_dim.ilog2()
    }

    fn parts_log(&self) -> u32 {
        self.dim_log().saturating_sub(self.lane_log())
    }

    fn subs_log(&self) -> u32 {
        self.lane_log().saturating_sub(self.dim_log())
    }

    /// Values for the templates of the block.
    pub(in crate::emit::rtl) fn values(&self) -> BTreeMap<String, tera::Value> {
        let c = &self.control;
        let (slots, slot_bits) = (self.slots() as usize, index_bits(self.slots()));
        let mut places = vec!["1'b0".to_owned(); slots * self.array.rows as usize];
        let mut place_of = Vec::new();
        for (r, row) in self.array.slots.iter().enumerate() {
            for (s, &context) in row.iter().enumerate() {
                places[r * slots + s] = format!("wanted[{context}]");
                let (stream, head) = (context / c.heads, context % c.heads);
                let name = |width: u32, value: u32| format!("{width}'d{value}");
                let mut of: BTreeMap<&str, tera::Value> = BTreeMap::new();
                let key = format!("{{{}, {}}}", name(c.stream, stream), name(c.head(), head));
                let row_bits =
                    format!("{}'b{:0w$b}", self.array.rows, 1_u64 << r, w = self.array.rows as usize);
                of.insert("context", key.into());
                of.insert("place", format!("{{{row_bits}, {}}}", name(slot_bits, s as u32)).into());
                of.insert("number", context.into());
                of.insert("index", (r * slots + s).into());
                place_of.push(tera::Value::from_iter(of.into_iter().map(|(k, v)| (k.to_owned(), v))));
            }
        }
        // TOKEN_WIDTH is at least ROW_WIDTH, the width of a valid token's position.
        let row_pad = match self.token() - c.row {
            0 => [String::new(), String::new()],
            more => [format!("{{ {more}'d0, "), "}".to_owned()],
        };
        let width = c.slice;
        let kv_heads: Vec<_> = self
            .array
            .kv_heads
            .iter()
            .rev()
            .flat_map(|column| column.iter().rev().map(|g| format!("{width}'d{g}")))
            .collect();
        BTreeMap::from([
            ("places".to_owned(), places.into()),
            ("place_of".to_owned(), place_of.into()),
            ("kv_heads_of".to_owned(), kv_heads.join(", ").into()),
            ("several".to_owned(), (self.blocks() > 1).into()),
            ("row_pad".to_owned(), row_pad.to_vec().into()),
            ("token_of_flits".to_owned(), (self.parts_log() > 0).into()),
            ("parts_log".to_owned(), self.parts_log().into()),
            ("flit_of_tokens".to_owned(), (self.subs_log() > 0).into()),
            ("subs_log".to_owned(), self.subs_log().into()),
            ("second_sum".to_owned(), SECOND_SUM.into()),
        ])
    }
}

/// The documentation of each parameter, once.
impl ModuleBuilder {
    /// Parameters of PaD at a tile.
    pub(in crate::emit::rtl) fn pad_params(self, w: &PadParams) -> Self {
        let c = &w.control;
        let part = w.parts_log().max(1);
        self.control(
            c,
            &["COLS", "ROWS", "X_WIDTH", "Y_WIDTH", "FLIT_WIDTH", "TAG_WIDTH", "INDEX_WIDTH", "MASK_WIDTH"],
        )
        .control(c, &["STREAM_WIDTH", "STREAMS_WIDTH", "LAYER_WIDTH", "SLICE_WIDTH", "ROW_WIDTH"])
        .control(c, &["HEADS", "HEAD_PLACE_WIDTH", "QUERY_WORD_WIDTH", "HALF_FLITS", "ROW_STEP"])
        .param("STREAMS_NUM", c.streams, "Streams that can be decoded at once.")
        .param("ARRAY_ROWS", w.array.rows, "Rows of the array: contexts that process a flit at a time.")
        .param("SLOTS", w.slots(), "Contexts of a row.")
        .param("SLOT_WIDTH", index_bits(w.slots()), "Width of a slot number in bits.")
        .param("LANE_LOG", w.lane_log(), "Elements of a flit, as a power of two.")
        .param("DIM_LOG", w.dim_log(), "Elements of a K or V row, as a power of two.")
        .param("TOKEN_WIDTH", w.token(), "Width of a token of a segment in bits.")
        .param("BLOCK_WIDTH", index_bits(w.blocks()), "Width of a block of a segment in bits.")
        .param("PART_WIDTH", part, "Width of the number of a query's part in bits.")
        .param("SUB_WIDTH", w.subs_log().max(1), "Width of a token's number in a flit in bits.")
        .param("JOB_DEPTH", JOB_DEPTH, "Jobs that wait.")
        .param(
            "LOAD_CYCLES",
            Array::load_cycles(w.array.lanes),
            "Cycles from a load of weights to the first op of that buffer.",
        )
        .param(
            "LOAD_GAP",
            Array::load_gap(w.array.lanes),
            "Cycles from then until the next block may be loaded, a lane a cycle.",
        )
        .param(
            "LOAD_COUNT_WIDTH",
            index_bits(w.array.lanes.max(Array::load_cycles(w.array.lanes)) + 1),
            "Width of the load counter in bits.",
        )
        .param("FREE_CYCLES", w.array.free_cycles(), "Cycles from the last op of a buffer to the next load.")
        .param(
            "FRESH_CYCLES",
            w.array.fresh_cycles(c.head_dim),
            "Cycles from the last word of a query to the first op that uses it.",
        )
        .param("READ_CYCLES", w.array.read_cycles(), "Results that can be in flight in the array.")
        .param("PAD_EVENTS", PAD_EVENTS.len() as u32 + w.array.rows, "Events that are counted.")
        .rest(w)
    }

    /// Where stages do not overlap, the array rests between jobs.
    fn rest(self, w: &PadParams) -> Self {
        if w.control.tile.overlap {
            return self;
        }
        self.param("REST_CYCLES", w.array.rest_cycles(), "Cycles that an op needs to pass a row.").param(
            "REST_WIDTH",
            index_bits(w.array.rest_cycles() + w.array.rows + 1),
            "Width of their number in bits.",
        )
    }
}
