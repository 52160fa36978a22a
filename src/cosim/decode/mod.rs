//! Decode steps on the whole fabric: descriptors in, every slice at every tile that needs it, PART at the roots.
//!
//! ```text
//! Workload -- step --> Descriptor --+--> fabric --> jobs, flits, PART --> ledger --> Decoded
//!                                   +--> expect (who must get what) --------^
//! ```
//!
//! * [`step`](step()): the descriptors of a decode step, or of a stated sample of it.
//! * `expect`: which tile must get which slice, from the mapping alone; `ledger` holds the fabric to it.
//! * `parts`: PART packets and what must reach the reduce roots.
//! * `compute`: the arrays of the tiles, as long as they take; the roots behind the fabric are the model's too.
//! * `queries`: the queries of a layer, which go in before its descriptors.
//! * [`Bench`]: drives the ports cycle by cycle, with [`super::memory`] behind the homes.

mod account;
mod bench;
mod compute;
mod descriptor;
mod expect;
mod ledger;
mod measured;
mod parts;
mod period;
mod ports;
mod queries;
mod run;
mod step;
mod waiting;

pub use bench::{Bench, Progress};
pub use compute::Pace;
pub use descriptor::{named_twice, Descriptor};
pub use measured::{Decoded, StepCounts, Swap};
pub use step::{step, Step, Workload, WorkloadError};

use super::clocks::Clocks;
use super::dut::DutError;
use super::memory::{Behaviour, Image};
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

/// Flits that all tiles together take in one step; swaps do not change it.
pub fn flits_of_step(design: &Design, descriptors: &[Descriptor]) -> u64 {
    let homes = expect::Homes::new(design);
    let of_need = |need: expect::Need| -> u64 {
        expect::flits(design, need.rows).into_iter().map(|range| range.count() as u64).sum()
    };
    let of_descriptor = |d| expect::needs(design, &homes, d).into_iter().map(of_need);
    descriptors.iter().flat_map(of_descriptor).sum()
}

/// Why a run could not end, or ended in vain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The fabric stopped.
    #[error(transparent)]
    Dut(#[from] DutError),
    /// Nothing moved although something was awaited.
    #[error("nothing has moved for {cycles} cycles at cycle {at}: {blocked}")]
    Stuck {
        /// How long.
        cycles: u64,
        /// When it was noticed.
        at: u64,
        /// Who waits for what.
        blocked: String,
    },
    /// A home reports that its memory failed; all else came to its end.
    #[error("external memory failed: {first}{others}\n  help: what was read there is not to be trusted; the step has to be run again")]
    Memory {
        /// The first that was noticed.
        first: MemoryFault,
        /// How many others there are, as words.
        others: String,
        /// All of them.
        all: Vec<MemoryFault>,
    },
    /// The caller did not want to wait any longer.
    #[error("the run was stopped")]
    Stopped,
}

/// What a home reports of its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryFault {
    /// (x, y) of the home.
    pub tile: (u32, u32),
    /// No answer in time, rather than an answer that is an error.
    pub timeout: bool,
}

impl std::fmt::Display for MemoryFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (x, y) = self.tile;
        match self.timeout {
            false => write!(f, "a read of tile ({x}, {y}) was answered with an error"),
            true => write!(f, "a read of tile ({x}, {y}) was not answered within {TIMEOUT} cycles"),
        }
    }
}

#[cfg(test)]
mod tests;
