//! Plan of a run of decode steps.

use super::scoreboard::flits_of_step;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::ports::LinkFlip;
use crate::cosim::memory::{Behaviour, Image};
use crate::cosim::workloads::decode::played::pace::Pace;
use crate::cosim::workloads::shared::bound::Pace as BoundPace;
use crate::cosim::workloads::{Bound, Watchdog};
use crate::design::Descriptor;
use crate::design::Design;

/// Order in which a tile must get the flits of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// All K, then all V, in the order of their rows.
    Slice,
    /// In order within a chunk; chunks may come in any order.
    Chunk,
}

/// Inputs of a run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The descriptors of one step, the last of which ends it.
    pub descriptors: Vec<Descriptor>,
    /// Number of steps.
    pub steps: u32,
    /// True if layers and steps are sent before earlier ones have ended. Then no slice may be named
    /// again before it has been served: a home distinguishes slices by their tags.
    pub overlap: bool,
    /// Pace of the tiles, if it is to be slower than their arrays.
    pub pace: Pace,
    /// Clocks of the network and of PaD.
    pub clocks: Clocks,
    /// Order in which tiles must get the flits of a slice.
    pub order: Order,
    /// Timing and faults of the external memory.
    pub memory: Behaviour,
    /// Contents of the external memory.
    pub image: Image,
    /// Seed of stalls and of the payload of PART.
    pub seed: u64,
    /// A bit of a flit on a link that is inverted.
    pub flip: Option<LinkFlip>,
    /// When the run is stuck.
    pub watchdog: Watchdog,
}

impl Plan {
    /// One step at full pace on the platform of the design.
    pub fn new(design: &Design, descriptors: Vec<Descriptor>, seed: u64) -> Plan {
        Plan {
            descriptors,
            steps: 1,
            overlap: false,
            pace: Pace { flit_cycles: 1, stall: 0 },
            clocks: Clocks { noc_mhz: design.clock.noc_mhz, pe_mhz: design.clock.pe_mhz, ..Clocks::IN_STEP },
            order: Order::Slice,
            memory: Behaviour { seed, ..Behaviour::of(design) },
            image: Image::Hash(seed),
            seed,
            flip: None,
            watchdog: Watchdog::of(design),
        }
    }

    /// The bound of its cycles: the steps one after the other.
    pub fn bound(&self, design: &Design) -> Bound {
        let steps = usize::try_from(self.steps).unwrap_or(usize::MAX);
        let all: Vec<_> = std::iter::repeat_n(&self.descriptors, steps).flatten().copied().collect();
        let flits = flits_of_step(design, &self.descriptors).saturating_mul(u64::from(self.steps));
        let pace =
            BoundPace { flit_cycles: self.pace.flit_cycles, stall: self.pace.stall, clocks: self.clocks };
        Bound::of_descriptors(design, &all, flits, &self.memory, pace)
    }
}
