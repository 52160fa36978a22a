//! The tile as model: what is generated so that one verilated tile can be run cols x rows times.
//!
//! Everything follows from the ports of the emitted modules: a *socket* in Verilog, which is
//! verilated with the tile in it, and a header in C++, which copies links and packs local ports.
//! Nothing here knows a port by its purpose; `sim/tile.cpp` is the same for every design.

use crate::design::Port;
use crate::emit::{Dir, ModuleSpec, PortSpec};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The module that is verilated: the tile in its socket.
pub(super) const SOCKET: &str = "meshkv_socket";

/// Inputs up to this width are taken at the falling edge. Wider ones are payload: copying it again
/// costs, and nothing but registers reads it. Were it read by logic, that would only be slower.
const SAMPLED_BITS: u32 = 64;

/// Ports that are neither of a link nor of the fabric: clock, reset, and where the tile stands.
const OWN: [&str; 4] = ["clk", "rst", "x", "y"];

/// The four ports that lead to neighbours.
const SIDES: [Port; 4] = [Port::North, Port::South, Port::East, Port::West];

/// A module around `tile` that takes its inputs at the falling edge of the clock.
///
/// Verilator evaluates what follows from an input whenever it is called, and it is called twice a
/// period. Between registers that are written at the falling edge, nothing follows from an input.
/// Coordinates are taken once, at the reset.
///
/// Outputs that `held` names show what they were at the rising edge, inputs and all: so a handshake
/// is seen as the edge saw it. The others show what they are after it.
pub(super) fn socket(tile: &ModuleSpec, held: &dyn Fn(&PortSpec) -> bool) -> String {
    let range = |bits: u32| if bits == 1 { String::new() } else { format!(" [{}:0]", bits - 1) };
    let (mut ports, mut taken, mut pins) = (Vec::new(), String::new(), Vec::new());
    for port @ PortSpec { dir, name, width, .. } in &tile.ports {
        let range = range(width.bits);
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
            "x" | "y" => Some("posedge rst"),
            _ if dir == "output" || width.bits > SAMPLED_BITS => None,
            _ => Some("negedge clk"),
        };
        let Some(edge) = edge else {
            pins.push(format!("        .{name}({name})"));
            continue;
        };
        pins.push(format!("        .{name}({name}_q)"));
        taken += &format!("    reg{range} {name}_q;\n    always @({edge}) {name}_q <= {name};\n");
    }
    format!(
        "`default_nettype none\nmodule {SOCKET} (\n{}\n);\n{taken}    {} u_tile (\n{}\n    );\nendmodule\n",
        ports.join(",\n"),
        tile.name,
        pins.join(",\n")
    )
}

/// A router and its tile as one module: what stands at every place of the fabric.
pub(super) fn node(router: &ModuleSpec, tile: &ModuleSpec) -> ModuleSpec {
    let of_router = router.ports.iter().filter(|p| bundle(&p.name, Port::Local.letter()).is_none());
    let of_tile = tile.ports.iter().filter(|p| !is_own(p) && !is_link(p));
    ModuleSpec {
        name: "meshkv_node",
        summary: Vec::new(),
        params: Vec::new(),
        ports: of_router.chain(of_tile).cloned().collect(),
        instances: vec![router.name, tile.name],
    }
}

