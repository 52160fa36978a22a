//! Tables of constants in Verilog: the entry of the highest number stands first.

use crate::design::{index_bits, Placement};

/// A Verilog literal of bits.
pub(super) fn bits(value: u64, width: u32) -> String {
    format!("{width}'b{value:0width$b}", width = width as usize)
}

/// The entries of `0..count`, as they stand between braces.
pub(super) fn last_first(count: u32, of: impl Fn(u32) -> String) -> String {
    (0..count).rev().map(of).collect::<Vec<_>>().join(", ")
}

/// Tables by KV head where slices have homes of their own: its column, its place there, the rows by which its homes are
/// ahead in `ahead` bits; and by place, the row in which they begin.
pub(super) fn of_slices(p: &Placement, ahead: u32) -> [(&'static str, String); 4] {
    let (x, place) = (index_bits(p.cols), index_bits(p.kv_heads));
    let by_kv_head = |of: &dyn Fn(u32) -> String| last_first(p.kv_heads, of);
    [
        ("own_columns", by_kv_head(&|g| format!("{x}'d{}", p.own_column(g).0))),
        ("own_places", by_kv_head(&|g| format!("{place}'d{}", p.own_column(g).1))),
        ("turns", by_kv_head(&|g| format!("{ahead}'d{}", p.turn(g)))),
        ("turn_rows", last_first(p.block_slices(), |k| bits(1 << p.turn(k), p.rows))),
    ]
}
