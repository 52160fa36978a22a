//! Co-simulation: runs the emitted fabric under Verilator, driven and checked from Rust.
//!
//! ```text
//! SourceFile -> build -> Library -> dut::verilated_mesh: Network
//!                                            ^
//! traffic -> Packet -> scoreboard -> flits --+-- ejections -> scoreboard, statistics
//! ```
//!
//! A room uses only rooms before it:
//!
//! * [`hash`], [`tile_set`], `bits`: ground floor.
//! * [`build`]: emitted Verilog to a shared library.
//! * [`dut`]: a running fabric, verilated or the model; the only room that calls the library.
//! * [`traffic`]: packets, patterns, traces.
//! * [`checks`]: scoreboard of the network, lockstep, [`checks::violation`].
//! * [`memory`]: the external memory behind the homes, and the rules of AXI4 and AXI4-Lite.
//! * [`faults`]: faults that a run injects on request, and what must be reported of each.
//! * [`workloads`]: the runs of the commands: load points of the network, fetches, decode steps,
//!   attention, the whole device.
//! * [`views`]: wave files for a reader: signals grouped and named.

mod bits;
pub mod build;
pub mod checks;
pub mod dut;
pub mod faults;
pub mod hash;
pub mod memory;
pub mod tile_set;
pub mod traffic;
pub mod views;
pub mod workloads;
