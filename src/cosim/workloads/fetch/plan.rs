//! Plans of fetches: slices with their homes, and commands of the tiles.

use crate::cosim::workloads::SliceId;
use crate::design::NodeId;

/// A slice in the staging memory of its home.
#[derive(Debug, Clone, Copy)]
pub struct Resident {
    /// The slice.
    pub slice: SliceId,
    /// Its home.
    pub home: NodeId,
    /// Cycle of its publication; 0 is before the first command.
    pub cycle: u64,
}

/// A request of a tile for a range of a slice.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// First cycle it may be presented; commands of a tile are presented in order.
    pub cycle: u64,
    /// The slice.
    pub slice: SliceId,
    /// Its home.
    pub home: NodeId,
    /// Heads of the tile that want it, one bit each.
    pub mask: u64,
    /// First flit.
    pub first: u32,
    /// Last flit.
    pub last: u32,
}

/// Inputs of a run.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Slices and their homes.
    pub residents: Vec<Resident>,
    /// Commands of each tile.
    pub commands: Vec<Vec<Command>>,
    /// Cycles of 256 in which a tile refuses flits.
    pub stall: u8,
    /// Seed of stalls and payloads.
    pub seed: u64,
    /// Cycles without a flit or a command after which the run is stuck.
    pub watchdog: u64,
}
