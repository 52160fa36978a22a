//! Plans: which slices are where, and which tile asks when for what.

use crate::cosim::workloads::SliceId;
use crate::design::NodeId;

/// A slice in the staging memory of its home.
#[derive(Debug, Clone, Copy)]
pub struct Resident {
    /// Which.
    pub slice: SliceId,
    /// Where.
    pub home: NodeId,
    /// Cycle in which it becomes known; 0 is before the first command.
    pub cycle: u64,
}

/// A tile asks for a range of a slice.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// First cycle it may be presented; commands of a tile are presented in order.
    pub cycle: u64,
    /// Which slice.
    pub slice: SliceId,
    /// Its home.
    pub home: NodeId,
    /// Heads of the tile that want it, a bit each.
    pub mask: u64,
    /// First flit.
    pub first: u32,
    /// Last flit.
    pub last: u32,
}

/// All that happens in a run.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// What is where.
    pub residents: Vec<Resident>,
    /// What each tile asks for.
    pub commands: Vec<Vec<Command>>,
    /// Of 256 cycles, those in which a tile does not take what has come.
    pub stall: u8,
    /// Of stalls and payloads.
    pub seed: u64,
    /// Cycles without a flit or a command after which the run is stuck.
    pub watchdog: u64,
}
