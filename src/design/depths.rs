//! Depths and widths that no configuration changes, shared by the Verilog and the model.

/// Words that a stop of the column bus holds: those in flight during a round trip, and one.
pub const BUS_DEPTH: u32 = 4;
/// Cycles that registers between two SLRs add to a round trip.
pub const CROSSING_CYCLES: u32 = 2;
/// Announced slices that a tile can queue: the depth of a small LUT memory.
pub const ASK_DEPTH: u32 = 16;
/// Announced slices that a home can queue.
pub const FILL_DEPTH: u32 = 16;
/// Descriptors that wait in each controller.
pub const DESC_DEPTH: u32 = 4;
/// Groups of query words that wait for each column's bus, at most: the depth of a LUT memory.
pub const QUERY_DEPTH: u32 = 64;
/// Requests of a tile that wait in the memory port.
pub const REQ_DEPTH: u32 = 4;
/// Bits of an occupancy value.
pub const VALUE_WIDTH: u32 = 24;
/// Bits of the timeout counter of a memory that does not answer.
pub const TIMEOUT_WIDTH: u32 = 16;
/// Fetches that a home holds between their look-up and the request table.
pub const CHECKED_DEPTH: u32 = 8;
/// Misses that a home can hold in addition to one of each tile. A requester without a prefetcher may have
/// several waiting.
pub const EXTRA_MISSES: u32 = 16;
