//! The pieces of a fabric that are verilated by themselves, in Verilog: a *wrapper* around each, and a
//! router with its tile as one module.
//!
//! Everything follows from the ports of the emitted modules. C++ that joins the pieces is generated
//! in [`super::glue`]; `sim/pieces.cpp` runs them and is the same for every design.

use super::port_names::{bundle, is_own, SIDES};
use crate::design::Port;
use crate::emit::{Dir, ModuleSpec, PortSpec};

/// The module that is verilated: a piece in its wrapper.
pub(in crate::cosim) const WRAPPER: &str = "meshkv_wrapper";

/// Inputs up to this width are taken at the falling edge. Wider ones are payload: copying it again
/// costs, and nothing but registers reads it. Were it read by logic, that would only be slower.
const SAMPLED_BITS: u32 = 64;

/// A module around a piece that takes its inputs at the falling edge of the clock.
///
/// Verilator evaluates what follows from an input whenever it is called, and it is called twice a
/// period. Between registers that are written at the falling edge, nothing follows from an input.
/// Coordinates are taken once, at the reset.
///
/// Outputs that `held` names show what they were at the rising edge, inputs and all: so a handshake
/// is seen as the edge saw it. The others show what they are after it.
///
/// Unless the clocks run `apart`, what computes has that of the network. If they do, `doubt` says
/// whether bits may come late that change as another clock samples them (`sim/synchronizer.v`).
pub(in crate::cosim) fn wrapper(piece: &ModuleSpec, held: &dyn Fn(&PortSpec) -> bool, apart: bool) -> String {
    let range = |bits: u32| if bits == 1 { String::new() } else { format!(" [{}:0]", bits - 1) };
    let (mut ports, mut taken, mut pins) = (Vec::new(), String::new(), Vec::new());
    // All tiles of a whole fabric leave their reset together.
    let reset =
        |name: &str, bits: u32| if bits == 1 { name.to_owned() } else { format!("{{{bits}{{{name}}}}}") };
    for port @ PortSpec { dir, name, width, .. } in &piece.ports {
        let own = is_own(port) && name.ends_with("rst");
        let range = range(if own { 1 } else { width.bits });
        let dir = if *dir == Dir::Input { "input " } else { "output" };
        if dir == "output" && held(port) {
            ports.push(format!("    output reg {range} {name}"));
            pins.push(format!("        .{name}({name}_now)"));
            taken +=
                &format!("    wire{range} {name}_now;\n    always @(posedge clk) {name} <= {name}_now;\n");
            continue;
        }
        ports.push(format!("    {dir} wire{range} {name}"));
        let edge = match name.as_str() {
            "clk" | "rst" => None,
            "pe_clk" | "pe_rst" if apart => None,
            "pe_clk" | "pe_rst" => {
                ports.pop();
                pins.push(format!("        .{name}({})", reset(&name[3..], width.bits)));
                continue;
            }
            "x" | "y" => Some("posedge rst"),
            _ if dir == "output" || width.bits > SAMPLED_BITS => None,
            _ => Some("negedge clk"),
        };
        let Some(edge) = edge else {
            let with = if own { reset(name, width.bits) } else { name.clone() };
            pins.push(format!("        .{name}({with})"));
            continue;
        };
        pins.push(format!("        .{name}({name}_q)"));
        taken += &format!("    reg{range} {name}_q;\n    always @({edge}) {name}_q <= {name};\n");
    }
    if apart {
        ports.push("    input  wire doubt".to_owned());
    }
    format!(
        "`default_nettype none\nmodule {WRAPPER} (\n{}\n);\n{taken}    {} u_piece (\n{}\n    );\nendmodule\n",
        ports.join(",\n"),
        piece.name,
        pins.join(",\n")
    )
}

