//! The core: fabric, PaD and reduce roots.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec, PortSpec};
use crate::emit::rtl::names::CORE;
use crate::emit::rtl::pad::params::PadParams;
use crate::emit::rtl::takv::bundles::HEAD;

pub(in crate::emit::rtl) fn core(
    w: &PadParams,
    fabric: &ModuleSpec,
    pad: &ModuleSpec,
    root: &ModuleSpec,
) -> ModuleSpec {
    let c = &w.control;
    let mut b = ModuleBuilder::new(Block::Fabric, CORE,
        &[
            "Attention of a decode step: the fabric that moves KV, PaD at every tile, a reduce root in each column.",
            "",
            "Inputs are queries and descriptors; results are outputs; external memory attaches to the AXI ports. PaD",
            "has its own clock, unrelated to the network's.",
        ],
    )
    .params_of(&[fabric], &[])
    .params_of(&[pad, root], &["SLOTS"])
    .clocked_by_tile()
    .compute_clocked_by_tile()
    .query_groups(Dir::Input, HEAD)
    .more_queries(Dir::Input)
    .descriptor(c.append.is_some())
    .input("partials", "STREAMS_NUM", "Streams whose heads return partial results; stable while they are decoded.")
    .output("idle", 1, "All descriptors are done.");
    if c.swaps() {
        b = b.swap_report();
    }
    if c.append.is_some() {
        b = b.new_tokens(Dir::Input).more_tokens(Dir::Input).writes("PORTS*");
    }
    b = b.ports_of(root, &["out_", "merge_"], "COLS*");
    b.ports_of(fabric, &["m_axi_", "error_"], "")
        .ports_of(fabric, &["vc_busy", "stat_", "event_"], "")
        .output("pad_index", 5, "Index of PaD's current total.")
        .output("pad_data", "TILES*32", "")
        .output(
            "pad_state",
            "TILES*5",
            "State of the stages: {results are read, weights loaded, flits wait, V passes, K passes}.",
        )
        .instances(&[fabric.name, pad.name, root.name])
        .build()
}

/// Wires of the core between the fabric and PaD, and those that only row 0 uses elsewhere.
pub(in crate::emit::rtl) fn core_wires(fabric: &ModuleSpec, core: &ModuleSpec) -> (Vec<String>, String) {
    let inner = || fabric.ports.iter().filter(|p| !core.ports.iter().any(|c| c.name == p.name));
    let wire = |p: &PortSpec| {
        let range = if p.width.expr == "1" { String::new() } else { format!("[{}-1:0] ", p.width.expr) };
        format!("wire {range}{};", p.name)
    };
    let of_root = inner().filter(|p| p.name.starts_with("root_") && p.dir == Dir::Output);
    let part = |p: &PortSpec| {
        let width = p.width.expr.trim_start_matches("TILES*");
        match width {
            "TILES" => format!("{}[t]", p.name),
            _ => format!("{}[t*{width}+:{width}]", p.name),
        }
    };
    (inner().map(wire).collect(), of_root.map(part).collect::<Vec<_>>().join(", "))
}
