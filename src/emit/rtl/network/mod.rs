//! Router, links and mesh.

pub(super) mod credit_counter;
pub(super) mod debruijn_ring;
pub(super) mod input_port;
pub(super) mod link_counters;
pub(super) mod mesh;
pub(super) mod output_port;
pub(super) mod output_turns;
pub(super) mod params;
pub(super) mod router;
pub(super) mod switch_allocator;

use crate::design::Design;
use crate::emit::rtl::module::ModuleSpec;
use crate::emit::rtl::network::credit_counter::credit_counter;
use crate::emit::rtl::network::input_port::{input_port, vc_request};
use crate::emit::rtl::network::link_counters::link_counters;
use crate::emit::rtl::network::mesh::mesh;
use crate::emit::rtl::network::output_port::{grant_vc, output_credits, output_port, send_vc};
use crate::emit::rtl::network::output_turns::{
    class_turn, column_output, column_turns, row_output, shared_turn, straight_share, straight_turn,
    tile_output, tile_turns,
};
use crate::emit::rtl::network::params::NetworkParams;
use crate::emit::rtl::network::router::{route_column, route_row, router};
use crate::emit::rtl::network::switch_allocator::{output_open, pair_choice, side_choice, switch_allocator};

/// Bodies of its modules.
pub(super) const TEMPLATES: &[(&str, &str)] = &[
    template!("network/meshkv_class_turn.v"),
    template!("network/meshkv_column_output.v"),
    template!("network/meshkv_column_turns.v"),
    template!("network/meshkv_credit_counter.v"),
    template!("network/meshkv_grant_vc.v"),
    template!("network/meshkv_input_port.v"),
    template!("network/meshkv_link_counters.v"),
    template!("network/meshkv_mesh.v"),
    template!("network/meshkv_output_open.v"),
    template!("network/meshkv_output_credits.v"),
    template!("network/meshkv_output_port.v"),
    template!("network/meshkv_pair_choice.v"),
    template!("network/meshkv_route_column.v"),
    template!("network/meshkv_route_row.v"),
    template!("network/meshkv_router.v"),
    template!("network/meshkv_row_output.v"),
    template!("network/meshkv_send_vc.v"),
    template!("network/meshkv_shared_turn.v"),
    template!("network/meshkv_side_choice.v"),
    template!("network/meshkv_straight_share.v"),
    template!("network/meshkv_straight_turn.v"),
    template!("network/meshkv_switch_allocator.v"),
    template!("network/meshkv_tile_output.v"),
    template!("network/meshkv_tile_turns.v"),
    template!("network/meshkv_vc_request.v"),
];

/// Every module of the block, each after those it instantiates.
pub(super) fn modules(design: &Design) -> Vec<ModuleSpec> {
    let w = NetworkParams::of(design);
    vec![
        if w.staged { side_choice(&w) } else { pair_choice(&w) },
        credit_counter(&w),
        route_row(&w),
        route_column(&w),
        input_port(&w, design.router.multicast),
        vc_request(&w),
        if w.staged { grant_vc(&w) } else { send_vc(&w) },
        class_turn(&w),
        shared_turn(&w),
        straight_turn(&w),
        column_turns(&w),
        tile_turns(&w),
        straight_share(&w),
        column_output(&w),
        row_output(&w),
        tile_output(&w),
        output_open(&w),
        switch_allocator(&w),
        output_credits(&w),
        output_port(&w),
        link_counters(),
        router(&w),
        mesh(&w),
    ]
}
