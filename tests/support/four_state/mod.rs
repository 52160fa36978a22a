//! A run of the device again in Icarus, a simulator with four states: every input of the record goes in, and every output
//! of every period is compared.
//!
//! Verilator has two states, so an output that it shows may be the chance value of a register that nothing has set. In
//! Icarus such a bit is X, and so is what it reaches.

mod recorder;
mod replay;
mod twins;

pub use recorder::{recorded, Record};
pub use replay::{Monitors, Replay};
pub use twins::Twin;
