//! Checks of a design with a mutant: short runs with the oracles of the program, the cheapest first.
//!
//! Each check is of one form of the library, verilated as a whole with all wrappers, apart from the requests of tiles
//! at their ports. A check gives the first fault that an oracle names: a difference from the cycle-exact model, a bit
//! of an output, a rule of AXI, a broken count, a run that does not end. None compares with a run of before.

mod attention;
mod bed;
mod decode;
mod device;
mod fetch;
mod network;

pub use bed::{Bed, Check};

use crate::design::Design;

/// All checks of a design, in the order in which they are run.
pub fn checks(design: &Design) -> Vec<Check> {
    let mut all = Vec::new();
    all.extend(network::CHECKS);
    all.extend(fetch::CHECKS);
    all.extend(attention::checks(design));
    all.extend(decode::CHECKS);
    all.extend(device::checks(design));
    all
}
