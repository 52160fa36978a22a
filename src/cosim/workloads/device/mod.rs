//! The device with a host's view: registers, memory and interrupt only.
//!
//! ```text
//! Job -- Bench --> buffers in memory, registers -- Driver --> AXI4-Lite --+
//!                                                                         |
//!        outputs, equal to the model in every bit <-- memory <-- AXI4 -- meshkv_top
//! ```
//!
//! * [`Device`]: `meshkv_top` with its platform: memory on every AXI port, each channel judged by
//!   [`axi`](crate::cosim::memory::axi), faults on demand. It is verilated as a whole, or split
//!   into `meshkv_front` and a core that is any [`DutPorts`](crate::cosim::dut::ports::DutPorts)
//!   ([`split_device`](crate::cosim::dut::verilated::split_device)).
//! * [`Driver`]: a host's driver, register by register.
//! * [`Calls`]: cycles that a call costs, at the pins; calls by the doorbell; [`HostModel`]: a host behind its link.
//! * [`Bench`]: complete runs of [`Job`](super::attention::Job)s.
//! * [`Faulted`]: a run with faults that are injected on request, and the run after it.
//! * [`Trial`]: what a host or its memory does wrong, and the runs before and after it.
//! * [`Vectors`]: such a run as files for a bench in a simulator of others.

mod axi_lite_master;
mod bench;
mod bounded;
mod calls;
mod driver;
mod error;
mod host;
mod platform;
mod vectors;
mod watched;
mod wrong;

pub use bench::{Bench, Finished};
pub use calls::{CallCost, CallEvent, CallTimes, Calls, Doorbell, HostModel, HostModelError, Record};
pub use driver::{Driver, Notice, Outcome};
pub use error::DeviceError;
pub use host::Device;
pub use platform::{Faults, Platform};
pub use vectors::Vectors;
pub use wrong::{count_descriptors, Faulted, Recovery, Trial, Way, REFUSALS};
