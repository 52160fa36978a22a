//! A [`Design`] as source files. Pure: the same design gives the same bytes.
//!
//! Only [`write()`] touches the disk.

use crate::design::Design;
use anyhow::Result;

mod block;
mod board;
mod common_parts;
mod control_parts;
mod control_widths;
mod core_parts;
mod core_widths;
mod counter_parts;
mod doc_modules;
mod doc_page;
mod doc_registers;
mod fabric_parts;
mod filelist;
mod front;
mod front_bundles;
mod front_parts;
mod front_widths;
mod hash;
mod header;
mod home_parts;
mod instance;
mod manifest;
mod module;
mod pad_parts;
mod pad_row;
mod pad_widths;
mod picture;
mod reduce_parts;
mod render;
mod ring;
mod router_parts;
mod rtl;
mod swap;
mod templates;
mod tile_parts;
mod tile_widths;
mod write;
mod write_error;

pub use block::Block;
pub use board::CARD_DEFINES;
pub use core_parts::pad_events;
pub use module::{Dir, ModuleSpec, ParamSpec, PortSpec, Width};
pub use pad_row::{row, row_memories, row_modules, RowMemories};
pub use rtl::{emit_block, modules};
pub use tile_parts::TILE_EVENTS;
pub use write::{write, write_until, WriteError, Written, WrittenFile, MANIFEST};

/// One file of the output, by its path below the output folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Path below the output folder, with `/`.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// Name of the top module: a Vitis RTL kernel.
pub const TOP: &str = "meshkv_top";
/// Name of all that stands between the core and a host with its memories.
pub const FRONT: &str = "meshkv_front";
/// Name of all that computes attention: queries and descriptors in, outputs out.
pub const CORE: &str = "meshkv_core";
/// Name of all that moves KV, to which attaches what computes.
pub const FABRIC: &str = "meshkv_fabric";
/// Name of what computes, beside every tile.
pub const PAD: &str = "meshkv_pad";
/// Name of the reduce root of a column.
pub const ROOT: &str = "meshkv_column_root";
/// Name of the network by itself: what `meshkv cosim` loads with traffic.
pub const MESH: &str = "meshkv_mesh";
/// Name of the module that stands at every place of the mesh.
pub const ROUTER: &str = "meshkv_router";
/// Name of what stands beside every router.
pub const TILE: &str = "meshkv_tile";
/// Name of what brings slices from their homes, the part of a tile that `meshkv fetch` drives by itself.
pub const TRANSPORT: &str = "meshkv_transport";
/// Name of what stands around the tiles.
pub const PERIPHERY: &str = "meshkv_periphery";

/// All files of a design, sorted by path.
pub fn emit(design: &Design) -> Result<Vec<SourceFile>> {
    let modules = modules(design);
    let mut files = rtl::emit(design)?;
    files.extend(filelist::emit(design, &modules));
    files.extend(board::emit(design, &modules)?);
    files.push(doc_page::emit(design, &modules)?);
    files.push(header::emit(design));
    files.push(picture::emit(design));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}