/// What as many `node`s side by side show, tile t's part of a port the t-th. Their scans run in step,
/// so that there is one index for all.
pub(super) fn side_by_side(node: &ModuleSpec, tiles: u32) -> ModuleSpec {
    let outside = |p: &&PortSpec| !is_own(p) && !SIDES.iter().any(|s| bundle(&p.name, s.letter()).is_some());
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
pub(super) fn node_body(node: &ModuleSpec, router: &ModuleSpec, tile: &ModuleSpec) -> String {
    let range = |p: &PortSpec| format!("[{}:0] ", p.width.bits - 1);
    let ports = node.ports.iter().map(|p| {
        let dir = if p.dir == Dir::Input { "input " } else { "output" };
        format!("    {dir} wire {}{}", range(p), p.name)
    });
    let links: Vec<_> = tile.ports.iter().filter(|p| is_link(p)).collect();
    let wires = links.iter().map(|p| format!("    wire {}link_{};\n", range(p), p.name));
    // What the tile sends, the router receives.
    let of_router = router.ports.iter().map(|p| match bundle(&p.name, Port::Local.letter()) {
        Some(("rx", field)) => format!("        .{}(link_tx_{field})", p.name),
        Some((_, field)) => format!("        .{}(link_rx_{field})", p.name),
        None => format!("        .{0}({0})", p.name),
    });
    let of_tile = tile.ports.iter().map(|p| match is_link(p) {
        true => format!("        .{0}(link_{0})", p.name),
        false => format!("        .{0}({0})", p.name),
    });
    let join = |lines: &mut dyn Iterator<Item = String>| lines.collect::<Vec<_>>().join(",\n");
    format!(
        "`default_nettype none\nmodule {} (\n{}\n);\n{}    {} u_router (\n{}\n    );\n    {} u_tile (\n{}\n    );\nendmodule\n",
        node.name,
        join(&mut ports.into_iter()),
        wires.collect::<String>(),
        router.name,
        join(&mut of_router.into_iter()),
        tile.name,
        join(&mut of_tile.into_iter()),
    )
}

/// A port of the tile's link to its router.
fn is_link(port: &PortSpec) -> bool {
    port.name.starts_with("tx_") || port.name.starts_with("rx_")
}

/// Lets logic between the registers of the tile and of its socket be evaluated once a period.
///
/// Verilator evaluates it at both edges, since either may change what it follows from. What it
/// comes to after the rising edge nobody reads: at the next falling edge it is evaluated again, and then
/// registers take it. `generated` are the C++ sources; where they are not as expected, or an
/// output of the tile were such logic, they are left as they are and only slower.
pub(super) fn evaluate_once(generated: &mut [String], tile: &ModuleSpec) {
    let outputs = tile.ports.iter().filter(|p| p.dir == Dir::Output);
    let outputs: Vec<_> =
        outputs.flat_map(|p| [format!("->{}", p.name), format!("Ref.{}", p.name)]).collect();
    let shown = generated.iter().flat_map(|text| logic_of(text)).any(|body| names_any(body, &outputs));
    let has_clock =
        generated.iter().any(|text| names_any(text, &["vlSelf->clk".into(), "vlSelfRef.clk".into()]));
    if has_clock && !shown {
        generated.iter_mut().for_each(|text| *text = at_falling_edge(text));
    }
}

/// What Verilator calls a function of logic that follows from registers of several clocks.
const LOGIC: &str = "___nba_comb__";

/// The bodies of such functions.
fn logic_of(text: &str) -> Vec<&str> {
    let starts = text.match_indices(LOGIC).map(|(at, _)| at);
    let defined = starts.filter(|&at| text[at..].lines().next().is_some_and(|line| line.ends_with(") {")));
    defined.map(|at| text[at..].split("\n}\n").next().unwrap_or_default()).collect()
}

/// Whether one of the names stands there, and not as the beginning of a longer one.
fn names_any(text: &str, names: &[String]) -> bool {
    let longer = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    names.iter().any(|name| text.match_indices(name).any(|(at, _)| !longer(&text[at + name.len()..])))
}

/// Puts the clock in place of the conditions under which functions of logic are called.
fn at_falling_edge(text: &str) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(LOGIC) {
        let (before, after) = rest.split_at(at);
        let is_call = after.lines().next().is_some_and(|line| line.ends_with("(vlSelf);"));
        let condition =
            before.rfind("if (").filter(|&start| is_call && !before[start..].contains([';', '}']));
        let body = condition.and_then(|start| before[start..].find('{').map(|brace| start + brace));
        match (condition, body) {
            (Some(start), Some(body)) => {
                done += &before[..start];
                done += "if (!vlSelf->clk) ";
                done += &before[body..];
            }
            _ => done += before,
        }
        done += LOGIC;
        rest = &after[LOGIC.len()..];
    }
    done + rest
}

/// C++ that joins tiles to each other and to the packed ports of `mesh`.
pub(super) fn ports_header(tile: &ModuleSpec, mesh: &ModuleSpec) -> String {
    let mut text = format!(
        "// How tiles ({}) are joined to a fabric ({}).\n#include \"Vdut.h\"\n#include \"model.h\"\n\
         #include \"wiring.h\"\n\nnamespace meshkv {{\n\n",
        tile.name, mesh.name
    );
    text += &wires(mesh);
    text += &silence(tile);
    text += &place(tile);
    for side in SIDES {
        text += &take(tile, side);
    }
    text += &drive(tile, mesh);
    text += &sample(tile, mesh);
    text + "}  // namespace meshkv\n"
}

