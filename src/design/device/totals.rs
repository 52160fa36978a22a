//! Widths of the counters and errors that tiles report to the host.

/// Kinds of counters that tiles report: of links, of fetches, of PaD.
pub const COUNTER_KINDS: u32 = 3;
/// Bits of a counter.
pub const TOTAL_BITS: u32 = 32;
/// Bits of the tile number that selects a counter.
pub const SELECT_TILE_BITS: u32 = 9;
/// Errors of its memory that a tile reports: an error response, and a timeout.
pub const TILE_ERRORS: u32 = 2;
/// Bits of the place of a wrong parity that a tile reports.
pub const FLAW_BITS: u32 = 3;
