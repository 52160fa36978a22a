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
            "The network: COLS x ROWS routers, every link registered at its sender.",
            "",
            "A link between two SLRs, and its credits, have a register at the receiver as well.",
            "Tile t = y * COLS + x, with x from the west and y from the south; its part of a packed port",
            "is the t-th. The local side of every router is a port, to which a tile attaches.",
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
    .half_slot(w)
    .patience()
    .clocked_by_tile();
    tile_ports(b, "TILES*", "From and to the tiles.", "")
        .group("For counters and diagnosis.")
        .output("vc_busy", "TILES*5*VCS", "A flit waits; bit (tile * 5 + port) * VCS + v.")
        .output("stat_index", 5, "Index of the total that every router outputs.")
        .output("stat_data", "TILES*32", "")
        .instances(&[ROUTER, CROSSING])
        .build()
}
