//! Names of the counted events, in the order of their counters.

use crate::design::design::Design;
use schemars::{json_schema, Schema, SchemaGenerator};
use serde_json::{json, Map, Value};

/// Events a tile counts, in the order of `event_index`.
pub const TILE_EVENTS: [&str; 23] = [
    "fetches",
    "joins",
    "retries",
    "commands_waiting",
    "flits_taken",
    "duplicate_flits",
    "requests_opened",
    "requests_merged",
    "table_full_cycles",
    "chunks_looked_up",
    "bloom_positives",
    "bloom_false_positives",
    "exact_hits",
    "chunks_trimmed",
    "chunks_dropped",
    "tags_full",
    "flits_streamed",
    "stream_stalled",
    "flits_kept",
    "fetches_parked",
    "flits_filled",
    "slices_filled",
    "fill_waiting",
];

/// Meaning of each of [`TILE_EVENTS`].
const TILE_MEANINGS: [&str; TILE_EVENTS.len()] = [
    "First fetches that requesters sent.",
    "Fetches of heads that join others.",
    "Fetches repeated after a time-out.",
    "Cycles in which a command was not accepted.",
    "Flits that a slot waited for.",
    "Flits that no slot waited for.",
    "Fetches at homes that opened a request.",
    "Fetches at homes that joined a request.",
    "Cycles in which a fetch waited for an entry.",
    "Chunks that the duplicate filter looked up.",
    "Chunks that its Bloom filter held.",
    "Chunks of these that its tags did not hold.",
    "Chunks that its tags held.",
    "Chunks that some of their destinations already had.",
    "Chunks that all of their destinations already had.",
    "Chunks sent and not remembered.",
    "Flits that homes sent.",
    "Cycles that they waited.",
    "Flits for the home's own tile.",
    "Fetches that found their slice missing.",
    "Flits read from external memory.",
    "Slices read from external memory.",
    "Cycles in which a slice waited for a free slot.",
];

/// Schema of an object of counts: of each key its name and meaning.
pub fn counts_schema(keys: &[(&str, &str)]) -> Schema {
    let count =
        |doc: &str| json!({ "description": doc, "type": "integer", "format": "uint64", "minimum": 0 });
    let properties: Map<String, Value> =
        keys.iter().map(|&(name, doc)| (name.to_owned(), count(doc))).collect();
    let required: Vec<&str> = keys.iter().map(|key| key.0).collect();
    json_schema!({ "type": "object", "properties": properties, "required": required })
}

/// Schema of the sums of all tiles' counters, by the name of the event.
pub fn counters_schema(_: &mut SchemaGenerator) -> Schema {
    let all: [_; TILE_EVENTS.len()] = std::array::from_fn(|i| (TILE_EVENTS[i], TILE_MEANINGS[i]));
    counts_schema(&all)
}

/// Events that PaD counts, in the order of `pad_index`; those of each row follow.
pub const PAD_EVENTS: [&str; 8] = [
    "flits_accepted",
    "k_passes",
    "v_passes",
    "ones_passes",
    "flit_waits_or_passes",
    "starved",
    "weights_awaited",
    "reading_results",
];

/// Events of PaD in a design, in the order of `pad_index`.
pub fn pad_events(design: &Design) -> Vec<String> {
    let rows = (0..design.pe.array_rows).map(|r| format!("row_{r}_passes"));
    PAD_EVENTS.iter().map(|e| (*e).to_owned()).chain(rows).collect()
}
