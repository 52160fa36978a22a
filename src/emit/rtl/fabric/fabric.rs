//! The fabric: mesh, tiles and periphery.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::fabric::tile::compute_side;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::names::{CROSSING, FABRIC};
use crate::emit::rtl::takv::bundles::HEAD;
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn fabric(
    w: &TakvParams,
    mesh: &ModuleSpec,
    tile: &ModuleSpec,
    periphery: &ModuleSpec,
) -> ModuleSpec {
    let mut b = ModuleBuilder::new(Block::Fabric, FABRIC,
        &[
            "The fabric: the mesh of routers, a tile at each, and the periphery.",
            "",
            "Tile t = y * COLS + x; its part of a packed port is the t-th. Descriptors of a decode step enter here,",
            "PaD attaches to the tiles, external memory to the AXI ports.",
        ],
    )
    .params_of(&[mesh, tile, periphery], &[])
    .clocked_by_tile()
    .compute_clocked_by_tile();
    if !w.tile.overlap {
        b = b.input("compute_idle", "TILES", "PaD is idle; in its clock.");
    }
    b = b.query_groups(Dir::Input, HEAD).more_queries(Dir::Input).descriptor(w.append.is_some()).output(
        "idle",
        1,
        "All descriptors are done.",
    );
    if w.swaps() {
        b = b.swap_report();
    }
    if w.append.is_some() {
        b = b.new_tokens(Dir::Input).more_tokens(Dir::Input).writes("PORTS*");
    }
    compute_side(b, tile, tile, "TILES*")
        .axi("PORTS*")
        .errors("TILES")
        .group("For counters and diagnosis.")
        .output("vc_busy", "TILES*5*VCS", "A flit waits; bit (tile * 5 + port) * VCS + v.")
        .output("stat_index", 5, "Index of the link total that every router outputs.")
        .output("stat_data", "TILES*32", "")
        .output("event_index", 5, "Index of the total that every tile outputs.")
        .output("event_data", "TILES*32", "")
        .instances(&[mesh.name, tile.name, periphery.name, CROSSING])
        .build()
}
