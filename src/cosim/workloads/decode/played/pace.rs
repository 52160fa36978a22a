//! Slower pace of the tiles.

/// Pace of every tile, if it is to be slower than its array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Least cycles from one flit to the next.
    pub flit_cycles: u32,
    /// Cycles of 256 in which a tile takes neither flit nor job.
    pub stall: u8,
}
