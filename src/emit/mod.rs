//! Emits a [`Design`] as source files. Pure: the same design gives the same bytes.
//!
//! Only [`write()`] touches the disk.

use crate::design::Design;
use anyhow::Result;

mod c_header;
mod card;
mod docs;
mod ecosystem;
mod filelist;
mod rtl;
mod source_file;
pub(crate) mod svg;
mod templates;
mod write;

pub use crate::design::{pad_events, TILE_EVENTS};
pub use card::{converters, CARD_DEFINES};
pub use ecosystem::BENCH_OUTPUTS;
pub use rtl::{array, emit_block, modules, row_memories, ultra_rams, RowMemories};
pub use rtl::{Block, Dir, ModuleSpec, ParamSpec, PortSpec, Width};
pub use rtl::{CORE, FABRIC, FRONT, MESH, PAD, PERIPHERY, ROOT, ROUTER, TILE, TOP, TRANSPORT};
pub use source_file::SourceFile;
pub use write::{compare, digests, read, write, write_until, WriteError, Written, WrittenFile, MANIFEST};
pub use write::{Comparison, Different, Generated, Origin};

/// All files of a design, sorted by path.
pub fn emit(design: &Design) -> Result<Vec<SourceFile>> {
    let (modules, mut files) = rtl::emit(design)?;
    files.extend(filelist::emit(design, &modules));
    files.extend(card::emit(design, &modules)?);
    files.push(docs::page(design, &modules)?);
    files.push(c_header::emit(design));
    files.extend(ecosystem::emit(design, &modules)?);
    files.push(docs::mesh_picture(design));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}