/// The fabric's ports as packed words, and where to find them by name.
fn wires(mesh: &ModuleSpec) -> String {
    let mut fields = String::new();
    let mut found = String::new();
    for PortSpec { name, width, .. } in mesh.ports.iter().filter(|p| !is_own(p)) {
        let _ = writeln!(fields, "    uint32_t {name}[words_for({})] = {{}};", width.bits);
        let _ = writeln!(found, "        if (name == \"{name}\") return {name};");
    }
    format!(
        "struct Wires {{\n{fields}\n    uint32_t* find(const std::string& name) {{\n{found}        return nullptr;\n    }}\n}};\n\n"
    )
}

/// Tells a tile where it stands, if it asks.
fn place(tile: &ModuleSpec) -> String {
    let asks = |name: &str| tile.ports.iter().any(|p| p.name == name);
    let body: String =
        ["x", "y"].iter().filter(|c| asks(c)).map(|c| format!("    tile.{c} = {c};\n")).collect();
    format!("inline void place(Vdut& tile, unsigned x, unsigned y) {{\n    (void)x, (void)y;\n{body}}}\n\n")
}

/// Sets every input to zero, as it is beyond the edge of the mesh.
fn silence(tile: &ModuleSpec) -> String {
    let inputs = tile.ports.iter().filter(|p| p.dir == Dir::Input);
    let body: String = inputs.map(|p| format!("    clear(tile.{});\n", p.name)).collect();
    format!("inline void silence(Vdut& tile) {{\n{body}}}\n\n")
}

/// What the inputs of one side take from the neighbour there: `rx` from its `tx`, and the reverse.
fn take(tile: &ModuleSpec, side: Port) -> String {
    let (here, there) = (side.letter(), side.opposite().letter());
    let pairs = tile.ports.iter().filter(|p| p.dir == Dir::Input).filter_map(|p| {
        let (end, field) = bundle(&p.name, here)?;
        let other = if end == "rx" { "tx" } else { "rx" };
        Some((p, format!("tile.{} = from.{other}_{there}_{field};", p.name)))
    });
    let body = guarded(pairs.collect(), tile, "tile.");
    format!("inline void take_{here}(Vdut& tile, const Vdut& from) {{\n{body}}}\n\n")
}

/// Local inputs from the fabric's packed ports.
fn drive(tile: &ModuleSpec, mesh: &ModuleSpec) -> String {
    let pairs = local(tile, mesh, Dir::Input)
        .map(|(p, port, _)| (p, format!("get<{}>(wires.{}, t, tile.{});", p.width.bits, port.name, p.name)));
    let body = guarded(pairs.collect(), tile, "tile.");
    format!("inline void drive(Vdut& tile, std::size_t t, const Wires& wires) {{\n{body}}}\n\n")
}

/// Local outputs to the fabric's packed ports. What all tiles show alike is taken from the first.
fn sample(tile: &ModuleSpec, mesh: &ModuleSpec) -> String {
    let pairs = local(tile, mesh, Dir::Output).map(|(p, port, packed)| {
        let first = if packed { "" } else { "if (t == 0) " };
        (p, format!("{first}put<{}>(wires.{}, t, tile.{});", p.width.bits, port.name, p.name))
    });
    let body = guarded(pairs.collect(), tile, "tile.");
    format!("inline void sample(const Vdut& tile, std::size_t t, Wires& wires) {{\n{body}}}\n\n")
}

/// Ports of the tile that are ports of the fabric too, and whether each tile has bits of its own there.
fn local<'a>(
    tile: &'a ModuleSpec,
    mesh: &'a ModuleSpec,
    dir: Dir,
) -> impl Iterator<Item = (&'a PortSpec, &'a PortSpec, bool)> {
    let ports = tile.ports.iter().filter(move |p| p.dir == dir && !is_own(p));
    ports.filter_map(|p| {
        let outside = match bundle(&p.name, Port::Local.letter()) {
            Some((end, field)) => format!("{end}_{field}"),
            None => p.name.clone(),
        };
        let port = mesh.ports.iter().find(|port| port.name == outside)?;
        Some((p, port, port.width.expr.contains("TILES")))
    })
}

