//! Builds a shared library from emitted Verilog.
//!
//! * [`verilate`]: the library, cached by content; [`toolchain`]: the programs that it needs.
//! * [`HostLibrary`]: the library of a host, against a card at a socket.
//! * [`device_wrapper`](wrap::device_wrapper): the shell of a device; `wrapper` and `glue` connect pieces that are run
//!   many times.

mod compile;
mod error;
pub(in crate::cosim) mod ffi;
mod form;
mod host_library;
mod progress;
mod recipe;
pub mod toolchain;
pub mod verilate;
pub mod wrap;

pub use compile::BESIDE;
pub use error::BuildError;
pub use ffi::{Library, Mutants};
pub use form::{BuildForm, RunLength, LONG_RUN};
pub use host_library::HostLibrary;
pub use progress::Progress;
pub(in crate::cosim) use wrap::piece_ports::node_ports;
pub use wrap::piece_ports::{endpoint_ports, one_place};
pub(in crate::cosim) use wrap::port_names::{is_own, tiles_sharing, SIDES};
