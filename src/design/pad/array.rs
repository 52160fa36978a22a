//! The PaD array of a tile: its rows, its latencies, and the place of each context.

use crate::config::KvFormat;
use crate::design::design::Design;
use crate::design::mare::slice::is_wide;

/// Words of queries and jobs that wait to cross into the PE clock.
pub const JOB_DEPTH: u32 = 16;
/// Sums of a context that are read in a cycle.
pub const SUMS_READ: u32 = 2;
/// Cycles from a token's dot to its weight in the scratchpad, with the registers before and behind.
const WEIGHT: u32 = 17;
/// Cycles from a dot to the last trace of its op in a row, at least.
const AFTER_DOT: u32 = 24;
/// Cycles by which the second sum of a READ comes later than the first.
pub const SECOND_SUM: u32 = 3;
/// Cycles from a dot until the sums that it reads leave the row, at most.
const READ_AFTER_DOT: u32 = 8 + SECOND_SUM;

/// Most lanes of a tile for which the U280 has block RAM instead of LUT memory, at 24 tiles an SLR.
const SPARING_LANES: u32 = 32;

/// Deepest FIFO of flits that LUT memory holds cheaply.
const LUT_WORDS: u32 = 32;

/// The PaD array of a tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    /// Rows: contexts that process a flit at the same time.
    pub rows: u32,
    /// Elements of a flit.
    pub lanes: u32,
    /// Format of the elements.
    pub format: KvFormat,
    /// Tokens have scales.
    pub token_scales: bool,
    /// Most query heads of a column.
    pub heads: u32,
    /// Contexts by row and slot: stream * heads of a column + place of the head.
    pub slots: Vec<Vec<u32>>,
    /// KV head of each place of each column.
    pub kv_heads: Vec<Vec<u32>>,
}

impl Array {
    /// The array of a design.
    pub fn of(design: &Design) -> Array {
        let (model, rows, heads) = (&design.model, design.pe.array_rows, design.heads.most());
        let mut slots = vec![Vec::new(); rows as usize];
        for stream in 0..model.max_streams {
            for head in 0..heads {
                // Heads of one KV head, and streams of one head, get different rows.
                slots[((stream + head) % rows) as usize].push(stream * heads + head);
            }
        }
        let of_column = |x: u32| {
            let column = design.heads.of_column(x);
            (0..heads).map(|h| (column.start + h).min(model.heads - 1) / model.group_heads()).collect()
        };
        let kv_heads = (0..design.mesh.cols()).map(of_column).collect();
        let (format, token_scales) = (design.pe.format, design.pe.has_token_scales());
        Array { rows, lanes: design.flit.elements, format, token_scales, heads, slots, kv_heads }
    }

    /// True if block RAMs replace LUTs in the FIFO of flits, as they do where there are few lanes.
    fn spares_luts(design: &Design) -> bool {
        design.pe.array_rows * design.flit.elements <= SPARING_LANES
    }

    /// True if the FIFO before the array is in block RAM. That holds for wide flits, whose depth is free
    /// there, and for arrays that spare LUTs. A shallow FIFO stays in LUTs: 32 words take half of what 64
    /// take.
    pub fn fifo_in_block(design: &Design) -> bool {
        (Array::spares_luts(design) || is_wide(design.flit.data_width)) && design.mare.fifo_depth > LUT_WORDS
    }

    /// Cycles from an op to the first row: the flit is registered, masked, and aligned to its largest exponent, which
    /// takes one level of maxima and then two a stage. Elements of E4M3 are decoded instead, those of INT8 are what they are.
    pub fn align_cycles(&self) -> u32 {
        match self.format {
            KvFormat::Fp8E4m3 | KvFormat::Int8 => 3,
            _ => 6 + self.lanes.ilog2() / 2,
        }
    }

    /// Two rows share their multipliers: each has a number of either row.
    pub fn is_packed(&self) -> bool {
        self.format == KvFormat::Int8
    }

    /// Passes of a flit that so many contexts of each row meet. Wide numbers of packed rows are of one context of a pair.
    pub fn passes(&self, contexts: &[u32], narrow: bool) -> u32 {
        let together = if self.is_packed() && !narrow { 2 } else { 1 };
        contexts.chunks(together).map(|rows| rows.iter().sum()).max().unwrap_or(0)
    }

    /// Rows or pairs of them that a flit passes one after the other.
    pub fn stages(&self) -> u32 {
        if self.is_packed() {
            self.rows.div_ceil(2)
        } else {
            self.rows
        }
    }

    /// Cycles by which the last group of four lanes works later than the first. Cascades of packed rows have four groups, and
    /// begin two cycles after one another.
    fn skew(&self) -> u32 {
        let last = self.lanes / 4 - 1;
        if self.is_packed() {
            last / 4 * 2 + last % 4
        } else {
            last
        }
    }

    /// Cycles from an op at a row to its dot: two registers, products group by group, the sum of the four chains. Packed rows
    /// have more chains, whose sums pass two slices and the separation of both rows.
    pub fn dot_cycles(&self) -> u32 {
        self.skew() + if self.is_packed() { 8 } else { 5 }
    }

    /// Cycles from a load of weights to the first op of that buffer. The op waits for its alignment, and each group of
    /// four lanes works a cycle after the one before it, so that the last weights may come later than the op.
    pub fn load_cycles(&self) -> u32 {
        self.lanes + 9 - self.align_cycles() - self.skew()
    }

    /// Cycles from the moment at which a buffer counts as loaded until the scratchpad has read the last of its weights and
    /// may begin with others: with many lanes the first op comes sooner.
    pub fn load_gap(&self) -> u32 {
        self.lanes.saturating_sub(self.load_cycles() + 2)
    }

    /// Cycles from the last op of a buffer until its weights may be loaded again.
    pub fn free_cycles(&self) -> u32 {
        self.stages() + self.align_cycles() - 2
    }

    /// Cycles from the last word of a query to the first op that uses it: the words of a part leave together.
    pub fn fresh_cycles(&self, head_dim: u32) -> u32 {
        (self.lanes.min(head_dim) / 4).max(2)
    }

    /// Cycles from a token's dot to its weight in the scratchpad, with the registers before and behind. The scale of a token's V
    /// takes a multiplication more.
    pub fn weight_cycles(&self) -> u32 {
        WEIGHT + if self.token_scales { 4 } else { 0 }
    }

    /// Cycles in which an op passes alignment and a row.
    pub fn rest_cycles(&self) -> u32 {
        self.align_cycles() + self.dot_cycles() + AFTER_DOT + self.weight_cycles() - WEIGHT
    }

    /// Cycles in which the results of a context are read: l, then those of o.
    pub fn reads(head_dim: u32) -> u32 {
        1 + head_dim / SUMS_READ
    }

    /// Most results in flight in the array.
    pub fn read_cycles(&self) -> u32 {
        self.align_cycles() + self.dot_cycles() + READ_AFTER_DOT + self.rows
    }

    /// Contexts of a row.
    pub fn row_slots(&self) -> u32 {
        self.slots.iter().map(Vec::len).max().unwrap_or(1).max(1) as u32
    }
}