/// Statements, those last that matter only while their bundle is valid: a sender keeps what it has
/// last sent, so what is not copied while nothing is sent has not changed.
fn guarded(pairs: Vec<(&PortSpec, String)>, tile: &ModuleSpec, object: &str) -> String {
    let valid_of = |p: &PortSpec| {
        let (bundle, field) = p.name.rsplit_once('_')?;
        let valid = tile.ports.iter().find(|v| v.name == format!("{bundle}_valid") && v.dir == p.dir)?;
        (field != "valid").then(|| valid.name.clone())
    };
    let mut always = String::new();
    let mut when_valid: BTreeMap<String, String> = BTreeMap::new();
    for (port, statement) in pairs {
        match valid_of(port) {
            None => always += &format!("    {statement}\n"),
            Some(valid) => *when_valid.entry(valid).or_default() += &format!("        {statement}\n"),
        }
    }
    for (valid, statements) in when_valid {
        always += &format!("    if ({object}{valid} != 0) {{\n{statements}    }}\n");
    }
    always
}

/// `("rx", "data")` of `rx_n_data`, if it belongs to the port with this letter.
fn bundle(name: &str, letter: char) -> Option<(&str, &str)> {
    let (end, rest) = name.split_once('_')?;
    let (port, field) = rest.split_once('_')?;
    (["rx", "tx"].contains(&end) && port.chars().eq([letter])).then_some((end, field))
}

fn is_own(port: &PortSpec) -> bool {
    OWN.contains(&port.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::design::Design;
    use crate::emit::{modules, ROUTER};

    fn tile() -> ModuleSpec {
        let design = Design::from_config("test", &Config::default()).expect("the default is legal");
        modules(&design).into_iter().find(|m| m.name == ROUTER).expect("every design has a router")
    }

    /// As Verilator 5.006 and 5.048 call them.
    const CALLS: [&str; 2] = [
        "    if ((vlSelf->__VnbaTriggered.at(0U) \n | vlSelf->__VnbaTriggered.at(1U))) {\n        \
         Vdut___024root___nba_comb__TOP__0(vlSelf);\n    }\n",
        "    if ((3ULL & vlSelfRef.__VnbaTriggered[0U])) {\n        \
         Vdut___024root___nba_comb__TOP__0(vlSelf);\n    }\n",
    ];

    fn definition(body: &str) -> String {
        format!("void Vdut___024root___nba_comb__TOP__0(Vdut___024root* vlSelf) {{\n    {body}\n}}\n")
    }

    #[test]
    fn logic_is_called_at_the_falling_edge() {
        for call in CALLS {
            let clock = "    prev = vlSelf->clk;\n".to_owned();
            let mut sources =
                [clock, definition("vlSelf->tx_n_valid_d = 1;"), format!("void f() {{\n{call}}}\n")];
            let before = sources.clone();
            evaluate_once(&mut sources, &tile());
            assert_eq!(sources[..2], before[..2]);
            let call = "    if (!vlSelf->clk) {\n        Vdut___024root___nba_comb__TOP__0(vlSelf);\n    }\n";
            assert_eq!(sources[2], format!("void f() {{\n{call}}}\n"));
        }
    }

    #[test]
    fn what_is_not_as_expected_is_left_as_it_is() {
        let (clock, hidden) = ("vlSelf->clk;\n".to_owned(), definition("vlSelf->a = 1;"));
        for sources in [
            // An output that is logic, by either way to name it.
            [clock.clone(), definition("vlSelf->tx_n_valid = 1;"), CALLS[0].to_owned()],
            [clock.clone(), definition("vlSelfRef.vc_busy = 1;"), CALLS[1].to_owned()],
            // No clock of this name, and a call without a condition.
            [String::new(), hidden.clone(), CALLS[0].to_owned()],
            [clock, hidden, "    a();\n    Vdut___024root___nba_comb__TOP__0(vlSelf);\n".to_owned()],
        ] {
            let mut after = sources.clone();
            evaluate_once(&mut after, &tile());
            assert_eq!(after, sources);
        }
    }
}
