//! Random designs with random loads, for model and Verilog in lockstep.
//!
//! * `network`: routers alone, under eight runs of traffic;
//! * `storm`: routers with transports, under storms of fetches;
//! * `fabric`: the whole fabric, under decode steps;
//! * `device`: the front in Verilog before a model of the core, whose host and memory do what they must not.
//!
//! Beside them are runs and steps of drawn shapes, whose cycles are set beside forecasts: [`drawn_run`], [`drawn_step`].

mod device;
pub(super) mod drawn_run;
pub(super) mod drawn_step;
mod fabric;
mod network;
mod storm;

pub use device::{SoakDevice, BY_DEVICES};
pub use fabric::SoakFabric;
pub use network::{take, SoakCase, SoakRun};
pub use storm::SoakStorm;

use crate::cosim::hash::mix;
use crate::model::cycle::common::Rare;

/// Rare states that these cases do not reach. Steps that overlap name slices again. A home has no second token before the
/// first is in its slice. Tiles have fewer ranges at once than a home parks.
pub const BEYOND: [Rare; 4] = [Rare::NextOfName, Rare::NameAwaited, Rare::TokenAwaited, Rare::QueueFull];

/// Draws numbers from a seed.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Draw {
        Draw(mix(seed))
    }

    /// A number from `from` to `to`.
    pub(super) fn from(&mut self, from: u32, to: u32) -> u32 {
        self.0 = mix(self.0);
        from + (self.0 >> 32) as u32 % (to - from + 1)
    }

    pub(super) fn one_in(&mut self, n: u32) -> bool {
        self.from(1, n) == 1
    }

    pub(super) fn of<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.from(0, items.len() as u32 - 1) as usize].clone()
    }
}
