//! The modules front and top: wiring of the parts to each other, to the core and to the host.

use crate::design::Design;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::device::params::{wire, wires_between, DeviceParams};
use crate::emit::rtl::module::{mirrored_ports, unshared_params, Dir, ModuleBuilder, ModuleSpec, PortSpec};
use crate::emit::rtl::names::{CORE, FRONT, TOP};
use crate::emit::rtl::pad::params::PadParams;
use std::collections::BTreeMap;

/// Prefixes of the core's ports to which the front attaches.
const CORE_SIDE: [&str; 15] = [
    "query_",
    "more_",
    "desc_",
    "partials",
    "idle",
    "out_",
    "m_axi_",
    "error_",
    "stat_",
    "event_",
    "pad_index",
    "pad_data",
    "token_",
    "write_",
    "writes_",
];

/// Parts whose wires are listed one by one.
const TOLD_APART: [&str; 4] =
    ["meshkv_read_guard", "meshkv_read_slices", "meshkv_crossing_chain", "meshkv_token_writer"];

/// Parameters of parts that the front sets.
const OWN: [&str; 11] = [
    "ID_WIDTH",
    "ADDR_WIDTH",
    "LOW_BITS",
    "LEN_BITS",
    "ALIGN_LOG",
    "QUEUE",
    "CREDITS",
    "BOUNDARIES",
    "SECOND",
    "BURSTS",
    "DEPTH",
];

pub(in crate::emit::rtl) fn front(
    w: &DeviceParams,
    c: &PadParams,
    parts: &[ModuleSpec],
    core: &ModuleSpec,
) -> ModuleSpec {
    let all: Vec<_> = parts.iter().collect();
    let mut b = ModuleBuilder::new(Block::Device, FRONT,
        &[
            "Interface to host and memories: registers, runs, queries, outputs, and the paths of the memory ports.",
            "",
            "Every run ends, whatever memory or host do: with a bit of ERROR in the worst case, never in a hang. After",
            "an aborted run the front resets the core and drops the answers to its earlier requests.",
        ],
    )
    .params_of(&all, &OWN)
    .front(w, &["BUFFER_LOG", "DESC_QUEUE", "QUERY_BURSTS"])
    .control(&c.control, &["AXI_ID_WIDTH", "AXI_ADDR_WIDTH", "LEN_WIDTH", "ROW_PORTS", "PORT_TILES"])
    .params_of(&[core], &[]);
    let used: Vec<_> = all
        .iter()
        .flat_map(|part| part.params.iter().map(|p| p.name))
        .chain(["BUFFER_LOG", "DESC_QUEUE", "QUERY_BURSTS"])
        .chain(["AXI_ID_WIDTH", "AXI_ADDR_WIDTH", "LEN_WIDTH", "ROW_PORTS", "PORT_TILES"])
        .filter(|name| !OWN.contains(name))
        .collect();
    b = b.only(&used).platform(w, c.control.append.is_some());
    b = b.group("Resets of the core.").output("rst", "TILES", "Reset of the network.").output(
        "pe_rst",
        "TILES",
        "Reset of PaD, in its clock.",
    );
    let b = mirrored_ports(b, core, &CORE_SIDE, "");
    let appends: &[&str] =
        if c.control.append.is_some() { &["meshkv_token_reader", "meshkv_token_writer"] } else { &[] };
    b.instances(
        &[
            "meshkv_control_registers",
            "meshkv_descriptor_queue",
            "meshkv_list_reader",
            "meshkv_run_control",
            "meshkv_reset",
            "meshkv_counter_view",
            "meshkv_query_reader",
            "meshkv_read_guard",
            "meshkv_read_slices",
            "meshkv_output_writer",
            "meshkv_crossing_chain",
        ]
        .into_iter()
        .chain(appends.iter().copied())
        .collect::<Vec<_>>(),
    )
    .build()
}

impl ModuleBuilder {
    /// Ports of a Vitis RTL kernel.
    fn platform(self, w: &DeviceParams, append: bool) -> Self {
        let mut b = self
            .group("Clock and reset, active low, of the network and of all ports.")
            .input("ap_clk", 1, "")
            .input("ap_rst_n", 1, "")
            .group("Clock of PaD, unrelated, and its reset.")
            .input("ap_clk_2", 1, "")
            .input("ap_rst_n_2", 1, "")
            .group("To the host.")
            .output("interrupt", 1, "Level.")
            .axi_lite();
        for name in w.ports() {
            let (prefix, group) = (format!("m_axi_{name}_"), "AXI4 master to external memory.");
            let reads = "AXI4 read master to external memory.";
            b = b.group(if append { group } else { reads }).axi_read(&prefix, "HOST_ID_WIDTH");
            if append {
                b = b.axi_write(&prefix, "HOST_ID_WIDTH", "Epoch, and 0.");
            }
        }
        b.group("AXI4 master for queries and outputs.").axi_read("m_axi_io_", "HOST_ID_WIDTH").axi_write(
            "m_axi_io_",
            "HOST_ID_WIDTH",
            "Epoch, and 1 for a partial result, 0 for an output.",
        )
    }
}

