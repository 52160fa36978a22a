//! The Verilog modules, one a file.
//!
//! Each module has a [`ModuleSpec`] (purpose, parameters, ports) in the folder of its block and a body in
//! `templates/rtl/<block>/`. Values come from the [`Design`](crate::design::Design); no body computes a width twice.

/// A template of a block by its path below `templates/rtl/`.
macro_rules! template {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../templates/rtl/", $name, ".tera")))
    };
}

mod array_alone;
mod block;
mod board;
mod common;
mod device;
mod fabric;
mod instance;
mod mare;
pub(in crate::emit) mod module;
mod modules;
pub(in crate::emit) mod names;
mod network;
mod pad;
mod reduce;
mod render;
mod sources;
mod takv;
mod ultra_ram;
mod values;

pub use array_alone::{array, row_memories, RowMemories};
pub use block::Block;
pub use module::{Dir, ModuleSpec, ParamSpec, PortSpec, Width};
pub use modules::modules;
pub use names::{CORE, FABRIC, FRONT, MESH, PAD, PERIPHERY, ROOT, ROUTER, TILE, TOP, TRANSPORT};
pub use pad::row::array_modules;
pub(super) use sources::emit;
pub use sources::emit_block;
pub use ultra_ram::ultra_rams;
