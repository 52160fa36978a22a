//! Router, links and mesh.

mod debruijn_ring;
pub(super) mod values;

use crate::design::Design;
use crate::emit::rtl::spec::template::{templates, Template};

/// Templates of its modules. The router of two stages and that of three have a folder
/// each: of the modules that are in both, a design has one.
pub(super) const TEMPLATES: &[Template] = templates!(Network,
    "network":
        "meshkv_column_output", "meshkv_column_turns", "meshkv_credit_pointers", "meshkv_link_check",
        "meshkv_link_counters",
        "meshkv_mesh", "meshkv_output_open", "meshkv_output_port", "meshkv_route_column",
        "meshkv_route_row", "meshkv_router", "meshkv_row_output", "meshkv_straight_share",
        "meshkv_tile_output", "meshkv_tile_turns", "meshkv_wrr_sides", "meshkv_wrr_straight";
    "network/two_stages":
        "meshkv_class_turn", "meshkv_input_port", "meshkv_output_credits", "meshkv_pair_choice",
        "meshkv_send_vc", "meshkv_switch_allocator", "meshkv_vc_request";
    "network/three_stages":
        "meshkv_class_turn", "meshkv_grant_vc", "meshkv_input_port", "meshkv_output_credits",
        "meshkv_side_choice", "meshkv_switch_allocator", "meshkv_vc_request";
);

/// True if a design uses the template of this path: it has one of the two routers.
pub(super) fn has(design: &Design, path: &str) -> bool {
    match design.router.staged() {
        true => !path.starts_with("network/two_stages/"),
        false => !path.starts_with("network/three_stages/"),
    }
}
