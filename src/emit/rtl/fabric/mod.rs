//! Wiring of the blocks, without logic of its own.

pub(super) mod core;
// The block and its module share their name.
#[allow(clippy::module_inception)]
pub(super) mod fabric;
pub(super) mod periphery;
pub(super) mod tile;

use crate::design::Design;
use crate::emit::rtl::fabric::core::core;
use crate::emit::rtl::fabric::fabric::fabric;
use crate::emit::rtl::fabric::periphery::periphery;
use crate::emit::rtl::fabric::tile::tile;
use crate::emit::rtl::module::ModuleSpec;
use crate::emit::rtl::names::{MESH, PAD, ROOT, TRANSPORT};
use crate::emit::rtl::pad::params::PadParams;
use crate::emit::rtl::takv::params::TakvParams;

/// Bodies of its modules.
pub(super) const TEMPLATES: &[(&str, &str)] = &[
    template!("fabric/meshkv_core.v"),
    template!("fabric/meshkv_fabric.v"),
    template!("fabric/meshkv_periphery.v"),
    template!("fabric/meshkv_tile.v"),
];

/// The tile, from the blocks that it holds.
pub(super) fn tile_of(design: &Design, known: &[ModuleSpec]) -> ModuleSpec {
    let w = TakvParams::of(design);
    let mut parts = ["meshkv_bus_stop", "meshkv_prefetcher", "meshkv_filler", TRANSPORT]
        .map(|n| named(known, n))
        .to_vec();
    if w.append.is_some() {
        parts.push(named(known, "meshkv_new_token"));
    }
    if w.swaps() {
        parts.push(named(known, "meshkv_occupancy"));
    }
    tile(&w, &parts)
}

/// Every module of the block from the `tile` on, each after those it instantiates.
pub(super) fn modules(design: &Design, tile: ModuleSpec, known: &[ModuleSpec]) -> Vec<ModuleSpec> {
    let w = PadParams::of(design);
    let mut parts = ["meshkv_query_words", "meshkv_column_controller", "meshkv_memory_port"]
        .map(|n| named(known, n))
        .to_vec();
    if w.control.append.is_some() {
        parts.push(named(known, "meshkv_write_port"));
    }
    if w.control.swaps() {
        parts.insert(0, named(known, "meshkv_swap_unit"));
    }
    let periphery = periphery(&w.control, &parts);
    let fabric = fabric(&w.control, named(known, MESH), &tile, &periphery);
    let core = core(&w, &fabric, named(known, PAD), named(known, ROOT));
    vec![tile, periphery, fabric, core]
}

fn named<'a>(known: &'a [ModuleSpec], name: &str) -> &'a ModuleSpec {
    known.iter().find(|m| m.name == name).expect("every design has it")
}
