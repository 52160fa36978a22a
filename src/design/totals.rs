//! Widths of the totals and errors that tiles report to the host.

/// Kinds of totals that tiles show: of links, of fetching, of what computes.
pub const COUNTER_KINDS: u32 = 3;
/// Bits of a total that is counted.
pub const TOTAL_BITS: u32 = 32;
/// Bits of a tile's number where a total is looked for.
pub const SELECT_TILE_BITS: u32 = 9;
/// Errors that a tile tells: its memory answered by one, or not at all.
pub const TILE_ERRORS: u32 = 2;
