//! Forecast of the cycles of a decode step under each mapping, and the mapping that follows from it.
//!
//! Nothing runs: [`Forecast`] follows the slices of a step, not its flits. So it takes milliseconds, and a host
//! can have its results in a table.

mod choice;
mod follower;
mod server;

pub use choice::Choice;

use super::bounds::Bounds;
use super::descriptor::Descriptor;
use super::design::Design;
use super::mapping::Mapping;
use follower::Follower;

/// Cycles of a decode step under a mapping, before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// Expected cycles of the network's clock, from the first word of queries to the last output.
    pub cycles: u64,
    /// Least cycles of each part, where all fetches for a flit meet. PART on the links and the reading of
    /// results are left out.
    pub bounds: Bounds,
}

impl Forecast {
    /// The forecast of a step of these descriptors, in layers one after the other, all under `mapping`. The first
    /// layer stands for each.
    ///
    /// # Panics
    /// If there is no descriptor.
    pub fn new(design: &Design, descriptors: &[Descriptor], mapping: Mapping) -> Forecast {
        let of_layer = descriptors.iter().take_while(|d| d.layer == descriptors[0].layer).count();
        let mut follower = Follower::new(design);
        for d in &descriptors[..of_layer] {
            follower.descriptor(&Descriptor { mapping, ..*d });
        }
        follower.forecast(descriptors.len() as f64 / of_layer as f64)
    }
}
