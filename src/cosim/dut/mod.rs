//! A running fabric, whatever carries it: verilated, or the model.
//!
//! * [`network`]: a fabric as traffic and scoreboard see it; [`verilated_mesh`] and [`model_mesh`] carry it.
//! * [`ports`]: a fabric as ports and a clock; [`verilated_ports`], [`model_ports`] and [`split_device`] carry it, [`pins`] drives it.
//! * [`clocks`]: the two clocks; [`waves`]: waves of a part of a run.

pub mod clocks;
mod error;
pub mod model_mesh;
pub mod model_ports;
pub mod network;
mod pin_group;
pub mod pins;
mod port_difference;
pub mod ports;
pub mod split_device;
pub mod verilated_mesh;
pub mod verilated_ports;
pub mod waves;

pub use error::DutError;
pub(in crate::cosim) use pin_group::group_pins;
pub(in crate::cosim) use port_difference::around;
pub use port_difference::PortDifference;
