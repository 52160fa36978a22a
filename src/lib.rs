//! meshkv turns one TOML file into a KV-cache network-on-chip fabric.
//!
//! The flow has one direction, and each module uses only what stands to its left:
//!
//! ```text
//! TOML -> config::Config -> design::Design -> emit::SourceFile -> rtl_out
//!                                   |                               |
//!                                   |                          cosim::VerilatedMesh, or model::cycle, or both in lockstep
//!                                   +--> traffic, scoreboard ------>+--> eval rows --> report
//! ```
//!
//! * [`config`]: what the user wrote, strictly read.
//! * [`design`]: what will be built. Only this module interprets a [`config::Config`].
//! * [`kernels`]: control logic written in rust-hdl and printed as Verilog.
//! * [`emit`]: a [`design::Design`] as source files; only `emit::write` touches the disk.
//! * [`model`]: what the datapath must compute, in every bit, and what the network does in every cycle.
//! * [`tools`]: where Verilator, Icarus Verilog, Yosys and the C++ compiler are.
//! * `workers`: independent pieces of work on several threads.
//! * [`cosim`]: the emitted fabric under Verilator, driven and checked from Rust.
//! * [`synth`]: what a design takes on the device, by Yosys.
//! * [`eval`]: metrics, sweeps and pictures.
//! * [`cli`]: the subcommands.

pub mod cli;
pub mod config;
pub mod cosim;
pub mod design;
pub mod emit;
pub mod eval;
pub mod kernels;
pub mod model;
pub mod synth;
pub mod tools;
mod workers;
