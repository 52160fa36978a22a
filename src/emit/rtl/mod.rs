//! The Verilog modules, one a file.
//!
//! A module is one template in `templates/rtl/<block>/`: header, parameters, ports, constants and body. Rust gives it
//! [values](spec::values) that follow from the [`Design`](crate::design::Design), and tells it the ports of the modules that it
//! instantiates; no template computes a width twice.

mod board;
mod common;
mod device;
mod fabric;
mod linking;
mod mare;
mod network;
mod pad;
mod reduce;
pub(in crate::emit) mod spec;
mod takv;

pub(super) use linking::sources::emit;
pub use linking::sources::{array, emit_block, modules};
pub use spec::block::Block;
pub use spec::memories::{row_memories, ultra_rams, RowMemories};
pub use spec::module::{Dir, ModuleSpec, ParamSpec, PortSpec, Width};
pub use spec::names::{CORE, FABRIC, FRONT, MESH, PAD, PERIPHERY, ROOT, ROUTER, TILE, TOP, TRANSPORT};
