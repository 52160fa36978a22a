//! Times of single packets, for files that list them.

use crate::cosim::checks::scoreboard::Arrival;
use crate::design::{Class, NodeId};

/// A packet of the sample at one of its destinations. Times are cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketTimes {
    /// Sending tile.
    pub source: NodeId,
    /// The receiving tile.
    pub destination: NodeId,
    /// Class of its flits.
    pub class: Class,
    /// Its flits.
    pub flits: u32,
    /// Cycle in which it was generated, or became ready in a trace.
    pub generated: u64,
    /// Cycle in which its first flit left the source queue.
    pub entered: u64,
    /// Cycle in which its last flit reached the destination.
    pub arrived: u64,
}

impl PacketTimes {
    /// The packet whose last flit has come to a tile.
    pub(super) fn of(arrival: &Arrival, destination: NodeId, arrived: u64) -> PacketTimes {
        let &Arrival { source, class, flits, generated, entered, .. } = arrival;
        PacketTimes { source, destination, class, flits, generated, entered, arrived }
    }

    /// Cycles from the source queue to the ejection of its last flit.
    pub fn latency(&self) -> u64 {
        self.arrived - self.generated
    }
}
