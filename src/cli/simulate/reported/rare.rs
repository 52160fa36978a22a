//! Rare states that a run has reached: a line a block, and counts for JSON.

use crate::cli::output::table;
use crate::model::cycle::common::Reached;
use std::collections::BTreeMap;

/// Blocks that fetches alone can bring into all of their rare states.
pub(in crate::cli) const OF_MARE: &[&str] =
    &["request_table", "duplicate_filter", "fetch_miss_queue", "requester"];

/// Counts by the name of the bin.
pub(in crate::cli) fn counts(reached: &Reached) -> BTreeMap<&'static str, u64> {
    reached.iter().map(|(rare, count)| (rare.name(), count)).collect()
}

/// How often each state of some blocks was reached, a line a block; of all blocks if none is named.
pub(in crate::cli) fn lines(reached: &Reached, blocks: &[&str]) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (rare, count) in
        reached.iter().filter(|(rare, _)| blocks.is_empty() || blocks.contains(&rare.block()))
    {
        let bin = format!("{} {count}", rare.name());
        match rows.last_mut().filter(|row| row[0] == rare.block()) {
            Some(row) => row[1] = format!("{}, {bin}", row[1]),
            None => rows.push(vec![rare.block().to_owned(), bin]),
        }
    }
    format!("rare states, and how often a block was in them:\n{}", table::columns(&rows))
}
