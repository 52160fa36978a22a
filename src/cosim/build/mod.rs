//! From emitted Verilog to a shared library.

mod error;
mod form;
mod piece_ports;
mod port_names;
mod progress;

pub(crate) use error::io_error;
pub use error::BuildError;
pub use form::{Form, RunLength, LONG_RUN};
pub use piece_ports::{around_ports, one_place};
pub(in crate::cosim) use piece_ports::{module, node_ports};
pub(in crate::cosim) use port_names::{bundle, is_own, parts, SIDES};
pub use progress::Progress;
