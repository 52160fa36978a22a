//! Verilog and C++ around the pieces that are verilated.

pub mod device_wrapper;
pub(super) mod glue;
pub(super) mod piece_ports;
pub(super) mod port_names;
pub(super) mod wrapper;
