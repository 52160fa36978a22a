//! A running fabric, either verilated or the model.
//!
//! * [`network`]: the fabric as a network of flits; [`verilated_mesh`](verilated::verilated_mesh) and [`model_mesh`] implement
//!   it.
//! * [`ports`]: the fabric as ports and a clock; [`verilated_ports`](verilated::verilated_ports), [`model_ports`] and
//!   [`split_device`](verilated::split_device) implement it, [`pins`] drives it.
//! * [`clocks`]: the two clocks; [`waves`](verilated::waves): waves of a window of cycles.

pub mod clocks;
mod error;
pub mod model_mesh;
pub mod model_ports;
pub mod network;
mod pin_group;
pub mod pins;
mod port_difference;
pub mod ports;
pub mod verilated;
pub mod watched;

pub use error::DutError;
pub(in crate::cosim) use pin_group::group_pins;
pub(in crate::cosim) use port_difference::cycles_near;
pub use port_difference::PortDifference;
