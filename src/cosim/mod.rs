//! Co-simulation: the emitted fabric under Verilator, driven and checked from Rust.
//!
//! ```text
//! SourceFile -> verilate::build -> Library -> dut::Dut: Network
//!                                                   ^
//! traffic -> Packet -> scoreboard -> flits -- run --+-- ejections -> scoreboard, sample
//! ```
//!
//! * [`verilate`]: the shared library, cached by content; [`toolchain`] are the programs it needs;
//!   `tile` joins copies of one tile instead of verilating all.
//! * [`dut`]: a running fabric behind a safe interface; the only module with calls into the library.
//! * [`network`]: what traffic and scoreboard ask of a fabric, verilated or not.
//! * [`modelled`]: the cycle-exact model behind the same questions.
//! * [`lockstep`]: both at once, compared link by link in every cycle.
//! * [`excerpt`]: waves of a part of a run.
//! * [`traffic`], [`pattern`], [`trace`]: which packets are generated; [`packet`]: the bits of their flits.
//! * [`scoreboard`]: every flit once, intact, in order; [`violation`]: what else there may be.
//! * [`pins`]: the same as a clock and ports, behind which stands a [`socket`], compiled or [`model_ports`]; [`fetch`] drives fetches there, [`workload`] makes them,
//!   and a ledger checks that every head gets what it asked for.
//! * [`clocks`]: that of what computes may run apart from the network's.
//! * [`decode`]: whole decode steps there, from descriptors to partial results, and who must get what of them.
//! * [`attention`]: attention computed by the whole design, compared with the model in every bit.
//! * [`device`]: `meshkv_top` as a host has it: registers, memory on every AXI port, an interrupt.
//! * [`memory`]: the external memory behind the homes, with bandwidth, latency, and all that can go wrong.
//! * [`axi`]: the rules of AXI4 and AXI4-Lite, judged on every channel.
//! * [`run`]: warm-up, measurement, drain; [`sample`]: what is measured on the way.

mod around;
pub mod attention;
pub mod axi;
mod bits;
pub mod build;
pub(crate) mod cache;
pub mod clocks;
mod compile;
pub mod decode;
pub mod device;
pub mod dut;
pub mod excerpt;
mod fabric_ports;
pub mod fetch;
mod ffi;
pub mod hash;
mod joints;
mod ledger;
pub mod lockstep;
pub mod memory;
pub mod model_ports;
pub mod modelled;
pub mod network;
mod once;
pub mod packet;
pub mod pattern;
pub mod phases;
pub mod pins;
pub mod plan;
mod recipe;
pub mod run;
pub mod sample;
pub mod scoreboard;
mod slab;
pub mod slice_id;
pub mod socket;
mod tile;
pub mod tile_set;
pub mod toolchain;
pub mod trace;
pub mod traffic;
pub mod verilate;
pub mod verilated;
pub mod violation;
pub mod workload;

pub use ffi::Library;
