//! The Verilog modules, one a file.
//!
//! A module is one template in `templates/rtl/<block>/`: header, parameters, ports, constants and body. Rust gives it
//! [values] that follow from the [`Design`](crate::design::Design), and tells it the ports of the modules that it
//! instantiates; no template computes a width twice.

mod all_values;
mod block;
mod board;
mod common;
mod device;
mod fabric;
mod header;
mod instance;
mod known;
mod link;
mod mare;
mod marker;
mod memories;
pub(in crate::emit) mod module;
pub(in crate::emit) mod names;
mod network;
mod pad;
mod reduce;
mod render;
mod sources;
mod takv;
mod template;
mod templates;
mod values;

pub use block::Block;
pub use memories::{row_memories, ultra_rams, RowMemories};
pub use module::{Dir, ModuleSpec, ParamSpec, PortSpec, Width};
pub use names::{CORE, FABRIC, FRONT, MESH, PAD, PERIPHERY, ROOT, ROUTER, TILE, TOP, TRANSPORT};
pub(super) use sources::emit;
pub use sources::{array, emit_block, modules};
