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
//! * [`tools`]: paths of Verilator, Icarus Verilog, Yosys, slang, Tcl and the C++ compiler.
//! * `input`: files of a user, up to a size, and quotes of them.
//! * `locks`: locks between processes.
//! * `svg`: drawings to scale.
//! * `workers`: independent pieces of work on several threads.
//! * [`cosim`]: the emitted fabric under Verilator, driven and checked from Rust.
//! * [`synth`]: resources of a design on the device, by Yosys.
//! * [`eval`]: metrics, sweeps and pictures.
//! * [`cli`]: the subcommands.

pub mod cli;
pub mod config;
pub mod cosim;
pub mod design;
pub mod emit;
pub mod eval;
mod input;
pub mod kernels;
mod locks;
pub mod model;
mod svg;
pub mod synth;
pub mod tools;
pub mod workers;
