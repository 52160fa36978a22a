//! External memory in co-simulation: an AXI4 read slave behind every port of the fabric, and one that is written to.
//!
//! Knows addresses, bursts and the rules of AXI4, but not who asks or what slices mean. A [`Memory`] is
//! told what each period carried and says what each port shows in the next; nothing here simulates.
//!
//! * [`Behaviour`]: bandwidth, latency, order, back-pressure, and what goes wrong.
//! * [`Image`]: what the memory holds; [`Bytes`]: buffers of a host.
//! * [`WriteMemory`]: a slave that is written to.
//! * `read_slave`: one slave; `slice_bounds`: what a master promises beyond the rules of AXI4, which [`axi`] judges.

pub mod axi;
mod behaviour;
mod external;
mod host_buffers;
mod image;
mod read_slave;
mod slice_bounds;
mod write_slave;

pub use behaviour::{Behaviour, Fault, FaultKind, Interface, Offer, Shape};
pub use external::Memory;
pub use host_buffers::Bytes;
pub use image::Image;
pub use read_slave::PortCounts;
pub use write_slave::{WriteMemory, WriteOffer, Written};

#[cfg(test)]
mod tests;
