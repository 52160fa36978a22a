//! The device as a host has it: registers, memory, interrupt, and nothing else.
//!
//! ```text
//! Job -- Bench --> buffers in memory, registers -- Driver --> AXI4-Lite --+
//!                                                                         |
//!        outputs, equal to the model in every bit <-- memory <-- AXI4 -- meshkv_top
//! ```
//!
//! * [`Device`]: `meshkv_top` with its platform around it: memory on every AXI port, each channel judged by
//!   [`axi`](crate::cosim::memory::axi), faults on demand. Either all of it verilated at once, or `meshkv_front` before a core
//!   that is any [`DutPorts`](crate::cosim::dut::ports::DutPorts) ([`split_device`](crate::cosim::dut::split_device)).
//! * [`Driver`]: what a host's driver does, register by register.
//! * [`Bench`]: whole runs of [`Job`](super::attention::Job)s.

mod axi_lite_master;
mod bench;
mod driver;
mod error;
mod host;
mod platform;

pub use bench::{Bench, Finished};
pub use driver::{Driver, Notice, Outcome};
pub use error::DeviceError;
pub use host::Device;
pub use platform::{Faults, Platform};
