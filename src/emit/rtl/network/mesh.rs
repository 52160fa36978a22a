//! The mesh of routers.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::names::{CROSSING, MESH, ROUTER};
use crate::emit::rtl::network::params::NetworkParams;
use crate::emit::rtl::network::router::tile_ports;

pub(in crate::emit::rtl) fn mesh(w: &NetworkParams) -> ModuleSpec {
    let b = ModuleBuilder::new(
        Block::Network,
        MESH,
        &[
            "The fabric: COLS x ROWS routers, every link registered at its sender.",
            "",
            "A link between two SLRs has a register at its receiver as well, and so have its credits.",
            "Tile t = y * COLS + x, x from the west, y from the south; its part of a packed port is",
            "the t-th. The tile side of every router is a port: tiles attach there.",
        ],
    )
    .mesh_params(w)
    .param("TILES", w.cols * w.rows, "COLS * ROWS.")
    .crossings(w)
    .x_width(w)
    .y_width(w)
    .vn0_vcs(w)
    .vcs(w)
    .slots(w)
    .dest_width(w)
    .column_dest_width(w)
    .head_width(w)
    .flit_width(w)
    .starve_limit()
    .clocked_by_tile();
    tile_ports(b, "TILES*", "From and to the tiles.", "")
        .group("For counters and diagnosis.")
        .output("vc_busy", "TILES*5*VCS", "A flit waits; bit (tile * 5 + port) * VCS + v.")
        .output("stat_index", 5, "The counter that every router shows.")
        .output("stat_data", "TILES*32", "")
        .instances(&[ROUTER, CROSSING])
        .build()
}
