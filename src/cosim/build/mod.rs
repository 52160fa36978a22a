//! Builds a shared library from emitted Verilog.
//!
//! * [`verilate`]: the library, cached by content; [`toolchain`]: the programs that it needs.
//! * [`device_wrapper`]: the shell of a device; `wrapper` and `glue` connect pieces that are run
//!   many times.

mod compile;
pub mod device_wrapper;
mod error;
pub(in crate::cosim) mod ffi;
mod form;
mod glue;
mod piece_ports;
mod port_names;
mod progress;
mod recipe;
pub mod toolchain;
pub mod verilate;
mod wrapper;

pub(crate) use error::io_error;
pub use error::BuildError;
pub use ffi::Library;
pub use form::{BuildForm, RunLength, LONG_RUN};
pub(in crate::cosim) use piece_ports::node_ports;
pub use piece_ports::{endpoint_ports, one_place};
pub(in crate::cosim) use port_names::{is_own, tiles_sharing};
pub use progress::Progress;
