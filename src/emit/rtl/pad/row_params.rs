//! Parameter values of the rows of PaD's array, and the ports that recur.

use crate::design::{index_bits, model_dim, octave, ultra_blocks, Array, Design, Fpga};
use crate::emit::rtl::module::{Dir, ModuleBuilder};
use std::collections::BTreeMap;

/// Significand bits of the scale of a logit.
const SCALE_BITS: u32 = 26;

/// Bits of a sum without those that count tokens: 36 below the point, 17 of a value, the sign.
const SUM_BITS: u32 = 54;

/// Bits of a logit without those that count elements.
const LOGIT_BITS: u32 = 53;

/// Leading fraction bits that address the table of 2^x.
const TABLE_BITS: u32 = 7;

/// Words of the deepest memory that costs one look-up table a bit.
const LUT_WORDS: u32 = 64;

/// Words of a block RAM of 72 bits.
const BLOCK_WORDS: u32 = 512;

/// Significand bits of a weight.
const WEIGHT_BITS: u32 = 17;

/// Parameter values of a row's modules.
pub(in crate::emit::rtl) struct PadRowParams {
    pub(in crate::emit::rtl) flit: u32,
    rows: u32,
    pub(in crate::emit::rtl) lanes: u32,
    pub(in crate::emit::rtl) head_dim: u32,
    model_dim: u32,
    pub(in crate::emit::rtl) slots: u32,
    pub(in crate::emit::rtl) blocks: u32,
    pub(in crate::emit::rtl) sum: u32,
    /// UltraRAMs of a row that the device can spare for stationary vectors.
    spare_ultra: u32,
}

impl PadRowParams {
    /// Parameters of rows with `slots` contexts each.
    pub(in crate::emit::rtl) fn of(design: &Design, slots: u32) -> PadRowParams {
        let config = &design.config;
        let lanes = config.noc.flit_width / 16;
        // With its staging memory and an UltraRAM of sums a row, a tile has its part of three fifths of the device.
        let of_tile = Fpga::of(config.board).has.uram as u32 * 3 / 5 / design.mesh.tiles() as u32;
        let rows = of_tile.saturating_sub(config.kv.uram_per_tile) / config.pe.array_rows;
        PadRowParams {
            spare_ultra: rows.saturating_sub(1),
            flit: config.noc.flit_width,
            rows: config.pe.array_rows,
            lanes,
            head_dim: config.pe.head_dim,
            model_dim: model_dim(config),
            slots,
            blocks: config.kv.segment_tokens.div_ceil(lanes),
            sum: SUM_BITS + config.model.max_tokens.next_power_of_two().ilog2(),
        }
    }

    /// Vectors of a query: flits of a token, at least 1.
    fn token_parts(&self) -> u32 {
        (self.head_dim / self.lanes).max(1)
    }

    fn places(&self) -> u32 {
        (self.lanes / self.head_dim).max(1)
    }

    /// Words of four elements of a part.
    fn words(&self) -> u32 {
        self.lanes.min(self.head_dim) / 4
    }

    /// Stationary vectors of a row: parts of queries, two buffers of weights a slot.
    fn stations(&self) -> u32 {
        self.slots * (self.token_parts() + 2)
    }

    /// There are too many stationary vectors for LUTs.
    pub(in crate::emit::rtl) fn stations_in_block(&self) -> bool {
        self.stations() > LUT_WORDS
    }

    /// Groups of four lanes whose stationary vectors are in UltraRAM: a quarter at most, as far as the device has any
    /// to spare.
    fn ultra_groups(&self) -> u32 {
        let groups = if self.stations_in_block() { self.lanes / 4 } else { 0 };
        (groups / 4).min(self.spare_ultra)
    }

    /// There are too many sums for block RAM.
    pub(in crate::emit::rtl) fn sums_in_ultra(&self) -> bool {
        self.slots * (self.head_dim + 1) > 2 * BLOCK_WORDS
    }

    /// UltraRAMs of a row: groups of stationary vectors, and the sums.
    pub(in crate::emit::rtl) fn ultra_rams(&self) -> u32 {
        let sums =
            if self.sums_in_ultra() { ultra_blocks(self.sum, self.slots * (self.head_dim + 1)) } else { 0 };
        self.ultra_groups() * ultra_blocks(72, self.stations()) + sums
    }

    /// Values for the templates of a row: the table of 2^x, and the types of its larger memories.
    ///
    /// A look-up table holds 64 bits; beyond that the device has more block RAM. A block RAM holds
    /// 512 words of 72 bits, an UltraRAM 4096.
    pub(in crate::emit::rtl) fn values(&self) -> BTreeMap<String, tera::Value> {
        let stations = if self.stations_in_block() { "block" } else { "distributed" };
        let sums = if self.sums_in_ultra() { "ultra" } else { "block" };
        BTreeMap::from([
            ("octave".to_owned(), PadRowParams::octave().into()),
            ("station_style".to_owned(), stations.into()),
            ("ultra_groups".to_owned(), self.ultra_groups().into()),
            ("part_words".to_owned(), self.words().into()),
            ("sum_style".to_owned(), sums.into()),
        ])
    }

