//! The router, and the route of a flit.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::names::ROUTER;
use crate::emit::rtl::network::params::NetworkParams;

/// Letters of the mesh ports and their neighbours.
const SIDES: [(&str, &str); 4] = [
    ("n", "Link of the northern neighbour (y + 1)."),
    ("s", "Link of the southern neighbour (y - 1)."),
    ("e", "Link of the eastern neighbour (x + 1)."),
    ("w", "Link of the western neighbour (x - 1)."),
];

pub(in crate::emit::rtl) fn router(w: &NetworkParams) -> ModuleSpec {
    let mut b = ModuleBuilder::new(
        Block::Network,
        ROUTER,
        &[
            "Five-port router with credit flow control: VN0 wormhole XY, VN1 XYM multicast.",
            "",
            if w.staged {
                "Three cycles from input to output: a flit is written to its buffer and routed, granted, switched."
            } else {
                "Two cycles from input to output: a flit is written to its buffer and routed, then switched."
            },
            "Along a row an unhindered flit takes the express path in one cycle. Each copy of a multicast",
            "flit leaves when its output is free. Outputs are registers, inputs write memory: no",
            "combinational path crosses the router. Coordinates are ports, so all tiles elaborate alike.",
        ],
    )
    .mesh_params(w)
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
    .clocked()
    .group("Coordinates of this tile, tied to constants.")
    .input("x", "X_WIDTH", "")
    .input("y", "Y_WIDTH", "");
    for (p, comment) in SIDES {
        let row = p == "e" || p == "w";
        let dest = if row { "DEST_WIDTH" } else { "COLUMN_DEST_WIDTH" };
        b = b.group(comment).input(format!("rx_{p}_valid"), "VCS", "");
        if row {
            b = b.input(format!("rx_{p}_ahead"), 1, "A destination lies beyond this router.");
        }
        b = b
            .input(format!("rx_{p}_dest"), dest, "")
            .input(format!("rx_{p}_head"), "HEAD_WIDTH", "")
            .input(format!("rx_{p}_data"), "FLIT_WIDTH", "")
            .output(format!("rx_{p}_credit"), "VCS", "")
            .output(format!("tx_{p}_valid"), "VCS", "");
        if row {
            b = b.output(format!("tx_{p}_ahead"), 1, "");
        }
        b = b
            .output(format!("tx_{p}_dest"), dest, "")
            .output(format!("tx_{p}_head"), "HEAD_WIDTH", "")
            .output(format!("tx_{p}_data"), "FLIT_WIDTH", "")
            .input(format!("tx_{p}_credit"), "VCS", "");
    }
    tile_ports(b, "", "Link of the tile.", "l_")
        .group("For counters and diagnosis.")
        .output("vc_busy", "5*VCS", "A flit waits; bit port * VCS + v.")
        .output("stat_index", 5, "")
        .output("stat_data", 32, "")
        .instances(&[
            "meshkv_route_row",
            "meshkv_route_column",
            "meshkv_input_port",
            "meshkv_switch_allocator",
            "meshkv_output_port",
            "meshkv_output_credits",
            "meshkv_link_counters",
        ])
        .build()
}

/// The link between a tile and its router; `times` multiplies every width ("TILES*" for the mesh).
pub(in crate::emit::rtl) fn tile_ports(
    b: ModuleBuilder,
    times: &str,
    comment: &'static str,
    infix: &str,
) -> ModuleBuilder {
    let wide = |name: &str| format!("{times}{name}");
    b.group(comment)
        .input(format!("rx_{infix}valid"), wide("VCS").as_str(), "One-hot: the virtual channel of the flit.")
        .input(format!("rx_{infix}dest"), wide("DEST_WIDTH").as_str(), "")
        .input(format!("rx_{infix}head"), wide("HEAD_WIDTH").as_str(), "")
        .input(format!("rx_{infix}data"), wide("FLIT_WIDTH").as_str(), "")
        .output(format!("rx_{infix}credit"), wide("VCS").as_str(), "One pulse a slot freed.")
        .output(format!("tx_{infix}valid"), wide("VCS").as_str(), "")
        .output(format!("tx_{infix}head"), wide("HEAD_WIDTH").as_str(), "")
        .output(format!("tx_{infix}data"), wide("FLIT_WIDTH").as_str(), "")
        .input(format!("tx_{infix}credit"), wide("VCS").as_str(), "")
}

pub(in crate::emit::rtl) fn route_row(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_route_row",
        &[
            "Route of a flit from a row link or from the tile: XYM, row first, then column.",
            "",
            "Outputs all directions with a destination. The router uses those permitted for its input.",
        ],
    )
    .mesh_params(w)
    .x_width(w)
    .y_width(w)
    .dest_width(w)
    .column_dest_width(w)
    .input("dest", "DEST_WIDTH", "")
    .group("Position of this tile, as numbers and as masks over columns and rows.")
    .input("x", "X_WIDTH", "")
    .input("y", "Y_WIDTH", "")
    .input("cols_east", "COLS", "Columns beyond x.")
    .input("cols_west", "COLS", "Columns before x.")
    .input("cols_east_ahead", "COLS", "Columns beyond x + 1.")
    .input("cols_west_ahead", "COLS", "Columns before x - 1.")
    .input("rows_north", "ROWS", "Rows above y.")
    .input("rows_south", "ROWS", "Rows below y.")
    .group("Directions with a destination.")
    .output("north", 1, "In this column, above.")
    .output("south", 1, "In this column, below.")
    .output("east", 1, "")
    .output("west", 1, "")
    .output("here", 1, "This tile.")
    .output("east_ahead", 1, "Beyond the eastern neighbour.")
    .output("west_ahead", 1, "Beyond the western neighbour.")
    .output("column_dest", "COLUMN_DEST_WIDTH", "This column's part of the destination.")
    .build()
}

pub(in crate::emit::rtl) fn route_column(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_route_column",
        &["Route of a flit from a column link: onwards, to this tile, or both."],
    )
    .param("ROWS", w.rows, "Tiles from south to north.")
    .y_width(w)
    .column_dest_width(w)
    .input("dest", "COLUMN_DEST_WIDTH", "")
    .group("Position of this tile, as a number and as masks over rows.")
    .input("y", "Y_WIDTH", "")
    .input("rows_north", "ROWS", "Rows above y.")
    .input("rows_south", "ROWS", "Rows below y.")
    .group("Directions with a destination.")
    .output("north", 1, "")
    .output("south", 1, "")
    .output("here", 1, "This tile.")
    .build()
}
