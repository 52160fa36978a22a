//! The breakdown of a run as a table.

use crate::cli::output::table;
use crate::eval::Part;

/// Name of the part in which KV flows.
const KV: &str = "kv";

/// A table of the parts with what happens in them, and their sum. `bytes` are the cycles of all bytes at the whole
/// bandwidth of the memory.
pub(in crate::cli) fn prose(parts: &[Part], bytes: Option<u64>) -> String {
    let all = parts.iter().map(|part| part.cycles).sum::<u64>();
    let row = |part: &Part| {
        let bytes = bytes.filter(|_| part.name == KV);
        let besides =
            bytes.map_or(String::new(), |bytes| format!("; all bytes take {bytes} at the whole bandwidth"));
        vec![part.name.to_owned(), part.cycles.to_string(), format!("{}{besides}", part.meaning())]
    };
    let mut rows: Vec<_> = parts.iter().map(row).collect();
    rows.push(vec!["all".to_owned(), all.to_string(), String::new()]);
    table::columns(&rows)
}
