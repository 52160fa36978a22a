//! Everything that a run of decode steps is made of.

use super::pace::Pace;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::memory::{Behaviour, Image};
use crate::cosim::workloads::descriptor::Descriptor;
use crate::design::Design;

/// In which order a tile must get the flits of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// All K, then all V, by their rows.
    Slice,
    /// Within a chunk; chunks may come in any order.
    Chunk,
}

/// All that a run is made of.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The descriptors of one step, the last of which ends it.
    pub descriptors: Vec<Descriptor>,
    /// How often they are sent.
    pub steps: u32,
    /// Whether layers and steps are sent before those before them have ended. Then no slice may be named
    /// again before it has been served: a home tells slices by their tags.
    pub overlap: bool,
    /// Pace of the tiles, where it is to be slower than their arrays.
    pub pace: Pace,
    /// Of the network and of what computes.
    pub clocks: Clocks,
    /// In which order they must get the flits of a slice.
    pub order: Order,
    /// How the external memory answers.
    pub memory: Behaviour,
    /// What it holds.
    pub image: Image,
    /// Of stalls and of what PART carries.
    pub seed: u64,
    /// Cycles without any movement after which the run is stuck.
    pub watchdog: u64,
}

/// Cycles without an answer after which a home reports a time-out and goes on.
pub const TIMEOUT: u64 = 65_536;

impl Plan {
    /// One step at full pace on the platform of the design.
    pub fn new(design: &Design, descriptors: Vec<Descriptor>, seed: u64) -> Plan {
        Plan {
            descriptors,
            steps: 1,
            overlap: false,
            pace: Pace { flit_cycles: 1, stall: 0 },
            clocks: Clocks {
                noc_mhz: design.config.clock.noc_mhz,
                pe_mhz: design.config.clock.pe_mhz,
                ..Clocks::IN_STEP
            },
            order: Order::Slice,
            memory: Behaviour { seed, ..Behaviour::of(design) },
            image: Image::Hash(seed),
            seed,
            // A home may wait for memory, and then a tile for what it asked for again.
            watchdog: 2 * TIMEOUT + 4 * u64::from(design.mare.retry_cycles().1),
        }
    }
}
