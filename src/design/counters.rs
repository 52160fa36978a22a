//! Names of the counted events, in the order of their counters.

use super::design::Design;

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
    let rows = (0..design.config.pe.array_rows).map(|r| format!("row_{r}_passes"));
    PAD_EVENTS.iter().map(|e| (*e).to_owned()).chain(rows).collect()
}
