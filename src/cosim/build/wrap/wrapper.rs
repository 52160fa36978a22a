//! Generates Verilog for pieces that are verilated alone: a *wrapper* for each, and a router with
//! its tile as one module.
//!
//! The text is derived from the ports of the emitted modules. [`crate::cosim::build::wrap::glue`] generates the C++
//! that connects the pieces. `sim/pieces.cpp` runs them and is the same for every design.

use crate::cosim::build::wrap::port_names::{bundle, is_own, SIDES};
use crate::design::Port;
use crate::emit::{Dir, ModuleSpec, PortSpec};

/// Name of the verilated module: a piece in its wrapper.
pub(in crate::cosim) const WRAPPER: &str = "meshkv_wrapper";

/// Widest input that is sampled at the falling edge. Wider ones are payload: copying costs time,
/// and only registers read them. Logic that read them would only be slower.
const SAMPLED_BITS: u32 = 64;

/// Verilog of a wrapper, which samples the inputs of a piece at the falling edge of the clock.
///
/// Verilator is called twice a period and evaluates all logic behind an input at each call. Behind
/// registers that are written at the falling edge, no logic depends on an input. Coordinates are
/// sampled once, at the reset.
///
/// Outputs that `sampled` names are sampled at the rising edge, with the inputs of that edge: a
/// handshake appears as the edge sees it. The other outputs show their values after the edge.
///
/// Unless the clocks run `apart`, PaD has the network's clock. If they do, `doubt` enables late
/// bits: bits that change as another clock samples them (`sim/synchronizer.v`).
pub(in crate::cosim) fn wrapper(
    piece: &ModuleSpec,
    sampled: &dyn Fn(&PortSpec) -> bool,
    apart: bool,
) -> String {
    let range = |bits: u32| if bits == 1 { String::new() } else { format!(" [{}:0]", bits - 1) };
    let (mut ports, mut taken, mut pins) = (Vec::new(), String::new(), Vec::new());
    // All tiles of a whole fabric leave reset together.
    let reset =
        |name: &str, bits: u32| if bits == 1 { name.to_owned() } else { format!("{{{bits}{{{name}}}}}") };
    for port @ PortSpec { dir, name, width, .. } in &piece.ports {
        let own = is_own(port) && name.ends_with("rst");
        let range = range(if own { 1 } else { width.bits });
        let dir = if *dir == Dir::Input { "input " } else { "output" };
        if dir == "output" && sampled(port) {
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

/// A router and the modules at its place as one module. Ports that two of `beside` share connect
/// them and are not ports of the result. There is one clock unless the clocks run `apart`.
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
        kept: false,
    }
}

/// True if a port of this name connects two of the modules.
fn joins(modules: &[&ModuleSpec], name: &str) -> bool {
    modules.iter().filter(|m| m.ports.iter().any(|p| p.name == name)).count() > 1
}

/// Ports of as many `node`s as there are tiles, tile t's part the t-th. The scans of the nodes run
/// in step, so that there is one index for all.
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
    // The router receives what the tile sends.
    let of_router = router.ports.iter().map(|p| match bundle(&p.name, Port::Local.letter()) {
        Some(("rx", field)) => format!("        .{}(link_tx_{field})", p.name),
        Some((_, field)) => format!("        .{}(link_rx_{field})", p.name),
        None => format!("        .{0}({0})", p.name),
    });
    let apart = node.ports.iter().any(|p| p.name == "pe_clk");
    let beside_it = |p: &PortSpec| match p.name.strip_prefix("pe_").filter(|_| !apart) {
        // PaD runs in step with the network.
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

/// True for a port of the tile's link to its router, false for one to a neighbouring tile.
fn is_link(port: &PortSpec) -> bool {
    (port.name.starts_with("tx_") || port.name.starts_with("rx_")) && !is_side(port)
}

/// A port that leads to a neighbour.
fn is_side(port: &PortSpec) -> bool {
    SIDES.iter().any(|side| bundle(&port.name, side.letter()).is_some())
}
