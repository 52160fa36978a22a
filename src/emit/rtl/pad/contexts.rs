//! Contexts of a tile, a stream and a head each, and their places in the rows of the array.

use crate::design::{index_bits, Array, Design};
use std::collections::BTreeMap;

/// Which contexts the rows' slots hold, slot by slot, as bits of `wanted`; 0 where a slot has none.
pub(super) fn wanted(array: &Array) -> Vec<String> {
    let slots = array.row_slots() as usize;
    let mut places = vec!["1'b0".to_owned(); slots * array.rows as usize];
    for (r, row) in array.slots.iter().enumerate() {
        for (s, context) in row.iter().enumerate() {
            places[r * slots + s] = format!("wanted[{context}]");
        }
    }
    places
}

/// Each context with its key `{stream, head}`, its place `{one-hot row, slot}`, its number and its index among all slots.
pub(super) fn places(design: &Design, array: &Array) -> Vec<tera::Value> {
    let (slots, heads) = (array.row_slots(), design.heads.most());
    let (slot, stream) = (index_bits(slots), index_bits(design.model.max_streams));
    let head = index_bits(heads);
    let of = |(r, s, context): (usize, usize, u32)| {
        let row = format!("{}'b{:0width$b}", array.rows, 1_u64 << r, width = array.rows as usize);
        let key = format!("{{{stream}'d{}, {head}'d{}}}", context / heads, context % heads);
        let values: BTreeMap<&str, tera::Value> = BTreeMap::from([
            ("context", key.into()),
            ("place", format!("{{{row}, {slot}'d{s}}}").into()),
            ("number", context.into()),
            ("index", (r * slots as usize + s).into()),
        ]);
        tera::Value::from_iter(values.into_iter().map(|(name, value)| (name.to_owned(), value)))
    };
    let rows = array.slots.iter().enumerate();
    let all = rows.flat_map(|(r, row)| row.iter().enumerate().map(move |(s, &context)| (r, s, context)));
    all.map(of).collect()
}

/// KV heads of all columns' heads, the last first.
pub(super) fn kv_heads(array: &Array, width: u32) -> String {
    let all: Vec<_> = array.kv_heads.iter().flatten().map(|g| format!("{width}'d{g}")).collect();
    all.into_iter().rev().collect::<Vec<_>>().join(", ")
}
