//! Pace of the tiles.

/// Pace of every tile, where it is to be slower than its array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Cycles from one flit to the next, at least.
    pub flit_cycles: u32,
    /// Of 256 cycles, those in which a tile takes neither flit nor job.
    pub stall: u8,
}
