//! meshkv turns one TOML file into a KV-cache network-on-chip fabric.
//!
//! The flow has one direction, and each module uses only modules to its left:
//!
//! ```text
//! TOML -> config::Config -> design::Design -> emit::SourceFile -> rtl_out
//!                                   |                               |
//!                                   |                          cosim::VerilatedMesh, or model::cycle, or both in lockstep
//!                                   +--> traffic, scoreboard ------>+--> eval rows --> report
//! ```
//!
//! * [`config`]: the configuration file, strictly read.
//! * [`design`]: the design to build. Only this module interprets a [`config::Config`].
//! * [`kernels`]: control logic written in rust-hdl and printed as Verilog.
//! * [`emit`]: a [`design::Design`] as source files; only `emit::write` touches the disk.
//! * [`model`]: the datapath in every bit, and the network in every cycle.
//! * [`tools`]: the external tools and their cache; threads, locks between processes, and files of a user.
//! * [`cosim`]: the emitted fabric under Verilator, driven and checked from Rust.
//! * [`synth`]: resources of a design on the device, by Yosys, and what every tool says of its files.
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
