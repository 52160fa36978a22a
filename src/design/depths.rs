//! Depths and widths that no configuration changes: what is emitted and what is modelled share them.

/// Words that a stop of the column bus holds: the way there and back, and one.
pub const BUS_DEPTH: u32 = 4;
/// Cycles that registers between two SLRs add to the way there and back.
pub const CROSSING_CYCLES: u32 = 2;
/// Slices that a tile may be told of ahead. As deep as a small memory is.
pub const ASK_DEPTH: u32 = 16;
/// Slices that a home may be told of ahead.
pub const FILL_DEPTH: u32 = 16;
/// Descriptors that wait in each controller.
pub const DESC_DEPTH: u32 = 4;
/// Requests of a tile that wait in the memory port.
pub const REQ_DEPTH: u32 = 4;
/// Bits of an occupancy.
pub const VALUE_WIDTH: u32 = 24;
/// Bits of the counter after which a memory that does not answer is given up.
pub const TIMEOUT_WIDTH: u32 = 16;
/// Repeated fetches that a home can park beside the first of each tile.
pub const PARKED_REPEATS: u32 = 16;
