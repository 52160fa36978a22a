//! Port lists of pieces that are no emitted module, and one place of the mesh as a module.

use crate::cosim::build::wrap::wrapper;
use crate::design::Design;
use crate::emit::{self, ModuleSpec, PortSpec, FABRIC, PAD, ROUTER, TILE, TRANSPORT};

/// Module `meshkv_node` in Verilog: a router, its tile and its PaD, with two clocks.
pub fn one_place(design: &Design) -> String {
    let modules = emit::modules(design);
    let (router, beside) = (module(&modules, ROUTER), [TILE, PAD].map(|name| module(&modules, name)));
    wrapper::node_body(&wrapper::node(router, &beside, true), router, &beside)
}

/// Ports of [`BuildForm::TransportPieces`](crate::cosim::build::form::BuildForm::TransportPieces): those of a
/// router with its transport, once for each tile.
pub(in crate::cosim) fn node_ports(design: &Design) -> ModuleSpec {
    let modules = emit::modules(design);
    let node = wrapper::node(module(&modules, ROUTER), &[module(&modules, TRANSPORT)], false);
    wrapper::side_by_side(&node, design.mesh.tiles() as u32)
}

/// Ports of [`BuildForm::NetworkEndpoints`](crate::cosim::build::form::BuildForm::NetworkEndpoints): the fabric's
/// ports without the routers', and the links of all tiles to routers.
pub fn endpoint_ports(design: &Design) -> ModuleSpec {
    let modules = emit::modules(design);
    let tiles = wrapper::side_by_side(module(&modules, TILE), design.mesh.tiles() as u32);
    let link = |p: &&PortSpec| p.name.starts_with("tx_") || p.name.starts_with("rx_");
    let mut endpoints = module(&modules, FABRIC).clone();
    endpoints.ports.retain(|p| p.name != "vc_busy" && !p.name.starts_with("stat_"));
    endpoints.ports.extend(tiles.ports.iter().filter(link).cloned());
    endpoints
}

/// The module with this name.
pub(in crate::cosim) fn module<'a>(modules: &'a [ModuleSpec], name: &str) -> &'a ModuleSpec {
    modules.iter().find(|m| m.name == name).expect("every design has these modules")
}
