//! External memory in co-simulation: AXI4 read slaves at the ports of the fabric, and a slave that
//! can be written.
//!
//! It knows addresses, bursts and the rules of AXI4, but neither the masters nor the meaning of
//! slices. A [`Memory`] takes the inputs of each period and returns the outputs of the next;
//! nothing here simulates.
//!
//! * [`Behaviour`]: bandwidth, latency, order, back-pressure, and faults; [`Layout`]: ports that share a channel.
//! * [`Image`]: contents of the memory; [`Bytes`]: buffers of a host.
//! * [`WriteMemory`]: a slave that can be written.
//! * `read_slave`: one slave; `slice_bounds`: rules of our masters beyond those of AXI4, which
//!   [`axi`] judges.

pub mod axi;
mod behaviour;
mod channels;
mod external;
mod host_buffers;
mod image;
mod read_slave;
mod slice_bounds;
mod write_slave;

pub use behaviour::{Base, Behaviour, Fault, FaultKind, Interface, Offer, Shape};
pub use channels::{Layout, Parts};
pub use external::Memory;
pub use host_buffers::Bytes;
pub use image::Image;
pub use read_slave::PortCounts;
pub use write_slave::{Store, WriteMemory, WriteOffer, Written};

#[cfg(test)]
mod tests;
