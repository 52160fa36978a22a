//! The rows of PaD's array: their memories, and their values.

use crate::config::KvFormat;
use crate::design::pad::octave;
use crate::design::{ultra_blocks, Array, Design};
use crate::emit::rtl::pad::element;
use crate::emit::rtl::reduce::root::sum_width;
use crate::emit::rtl::spec::values::Values;

/// Significand bits of the scale of a logit.
const SCALE_BITS: u32 = 26;

/// Bits of a logit without those that count elements.
const LOGIT_BITS: u32 = 53;

/// Bits of a product of two significands.
const DOT_BITS: u32 = 44;

/// Bits of a product of a number of 18 bits and an integer of 8, both signed, that fills neither.
const PAIR_BITS: u32 = 25;

/// Places of the sum of a block's weights above those of a dot, and the exponent of a flit of ones.
const ONES_SHIFT: u32 = 35;

/// Bits of a weight in the sum of a block.
const TOTAL_BITS: u32 = WEIGHT_BITS + 5;

/// Leading fraction bits that address the table of 2^x.
const TABLE_BITS: u32 = 7;

/// Words of the deepest memory that costs one look-up table a bit.
const LUT_WORDS: u32 = 64;

/// Words of a block RAM of 72 bits.
const BLOCK_WORDS: u32 = 512;

/// Significand bits of a weight.
const WEIGHT_BITS: u32 = 17;

/// Bits of an aligned element with its sign.
fn aligned_bits(format: KvFormat) -> u32 {
    match format {
        KvFormat::Fp16 | KvFormat::Bf16 => 27,
        KvFormat::Fp8E4m3 => 19,
        KvFormat::Fp8E5m2 => 21,
        KvFormat::Int8 => 8,
    }
}

/// The rows of the array of a tile.
pub(in crate::emit::rtl) struct Rows {
    rows: u32,
    lanes: u32,
    head_dim: u32,
    model_dim: u32,
    slots: u32,
    blocks: u32,
    sum: u32,
    align_cycles: u32,
    dot_cycles: u32,
    /// Two rows share their multipliers.
    packed: bool,
    /// Bits of an aligned element with its sign.
    aligned_bits: u32,
    /// Name of the format of elements.
    element: &'static str,
    /// The scale of logits is given by a host.
    scaled: bool,
    sinks: bool,
    /// Cycles from a dot to its weight in the scratchpad.
    weight_cycles: u32,
    /// Exponent of a flit of ones, where it is that of all flits.
    ones_exponent: u32,
    /// UltraRAMs of a row that the device can spare for stationary vectors.
    spare_ultra: u32,
}

impl Rows {
    /// Parameters of rows with `slots` contexts each.
    pub(in crate::emit::rtl) fn of(design: &Design, slots: u32) -> Rows {
        let (pe, lanes) = (&design.pe, design.flit.elements);
        // With its staging memory and an UltraRAM of sums a row, a tile has its part of three fifths of the device.
        let of_tile = design.fpga().has.uram as u32 * 3 / 5 / design.mesh.tiles() as u32;
        let rows = of_tile.saturating_sub(design.staging_urams()) / pe.array_rows;
        let array = Array::of(design);
        Rows {
            spare_ultra: rows.saturating_sub(1),
            rows: pe.array_rows,
            lanes,
            head_dim: pe.head_dim,
            model_dim: design.model.head_dim,
            slots,
            blocks: design.placement.segment_tokens.div_ceil(lanes),
            sum: sum_width(design),
            align_cycles: array.align_cycles(),
            dot_cycles: array.dot_cycles(),
            packed: array.is_packed(),
            aligned_bits: aligned_bits(pe.format),
            element: element(design),
            scaled: pe.is_scaled(),
            sinks: design.has_sinks(),
            weight_cycles: array.weight_cycles(),
            ones_exponent: octave::fixed_exponent(pe.format).unwrap_or(0),
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

    /// Sets the values of a row: widths, the table of 2^x, and the types of its larger memories.
    ///
    /// A look-up table holds 64 bits; beyond that the device has more block RAM. A block RAM holds
    /// 512 words of 72 bits, an UltraRAM 4096.
    pub(in crate::emit::rtl) fn set(&self, values: &mut Values) {
        let (scale, mut scale_shift) = octave::scale(self.model_dim, SCALE_BITS);
        if self.scaled {
            scale_shift = octave::GIVEN_SHIFT;
        }
        values.numbers(&[
            ("array_rows", self.rows),
            ("lanes", self.lanes),
            ("lane_groups", self.lanes / 4),
            ("pad_slots", self.slots),
            ("stations", self.stations()),
            ("ultra_groups", self.ultra_groups()),
            ("flit_tokens", self.places()),
            ("query_parts", self.token_parts()),
            ("token_parts", self.token_parts()),
            ("part_words", self.words()),
            ("segment_blocks", self.blocks),
            ("dot_cycles", self.dot_cycles),
            ("align_cycles", self.align_cycles),
            ("aligned_bits", self.aligned_bits),
            ("exponent_bits", if self.scaled { 7 } else { 5 }),
            ("above_bits", if self.scaled { 9 } else { 7 }),
            ("pair_width", PAIR_BITS + self.lanes.ilog2()),
            ("dot_width", DOT_BITS + self.lanes.ilog2()),
            ("logit_width", LOGIT_BITS + self.head_dim.ilog2()),
            ("scale", scale),
            ("scale_shift", scale_shift),
            ("weight_cycles", self.weight_cycles),
            ("ones_exponent", self.ones_exponent),
            // A one has this exponent, and a weight's sum has five bits more than a stationary number.
            ("ones_shift", ONES_SHIFT - self.ones_exponent),
            ("total_bits", TOTAL_BITS + self.lanes.ilog2()),
        ]);
        values.widths(&[
            ("pad_slot_width", self.slots),
            ("station_addr_width", self.stations()),
            ("query_part_width", self.token_parts()),
            ("word_width", self.head_dim / 4),
            ("token_width", self.blocks * self.lanes),
            ("segment_block_width", self.blocks),
            ("lane_width", self.lanes),
            ("dim_width", self.head_dim + 1),
        ]);
        values.set("element", self.element);
        values.set("scaled", self.scaled);
        values.set("sinks", self.sinks);
        values.set("packed", self.packed);
        values.set("station_style", if self.stations_in_block() { "block" } else { "distributed" });
        values.set("sum_style", if self.sums_in_ultra() { "ultra" } else { "block" });
        values.set("octave", Rows::octave());
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
