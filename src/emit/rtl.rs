//! The Verilog modules, one a file.
//!
//! Each module is a [`ModuleSpec`] here (purpose, parameters, ports) and a body in
//! `templates/rtl/<block>/`. Values come from the [`Design`]; no body computes a width twice.

use super::block::Block;
use super::common_parts::{crossing, event_counters, fifo, CROSSING};
use super::control_parts::{
    bus_stop, column_controller, occupancy, placement, prefetcher, residue, swap_unit,
};
use super::control_widths::ControlWidths;
use super::core_parts::{column_root, core, core_wires, kept_params, pad, reorder_fifo};
use super::core_widths::CoreWidths;
use super::fabric_parts::{fabric, filler, memory_port, periphery, tile};
use super::front;
use super::home_parts::{
    bloom_filter, duplicate_filter, fetch_park, home_agent, request_table, slice_streamer, staging_directory,
    staging_memory,
};
use super::module::{ModuleBuilder, ModuleSpec};
use super::pad_row::row_modules;
use super::pad_widths::PadWidths;
use super::reduce_parts::reduction;
use super::render::Renderer;
use super::ring::Ring;
use super::router_parts::{
    arbiter2, arbiter4, credit_counter, input_port, link_counters, output_port, pair_choice, route_column,
    route_row, send_vc, switch_allocator, through_turn, vc_request, Widths, PORTS,
};
use super::tile_parts::{requester, tile_decode, tile_port, transport};
use super::tile_widths::TileWidths;
use super::{templates, SourceFile, CORE, FABRIC, MESH, PAD, ROOT, ROUTER, TILE};
use crate::design::{Array, Design, PlacementKind, Port, TURNS};
use crate::kernels;
use anyhow::Result;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use tera::Tera;

/// Letters of the mesh ports and what lies there.
const SIDES: [(&str, &str); 4] = [
    ("n", "Link of the northern neighbour (y + 1)."),
    ("s", "Link of the southern neighbour (y - 1)."),
    ("e", "Link of the eastern neighbour (x + 1)."),
    ("w", "Link of the western neighbour (x - 1)."),
];

macro_rules! template {
    ($name:literal) => {
        ($name, include_str!(concat!("../../templates/rtl/", $name, ".tera")))
    };
}

const TEMPLATES: &[(&str, &str)] = &[
    template!("module.v"),
    template!("common/meshkv_arbiter2.v"),
    template!("common/meshkv_arbiter4.v"),
    template!("common/meshkv_async_fifo.v"),
    template!("common/meshkv_async_pointer.v"),
    template!("common/meshkv_async_register.v"),
    template!("mare/meshkv_bloom_filter.v"),
    template!("takv/meshkv_bus_stop.v"),
    template!("takv/meshkv_column_controller.v"),
    template!("reduce/meshkv_column_root.v"),
    template!("fabric/meshkv_core.v"),
    template!("common/meshkv_crossing.v"),
    template!("common/meshkv_crossing_chain.v"),
    template!("common/meshkv_delay.v"),
    template!("pad/meshkv_choice_dsp.v"),
    template!("pad/meshkv_dot.v"),
    template!("pad/meshkv_dsp.v"),
    template!("pad/meshkv_pad.v"),
    template!("pad/meshkv_row.v"),
    template!("pad/meshkv_scratchpad.v"),
    template!("pad/meshkv_sums.v"),
    template!("pad/meshkv_weight.v"),
    template!("network/meshkv_credit_counter.v"),
    template!("mare/meshkv_duplicate_filter.v"),
    template!("reduce/meshkv_element_packer.v"),
    template!("common/meshkv_event_counters.v"),
    template!("fabric/meshkv_fabric.v"),
    template!("mare/meshkv_fetch_park.v"),
    template!("common/meshkv_fifo.v"),
    template!("takv/meshkv_filler.v"),
    template!("mare/meshkv_home_agent.v"),
    template!("network/meshkv_input_port.v"),
    template!("reduce/meshkv_leading_bits.v"),
    template!("network/meshkv_link_counters.v"),
    template!("takv/meshkv_memory_port.v"),
    template!("network/meshkv_mesh.v"),
    template!("takv/meshkv_occupancy.v"),
    template!("network/meshkv_output_port.v"),
    template!("network/meshkv_pair_choice.v"),
    template!("reduce/meshkv_part_former.v"),
    template!("fabric/meshkv_periphery.v"),
    template!("takv/meshkv_placement.v"),
    template!("takv/meshkv_prefetcher.v"),
    template!("reduce/meshkv_quotient.v"),
    template!("reduce/meshkv_reciprocal.v"),
    template!("reduce/meshkv_reduce_adder.v"),
    template!("reduce/meshkv_reduce_inlet.v"),
    template!("reduce/meshkv_reduce_root.v"),
    template!("mare/meshkv_request_table.v"),
    template!("mare/meshkv_reorder_fifo.v"),
    template!("mare/meshkv_requester.v"),
    template!("takv/meshkv_residue.v"),
    template!("network/meshkv_route_column.v"),
    template!("network/meshkv_route_row.v"),
    template!("device/meshkv_row_choice.v"),
    template!("network/meshkv_router.v"),
    template!("network/meshkv_send_vc.v"),
    template!("mare/meshkv_slice_streamer.v"),
    template!("mare/meshkv_staging_directory.v"),
    template!("mare/meshkv_staging_memory.v"),
    template!("takv/meshkv_swap_unit.v"),
    template!("network/meshkv_switch_allocator.v"),
    template!("common/meshkv_synchronizer.v"),
    template!("network/meshkv_through_turn.v"),
    template!("fabric/meshkv_tile.v"),
    template!("mare/meshkv_tile_decode.v"),
    template!("mare/meshkv_tile_port.v"),
    template!("mare/meshkv_transport.v"),
    template!("device/meshkv_control.v"),
    template!("device/meshkv_counter_choice.v"),
    template!("device/meshkv_counter_view.v"),
    template!("device/meshkv_descriptor_queue.v"),
    template!("device/meshkv_front.v"),
    template!("device/meshkv_output_writer.v"),
    template!("device/meshkv_pad_view.v"),
    template!("device/meshkv_query_reader.v"),
    template!("device/meshkv_read_guard.v"),
    template!("device/meshkv_read_credits.v"),
    template!("device/meshkv_read_slices.v"),
    template!("device/meshkv_reset.v"),
    template!("device/meshkv_reset_row.v"),
    template!("device/meshkv_reset_stage.v"),
    template!("device/meshkv_run.v"),
    template!("device/meshkv_top.v"),
    template!("network/meshkv_vc_request.v"),
];

