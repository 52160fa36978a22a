//! Mapping of query heads to columns, and within a column to tiles.
//!
//! Columns get contiguous runs of heads. The fetches of a column are a list of [`Piece`]s, the same for every
//! segment. The [`Mapping`] selects the tile of the column that fetches a piece.

use crate::config::Config;
pub use crate::config::{Mapping, Sharing};
use std::ops::Range;

impl Mapping {
    /// Number in a descriptor.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The mapping with this number. Of two bits, the number that none has counts as the last, as in the Verilog.
    pub fn of_number(number: u32) -> Mapping {
        Mapping::ALL.get(number as usize).copied().unwrap_or(Mapping::StreamStriped)
    }
}

/// Assignment of query heads to columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heads {
    cols: u32,
    rows: u32,
    /// Units of the assignment: GQA groups or single heads. A column gets a contiguous run of them.
    units: u32,
    /// Heads of a unit.
    unit: u32,
}

/// Part of the slices of one KV head that one column fetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// KV head g of the slice.
    pub kv_head: u32,
    /// The column that fetches it.
    pub column: u32,
    /// Receiving heads, one bit for each head's place in the column.
    pub mask: u64,
    /// Rows of those heads under [`Mapping::HeadTile`] in stream 0, one bit a row.
    pub rows: u64,
    /// Rotation of the order in which homes are visited, so that not all tiles fetch from one home at once.
    pub rho: u32,
    /// True for the last piece of its KV head.
    pub last: bool,
    /// Round in which its heads are finished, one after the other in each column, where all rows work on a head.
    pub round: u32,
}

impl Heads {
    /// Assigns whole GQA groups if there is one for each column, else single heads.
    pub(in crate::design) fn new(config: &Config) -> Heads {
        let (cols, rows) = (config.mesh.cols, config.mesh.rows);
        let (heads, kv_heads) = (config.model.heads, config.model.kv_heads);
        let (units, unit) = if kv_heads >= cols { (kv_heads, heads / kv_heads) } else { (heads, 1) };
        Heads { cols, rows, units, unit }
    }

    /// Query heads of all columns.
    pub fn heads(&self) -> u32 {
        self.units * self.unit
    }

    /// Query heads of column `x`.
    pub fn of_column(&self, x: u32) -> Range<u32> {
        let begin = |x: u32| x * self.units / self.cols * self.unit;
        begin(x)..begin(x + 1)
    }

    /// The column that computes query head `head`.
    pub fn column(&self, head: u32) -> u32 {
        ((head / self.unit + 1) * self.cols - 1) / self.units
    }

    /// The place of query head `head` among those of its column.
    pub fn index(&self, head: u32) -> u32 {
        head - self.of_column(self.column(head)).start
    }

    /// Most heads of a column: the width of a head mask.
    pub fn most(&self) -> u32 {
        self.units.div_ceil(self.cols) * self.unit
    }

    /// Rows from one head of a column to the next under [`Mapping::HeadTile`] (K).
    pub fn row_step(&self) -> u32 {
        (self.rows / self.most()).max(1)
    }

    /// Row of the head with this place in its column, under [`Mapping::HeadTile`] in stream `stream`.
    pub(in crate::design) fn fixed_row(&self, index: u32, stream: u32) -> u32 {
        (index * self.row_step() + stream) % self.rows
    }
}

#[cfg(test)]
mod tests {
    use crate::design::takv::mapping::*;
    use crate::design::Design;

    /// Columns, rows, heads, KV heads: even and uneven, with and without groups, fewer heads than columns.
    const SHAPES: [(u32, u32, u32, u32); 8] = [
        (8, 8, 32, 32),
        (8, 8, 32, 8),
        (16, 4, 32, 8),
        (8, 8, 12, 12),
        (3, 2, 6, 3),
        (5, 7, 21, 7),
        (8, 3, 5, 1),
        (2, 16, 96, 8),
    ];

    fn design((cols, rows, heads, kv_heads): (u32, u32, u32, u32)) -> Design {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (cols, rows);
        (config.model.heads, config.model.kv_heads) = (heads, kv_heads);
        Design::from_config("test", &config).unwrap()
    }

    #[test]
    fn runs_of_heads_are_contiguous_and_as_even_as_they_go() {
        for shape in SHAPES {
            let (heads, all) = (design(shape).heads, shape.2);
            let runs: Vec<_> = (0..shape.0).map(|x| heads.of_column(x)).collect();
            assert_eq!((runs[0].start, runs[runs.len() - 1].end), (0, all));
            assert!(runs.windows(2).all(|pair| pair[0].end == pair[1].start), "{runs:?}");
            let lengths = || runs.iter().map(|run| run.len() as u32);
            assert!(lengths().max().unwrap() - lengths().min().unwrap() <= heads.unit, "{runs:?}");
            assert_eq!(lengths().max(), Some(heads.most()));
            for (x, run) in runs.iter().enumerate() {
                for (index, head) in run.clone().enumerate() {
                    assert_eq!((heads.column(head), heads.index(head)), (x as u32, index as u32), "{runs:?}");
                }
            }
        }
    }

    #[test]
    fn twelve_heads_on_eight_columns_are_one_or_two_each() {
        let heads = design((8, 8, 12, 12)).heads;
        let lengths: Vec<_> = (0..8).map(|x| heads.of_column(x).len()).collect();
        assert_eq!(lengths, [1, 2, 1, 2, 1, 2, 1, 2]);
    }

    #[test]
    fn a_group_stays_in_one_column_where_there_is_one_for_each() {
        for shape in SHAPES.into_iter().filter(|(cols, _, _, kv_heads)| kv_heads >= cols) {
            let design = design(shape);
            let group = shape.2 / shape.3;
            for head in 0..shape.2 {
                assert_eq!(design.heads.column(head), design.heads.column(head / group * group), "{shape:?}");
            }
            assert_eq!(design.pieces(Sharing::KvHead).len(), shape.3 as usize);
        }
    }
}