/// A router and what stands beside it as one module: what there is at every place of the fabric. What two of
/// those beside have in common joins them, and is not seen from outside. Unless the clocks run `apart` there is one.
pub(in crate::cosim) fn node(router: &ModuleSpec, beside: &[&ModuleSpec], apart: bool) -> ModuleSpec {
    let of_router = router.ports.iter().filter(|p| bundle(&p.name, Port::Local.letter()).is_none());
    let outside = |p: &&PortSpec| !is_own(p) && !is_link(p) && !joins(beside, &p.name);
    let all = || beside.iter().flat_map(|m| &m.ports);
    let second = |name| all().find(|p| apart && p.name == name);
    let clock = ["pe_clk", "pe_rst"].into_iter().filter_map(second);
    let of_others = all().filter(outside);
    ModuleSpec {
        block: router.block,
        name: "meshkv_node",
        summary: Vec::new(),
        params: Vec::new(),
        ports: of_router.chain(clock).chain(of_others).cloned().collect(),
        instances: std::iter::once(router.name).chain(beside.iter().map(|m| m.name)).collect(),
    }
}

/// Whether a port of this name joins two of the modules.
fn joins(modules: &[&ModuleSpec], name: &str) -> bool {
    modules.iter().filter(|m| m.ports.iter().any(|p| p.name == name)).count() > 1
}

/// What as many `node`s side by side show, tile t's part of a port the t-th. Their scans run in step,
/// so that there is one index for all.
pub(in crate::cosim) fn side_by_side(node: &ModuleSpec, tiles: u32) -> ModuleSpec {
    let outside = |p: &&PortSpec| !is_own(p) && !is_side(p);
    let packed = |p: &PortSpec| {
        let mut port = p.clone();
        if !p.name.ends_with("_index") || p.name.starts_with("kv_") {
            port.width.expr = format!("TILES*{}", p.width.expr);
            port.width.bits *= tiles;
        }
        port
    };
    ModuleSpec {
        name: "meshkv_nodes",
        ports: node.ports.iter().filter(outside).map(packed).collect(),
        ..node.clone()
    }
}

/// Verilog of a [`node`].
pub(in crate::cosim) fn node_body(node: &ModuleSpec, router: &ModuleSpec, beside: &[&ModuleSpec]) -> String {
    let range = |p: &PortSpec| format!("[{}:0] ", p.width.bits - 1);
    let ports = node.ports.iter().map(|p| {
        let dir = if p.dir == Dir::Input { "input " } else { "output" };
        format!("    {dir} wire {}{}", range(p), p.name)
    });
    let mut wires = String::new();
    let all = || beside.iter().flat_map(|m| &m.ports);
    for port in all().filter(|p| is_link(p)) {
        wires += &format!("    wire {}link_{};\n", range(port), port.name);
    }
    for port in all().filter(|p| p.dir == Dir::Output && joins(beside, &p.name)) {
        wires += &format!("    wire {}{};\n", range(port), port.name);
    }
    // What the tile sends, the router receives.
    let of_router = router.ports.iter().map(|p| match bundle(&p.name, Port::Local.letter()) {
        Some(("rx", field)) => format!("        .{}(link_tx_{field})", p.name),
        Some((_, field)) => format!("        .{}(link_rx_{field})", p.name),
        None => format!("        .{0}({0})", p.name),
    });
    let apart = node.ports.iter().any(|p| p.name == "pe_clk");
    let beside_it = |p: &PortSpec| match p.name.strip_prefix("pe_").filter(|_| !apart) {
        // What computes runs in step with the network.
        Some(shared) => format!("        .{}({shared})", p.name),
        None if is_link(p) => format!("        .{0}(link_{0})", p.name),
        None => format!("        .{0}({0})", p.name),
    };
    let join = |lines: &mut dyn Iterator<Item = String>| lines.collect::<Vec<_>>().join(",\n");
    let instance = |module: &&ModuleSpec| {
        let pins = join(&mut module.ports.iter().map(beside_it));
        format!("    {0} u_{0} (\n{pins}\n    );\n", module.name)
    };
    format!(
        "`default_nettype none\nmodule {} (\n{}\n);\n{wires}    {} u_router (\n{}\n    );\n{}endmodule\n",
        node.name,
        join(&mut ports.into_iter()),
        router.name,
        join(&mut of_router.into_iter()),
        beside.iter().map(instance).collect::<String>(),
    )
}

/// A port of the tile's link to its router; what leads to the tiles beside it is not.
fn is_link(port: &PortSpec) -> bool {
    (port.name.starts_with("tx_") || port.name.starts_with("rx_")) && !is_side(port)
}

/// A port that leads to a neighbour.
fn is_side(port: &PortSpec) -> bool {
    SIDES.iter().any(|side| bundle(&port.name, side.letter()).is_some())
}