/// Every module of the design, in order of dependence: the top comes last.
pub fn modules(design: &Design) -> Vec<ModuleSpec> {
    let widths = Widths::of(design);
    let tile_widths = TileWidths::of(design);
    let mut modules = vec![
        arbiter2(),
        arbiter4(),
        pair_choice(),
        credit_counter(&widths),
        route_row(&widths),
        route_column(&widths),
        input_port(&widths, design.router.multicast),
        vc_request(&widths),
        send_vc(&widths),
        through_turn(&widths),
        switch_allocator(&widths),
        output_port(&widths),
        event_counters(),
        link_counters(),
        router(&widths),
        crossing(),
        fifo(),
        tile_decode(&tile_widths),
        request_table(&tile_widths),
    ];
    if design.mare.dedup {
        modules.extend([bloom_filter(&tile_widths), duplicate_filter(&tile_widths)]);
    }
    let of_two_clocks = ["meshkv_async_pointer", "meshkv_synchronizer"];
    modules.extend(reduction(design).into_iter().filter(|m| of_two_clocks.contains(&m.name)));
    modules.push(reorder_fifo());
    modules.extend([
        slice_streamer(&tile_widths),
        staging_memory(&tile_widths),
        staging_directory(&tile_widths),
        fetch_park(&tile_widths),
        home_agent(&tile_widths),
        requester(&tile_widths),
        tile_port(&tile_widths),
    ]);
    modules.extend(surroundings(&ControlWidths::of(design), mesh(&widths)));
    modules.extend(computing(design, &modules));
    let core = modules.last().expect("the core comes last").clone();
    modules.extend(front::modules(design, &core));
    modules
}

/// What computes, and the core.
fn computing(design: &Design, known: &[ModuleSpec]) -> Vec<ModuleSpec> {
    let w = CoreWidths::of(design);
    let mut parts = reduction(design);
    parts.extend(row_modules(design, w.slots()));
    parts.retain(|m| known.iter().all(|k| k.name != m.name));
    let named = |name: &str| {
        known.iter().chain(&parts).find(|m| m.name == name).expect("every design has it").clone()
    };
    let (fabric, tile) = (named(FABRIC), named(TILE));
    let pad = pad(&w, &tile, &named("meshkv_row"), &named("meshkv_part_former"));
    let root = column_root(&w, &tile, &named("meshkv_reduce_root"));
    let core = core(&w, &fabric, &pad, &root);
    parts.extend([pad, root, core]);
    parts
}

/// The tile, what stands around the tiles, the network and the fabric of all.
fn surroundings(w: &ControlWidths, mesh: ModuleSpec) -> Vec<ModuleSpec> {
    let (stop, prefetcher, filler, transport) = (bus_stop(w), prefetcher(w), filler(w), transport(&w.tile));
    let (placement, port) = (placement(w), memory_port(w));
    let controller = column_controller(w, &[&placement]);
    let mut parts = Vec::new();
    if w.placement.kind != PlacementKind::Hub {
        parts.push(residue());
    }
    let (tile, periphery) = if w.swaps() {
        let (occupancy, swap) = (occupancy(w), swap_unit(w));
        let tile = tile(w, &[&stop, &prefetcher, &filler, &transport, &occupancy]);
        let periphery = periphery(w, &[&swap, &controller, &port]);
        parts.extend([occupancy, swap]);
        (tile, periphery)
    } else {
        (tile(w, &[&stop, &prefetcher, &filler, &transport]), periphery(w, &[&controller, &port]))
    };
    let fabric = fabric(w, &mesh, &tile, &periphery);
    parts.extend([
        placement, controller, port, stop, prefetcher, filler, transport, tile, periphery, mesh, fabric,
    ]);
    parts
}

