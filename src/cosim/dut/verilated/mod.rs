//! A fabric that was compiled from Verilog.

pub mod split_device;
pub mod verilated_mesh;
pub mod verilated_ports;
pub(super) mod wave_file;
pub mod waves;