    /// The table of 2^x in Verilog: hexadecimal digits of base and slope, without the leading 1.
    fn octave() -> Vec<String> {
        let word = |(base, slope): (u32, u32)| {
            let base = u64::from(base) & ((1 << octave::BASE_FRACTION) - 1);
            format!("{:09x}", base << (octave::SLOPE_FRACTION + 1) | u64::from(slope))
        };
        octave::octave(TABLE_BITS, WEIGHT_BITS).into_iter().map(word).collect()
    }
}

/// Parameters that repeat from module to module, each described once.
impl ModuleBuilder {
    pub(in crate::emit::rtl) fn lanes(self, w: &PadRowParams) -> Self {
        self.param("LANES", w.lanes, "FP16 elements of a flit, tokens of a block.").param(
            "GROUPS",
            w.lanes / 4,
            "LANES / 4.",
        )
    }
    pub(in crate::emit::rtl) fn pad_flit_width(self, w: &PadRowParams) -> Self {
        self.param("FLIT_WIDTH", w.flit, "LANES * 16.")
    }
    pub(in crate::emit::rtl) fn head_dim(self, w: &PadRowParams) -> Self {
        self.param("HEAD_DIM", w.head_dim, "Elements of a query, of a K row and of a V row.")
    }
    pub(in crate::emit::rtl) fn pad_slots(self, w: &PadRowParams) -> Self {
        self.param("PAD_SLOTS", w.slots, "Contexts of a row at a time, each one query head.")
            .pad_slot_width(w)
    }
    pub(in crate::emit::rtl) fn pad_slot_width(self, w: &PadRowParams) -> Self {
        self.param("PAD_SLOT_WIDTH", index_bits(w.slots), "Width of a slot number of a row in bits.")
    }
    pub(in crate::emit::rtl) fn array_rows(self, w: &PadRowParams) -> Self {
        self.param("ARRAY_ROWS", w.rows, "Rows of the array: contexts that process a flit at a time.")
    }
    /// Parameters of a row, which the array passes on.
    pub(in crate::emit::rtl) fn row_params(self, w: &PadRowParams) -> Self {
        self.lanes(w)
            .head_dim(w)
            .pad_slots(w)
            .places(w)
            .query_parts(w)
            .token_parts(w)
            .token_width(w)
            .blocks(w)
            .dim_width(w)
            .sum_width(w)
            .logit_width(w)
            .pad_scale(w)
    }
    pub(in crate::emit::rtl) fn places(self, w: &PadRowParams) -> Self {
        self.param("PLACES", w.places(), "Tokens of a K flit, at least 1.")
    }
    pub(in crate::emit::rtl) fn query_parts(self, w: &PadRowParams) -> Self {
        self.param("PARTS", w.token_parts(), "Vectors of a query: flits of a token, at least 1.")
            .param("PART_WIDTH", index_bits(w.token_parts()), "Width of a number of them in bits.")
            .word_width(w)
    }
    pub(in crate::emit::rtl) fn part_words(self, w: &PadRowParams) -> Self {
        self.param("PART_WORDS", w.words(), "Words of four elements of a query's part.")
    }
    pub(in crate::emit::rtl) fn dot_cycles(self, w: &PadRowParams) -> Self {
        self.param("DOT_CYCLES", Array::dot_cycles(w.lanes), "Cycles from a registered op to its dot.")
    }
    pub(in crate::emit::rtl) fn word_width(self, w: &PadRowParams) -> Self {
        self.param("WORD_WIDTH", index_bits(w.head_dim / 4), "Width of a position of four elements in bits.")
    }
    pub(in crate::emit::rtl) fn token_parts(self, w: &PadRowParams) -> Self {
        self.param("TOKEN_PARTS", w.token_parts(), "K flits of a token, at least 1.")
    }
    pub(in crate::emit::rtl) fn token_width(self, w: &PadRowParams) -> Self {
        self.param("TOKEN_WIDTH", index_bits(w.blocks * w.lanes), "Width of a token of a segment in bits.")
    }
    pub(in crate::emit::rtl) fn blocks(self, w: &PadRowParams) -> Self {
        self.param("BLOCKS", w.blocks, "Blocks of a segment; the last one is padded.")
            .param("BLOCK_WIDTH", index_bits(w.blocks), "Width of a block of a segment in bits.")
            .param("LANE_WIDTH", index_bits(w.lanes), "Width of a lane number in bits.")
    }
    pub(in crate::emit::rtl) fn dim_width(self, w: &PadRowParams) -> Self {
        self.param("DIM_WIDTH", index_bits(w.head_dim + 1), "Width of a dim, or HEAD_DIM for l, in bits.")
    }
    pub(in crate::emit::rtl) fn sum_width(self, w: &PadRowParams) -> Self {
        self.param(
            "SUM_WIDTH",
            w.sum,
            "Bits of o and l: 36 below the point, the sign, enough for all tokens.",
        )
    }
    pub(in crate::emit::rtl) fn logit_width(self, w: &PadRowParams) -> Self {
        self.param(
            "LOGIT_WIDTH",
            LOGIT_BITS + w.head_dim.ilog2(),
            "Bits of a logit before it is scaled, 20 below the point.",
        )
    }
    pub(in crate::emit::rtl) fn pad_scale(self, w: &PadRowParams) -> Self {
        let (significand, shift) = octave::scale(w.model_dim, SCALE_BITS);
        self.param("SCALE", significand, "log2(e) / sqrt(elements of the model's head), 26 bits.").param(
            "SCALE_SHIFT",
            shift,
            "Its bits below the point.",
        )
    }
    pub(in crate::emit::rtl) fn dot_width(self, w: &PadRowParams) -> Self {
        self.param("DOT_WIDTH", 44 + w.lanes.ilog2(), "Bits of a dot.")
    }
    pub(in crate::emit::rtl) fn station_depth(self, w: &PadRowParams) -> Self {
        let depth = w.stations();
        self.param("DEPTH", depth, "Stationary vectors: parts of queries, two buffers of weights a slot.")
            .param("ADDR_WIDTH", index_bits(depth), "Width of a number of them in bits.")
    }
    /// An op as it travels from row to row.
    pub(in crate::emit::rtl) fn pad_op(self, prefix: &str, dir: Dir) -> Self {
        let b = self.field(prefix, dir, ("valid", "1", "One op a cycle; none can stall.")).field(
            prefix,
            dir,
            ("slot", "PAD_SLOT_WIDTH", ""),
        );
        b.pad_op_fields(prefix, dir)
            .field(prefix, dir, ("exponent", "5", "K, V: exponent of the flit."))
            .field(
                prefix,
                dir,
                ("data", "LANES*27", "K, V: its aligned elements; group g comes 2 + g cycles later."),
            )
    }
    /// What an op has for all rows.
    pub(in crate::emit::rtl) fn pad_op_fields(self, prefix: &str, dir: Dir) -> Self {
        let fields = [
            ("kind", "2", "0 K, 1 V, 2 the flit of ones, which yields l, 3 READ."),
            ("part", "PART_WIDTH", "K: number of the query's part."),
            ("begins", "1", "K: first part of its token."),
            ("ends", "1", "K: last part of its token."),
            ("token", "TOKEN_WIDTH", "K: number of the token in its segment."),
            ("counts", "1", "K: the token is not masked."),
            ("tail", "1", "Returned as k_done; with or without an op."),
            ("dim", "DIM_WIDTH", "V, READ: number of the sum; HEAD_DIM is l."),
            ("buffer", "1", "V, ONES: buffer of the weights."),
            ("clear", "1", "READ: the last of its context."),
        ];
        fields.into_iter().fold(self, |b, field| b.field(prefix, dir, field))
    }
    fn field(self, prefix: &str, dir: Dir, (name, width, doc): (&str, &'static str, &'static str)) -> Self {
        match dir {
            Dir::Input => self.input(format!("{prefix}{name}"), width, doc),
            Dir::Output => self.output(format!("{prefix}{name}"), width, ""),
        }
    }
    /// A word of a query.
    pub(in crate::emit::rtl) fn pad_query(self) -> Self {
        self.group("Four elements of a query.")
            .input("q_rows", "ARRAY_ROWS", "Row of its context, one-hot; none without a word.")
            .input("q_slot", "PAD_SLOT_WIDTH", "")
            .input("q_word", "WORD_WIDTH", "Elements 4 * q_word to 4 * q_word + 3.")
            .input("q_data", 64, "")
    }
    /// Loading of weights, into `times` rows ("ARRAY_ROWS*" or nothing).
    pub(in crate::emit::rtl) fn pad_load(self, times: &str) -> Self {
        self.group("Weights of a block become stationary, from the next cycle on; LANES cycles between two.")
            .input("load_valid", format!("{times}1").replace("*1", "").as_str(), "")
            .input("load_slot", format!("{times}PAD_SLOT_WIDTH").as_str(), "")
            .input("load_block", "BLOCK_WIDTH", "")
            .input("load_buffer", 1, "")
            .input("load_first", "LANE_WIDTH", "First lane whose token has a K op in this segment.")
            .input("load_last", "LANE_WIDTH", "Last such lane; all others are zero.")
    }
    /// Results of READ, of `times` rows.
    pub(in crate::emit::rtl) fn pad_sums(self, times: &str) -> Self {
        let bits = |width: &str| format!("{times}{width}").replace("*1", "");
        self.group("The result of READ.")
            .output("sum_valid", bits("1").as_str(), "")
            .output("sum_data", bits("SUM_WIDTH").as_str(), "")
            .output(
                "sum_next",
                bits("SUM_WIDTH").as_str(),
                "The sum of the next dim, if dim is even; l again if it is l; 0 without a READ. Three cycles later.",
            )
            .output("sum_max", format!("{times}32").as_str(), "m of the slot, 0 if it has none.")
            .output("sum_saturated", bits("1").as_str(), "A logit of the slot was beyond the range.")
    }
}