pub(super) fn emit(design: &Design) -> Result<Vec<SourceFile>> {
    let modules = modules(design);
    render(design, &PadWidths::of(design, CoreWidths::of(design).slots()), &modules, modules.clone())
}

/// Sources of one module and of all it instantiates, whether the fabric of the design has it or not.
///
/// # Panics
/// When there is no module of this name.
pub fn emit_block(design: &Design, name: &str) -> Result<Vec<SourceFile>> {
    let mut known = modules(design);
    let missing: Vec<_> =
        reduction(design).into_iter().filter(|m| known.iter().all(|k| k.name != m.name)).collect();
    known.extend(missing);
    let mut wanted = vec![name];
    for at in 0.. {
        let Some(name) = wanted.get(at) else { break };
        let module = known.iter().find(|m| m.name == *name).unwrap_or_else(|| panic!("no module {name}"));
        let new: Vec<_> = module.instances.iter().copied().filter(|i| !wanted.contains(i)).collect();
        wanted.extend(new);
    }
    let parts: Vec<_> = known.iter().filter(|m| wanted.contains(&m.name)).cloned().collect();
    render(design, &PadWidths::of(design, CoreWidths::of(design).slots()), &parts, known)
}

/// Renders `parts`, whose bodies may instantiate `known` modules; rows of what computes are as `row` says.
pub(super) fn render(
    design: &Design,
    row: &PadWidths,
    parts: &[ModuleSpec],
    known: Vec<ModuleSpec>,
) -> Result<Vec<SourceFile>> {
    static PARSED: LazyLock<Tera> = LazyLock::new(|| templates::parse(TEMPLATES.iter().copied()));
    let renderer = Renderer::new(&PARSED, known);
    let source = format!("{}.toml", design.name);
    let mut values: BTreeMap<String, tera::Value> = BTreeMap::new();
    values.insert("multicast".into(), design.router.multicast.into());
    values.insert("ports".into(), PORTS.to_vec().into());
    for port in Port::ALL {
        let mask = format!("5'b{:05b}", TURNS.mask(port));
        values.insert(format!("outputs_{}", port.letter()), mask.into());
    }
    let mare = &design.mare;
    let fifo = if Array::fifo_in_block(design) { "block" } else { "distributed" };
    values.insert("fifo_style".into(), fifo.into());
    values.insert("dedup".into(), mare.dedup.into());
    values.insert("coalesce".into(), (mare.coalesce_window > 0).into());
    values.insert("waits".into(), (mare.coalesce_window + mare.tree_build_cycles > 0).into());
    values.insert("vn0_turns".into(), (design.router.vn0_vcs > 1).into());
    values.extend(ControlWidths::of(design).values());
    values.extend(CoreWidths::of(design).values());
    values.extend(row.values());
    let all = modules(design);
    let spec = |name: &str| all.iter().find(|m| m.name == name).expect("every design has it");
    let (wires, unused) = core_wires(spec(FABRIC), spec(CORE));
    values.insert("core_wires".into(), wires.into());
    values.insert("unused_root".into(), unused.into());
    values.extend(front::values(design, &all));
    for (name, part) in [("pad_params", PAD), ("root_params", ROOT)] {
        values.insert(name.into(), kept_params(spec(FABRIC), spec(part)).into());
    }
    let [rows_a, rows_b] = TileWidths::of(design).hash_rows();
    values.insert("bloom_rows_a".into(), rows_a.into());
    values.insert("bloom_rows_b".into(), rows_b.into());
    // The low bits of a link counter run through a ring of 32.
    let ring = Ring::of(32);
    values.insert("count_ring".into(), ring.literal().into());
    values.insert("count_places".into(), ring.places_literal().into());
    for kernel in kernels::all()? {
        values.insert(format!("kernel_{}", kernel.name), kernel.body.trim_end().into());
    }
    parts
        .iter()
        .map(|module| {
            let text = renderer.verilog(module, &source, &values)?;
            Ok(SourceFile { path: module.path(), text })
        })
        .collect()
}

fn router(w: &Widths) -> ModuleSpec {
    let mut b = ModuleBuilder::new(
        Block::Network,
        ROUTER,
        &[
            "Five-port router with credit flow control: VN0 wormhole XY, VN1 XYM multicast.",
            "",
            "Two cycles from input to output: a flit is written to its buffer and routed, then switched.",
            "Along a row an unhindered flit takes the express path and needs one. Copies of a multicast",
            "flit leave each when its output is free. Outputs are registers, inputs write memory: no",
            "combinational path crosses the router, and coordinates are ports, so all tiles elaborate alike.",
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
    .starve_limit()
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
            "meshkv_link_counters",
        ])
        .build()
}

/// The link between a tile and its router; `times` multiplies every width ("TILES*" for the mesh).
fn tile_ports(b: ModuleBuilder, times: &str, comment: &'static str, infix: &str) -> ModuleBuilder {
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

fn mesh(w: &Widths) -> ModuleSpec {
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