fn is_core_side(port: &PortSpec, core: &ModuleSpec) -> bool {
    ["rst", "pe_rst"].contains(&port.name.as_str()) || core.ports.iter().any(|p| p.name == port.name)
}

pub(in crate::emit::rtl) fn top(front: &ModuleSpec, core: &ModuleSpec) -> ModuleSpec {
    let mut b = ModuleBuilder::new(Block::Device, TOP,
        &[
            "The kernel: the front, which interfaces host and memories, and the core, which computes attention.",
            "",
            "The generated documentation page describes registers, runs and errors. Ports are those of a Vitis RTL",
            "kernel: AXI4-Lite control, an AXI4 master a memory port, one for queries and outputs.",
        ],
    )
    .params_of(&[front, core], &[]);
    for port in front.ports.iter().filter(|p| !is_core_side(p, core)) {
        if !port.group.is_empty() {
            b = b.group(port.group);
        }
        b = b.port(port.dir, port.name.clone(), port.width.expr.as_str(), port.doc);
    }
    // An IP has the top below a wrapper, and constraints are read at its instance there.
    b.instances(&[front.name, core.name]).keep_hierarchy().build()
}

/// Values for the templates of front and top.
pub(in crate::emit::rtl) fn values(design: &Design, all: &[ModuleSpec]) -> BTreeMap<String, tera::Value> {
    let w = DeviceParams::of(design);
    let spec = |name: &str| all.iter().find(|m| m.name == name).expect("every design has it");
    let (front, core, top) = (spec(FRONT), spec(CORE), spec(TOP));
    let parts: Vec<_> =
        front.instances.iter().filter(|n| !TOLD_APART.contains(*n)).map(|n| spec(n)).collect();
    let but = |p: &PortSpec| p.name.starts_with("m_") || ["core_rst", "s_axi"].contains(&p.name.as_str());
    let skipped: Vec<_> =
        parts.iter().flat_map(|p| &p.ports).filter(|p| but(p)).map(|p| p.name.as_str()).collect();
    let mut front_wires = wires_between(&parts, front, &skipped);
    front_wires.extend(hbm_wires(&w, spec("meshkv_read_guard")));
    if let Some(writer) = all.iter().find(|m| m.name == "meshkv_token_writer") {
        front_wires.extend(hbm_wires(&w, writer));
    }
    let shown = |p: &&PortSpec| p.dir == Dir::Output && !front.ports.iter().any(|f| f.name == p.name);
    let unused: Vec<_> = core.ports.iter().filter(shown).map(|p| p.name.clone()).collect();
    let mut values = w.values();
    values.extend(BTreeMap::from([
        ("front_wires".to_owned(), front_wires.into()),
        ("top_wires".to_owned(), wires_between(&[front, core], top, &[]).into()),
        ("top_unused".to_owned(), unused.join(", ").into()),
        ("front_params".to_owned(), unshared_params(top, front).into()),
        ("top_core_params".to_owned(), unshared_params(top, core).into()),
    ]));
    values
}

/// Wires of all ports to external memory, packed for the generate loop.
fn hbm_wires(w: &DeviceParams, guard: &ModuleSpec) -> Vec<String> {
    let mut wires = Vec::new();
    for port in guard.ports.iter().filter(|p| p.name.starts_with("m_")) {
        let name = port.name.trim_start_matches("m_");
        let width = match port.width.expr.as_str() {
            "1" => "PORTS".to_owned(),
            each => format!("PORTS*{each}"),
        };
        let all: Vec<_> = w.ports().iter().rev().map(|p| format!("m_axi_{p}_{name}")).collect();
        // Four a line.
        let lines: Vec<_> = all.chunks(4).map(|four| four.join(", ")).collect();
        let all = format!("{{\n        {}}}", lines.join(",\n        "));
        match port.dir {
            Dir::Input => {
                wires.push(format!("{} = {all};", wire(&format!("hbm_{name}"), &width).trim_end_matches(';')))
            }
            Dir::Output => {
                wires.push(wire(&format!("hbm_{name}"), &width));
                wires.push(format!("assign {all} = hbm_{name};"));
            }
        }
    }
    wires
}
