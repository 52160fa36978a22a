//! Set-up, drivers and models that several tests share.

pub mod attention;
pub mod decode;
pub mod device;
pub mod ecosystem;
pub mod elaborated;
pub mod fetch;
pub mod four_state;
pub mod icarus;
pub mod ideal_network;
pub mod kernel_block;
pub mod sandbox;
pub mod saturation;
pub mod schema;
pub mod shown_commands;
pub mod slurm;
pub mod sources;
pub mod verilated;
pub mod waves;
