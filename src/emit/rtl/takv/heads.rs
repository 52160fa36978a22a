//! Query heads of the columns, as Verilog tables.

use crate::design::{index_bits, Design};
use crate::emit::rtl::takv::tables::last_first;
use std::ops::Range;

/// Tables of the query heads: the first of each column, the last place of each, which columns have any, and all heads in
/// the order in which the front sends them.
pub(super) fn tables(design: &Design) -> [(&'static str, String); 4] {
    let id = index_bits(design.heads.heads());
    let columns: Vec<_> = (0..design.mesh.cols()).map(|x| design.heads.of_column(x)).collect();
    let by_column =
        |of: &dyn Fn(&Range<u32>) -> String| last_first(design.mesh.cols(), |x| of(&columns[x as usize]));
    let count = |heads: &Range<u32>| heads.end - heads.start;
    let order = order(design, &columns);
    [
        ("first_heads", by_column(&|heads| format!("{id}'d{}", heads.start))),
        ("last_places", by_column(&|heads| format!("{id}'d{}", count(heads).max(1) - 1))),
        ("have_heads", by_column(&|heads| format!("1'b{}", count(heads).min(1)))),
        ("head_order", last_first(order.len() as u32, |i| format!("{id}'d{}", order[i as usize]))),
    ]
}

/// Query heads in the order in which the front sends them: the first of each column, then the second. Heads that share
/// flits go in their order in memory.
fn order(design: &Design, columns: &[Range<u32>]) -> Vec<u32> {
    let heads = columns.iter().map(|heads| heads.end).max().unwrap_or(0);
    if design.flit_rows() > 1 {
        return (0..heads).collect();
    }
    let of_turn = |turn| columns.iter().filter(move |c| c.start + turn < c.end).map(move |c| c.start + turn);
    (0..heads).flat_map(of_turn).collect()
}
