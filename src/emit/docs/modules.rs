//! The part of the documentation page that describes modules: parameters, ports, instances.

use super::markdown::cell;
use crate::emit::rtl::spec::module::{Dir, ModuleSpec, ParamSpec, PortSpec};
use serde::Serialize;

/// Entry of one module.
#[derive(Serialize)]
pub(super) struct ModuleSection {
    name: &'static str,
    summary: String,
    params: Vec<ParamRow>,
    ports: Vec<PortRow>,
}

#[derive(Serialize)]
struct ParamRow {
    name: String,
    value: String,
    doc: String,
}

#[derive(Serialize)]
struct PortRow {
    name: String,
    dir: Dir,
    bits: u32,
    /// Empty if it equals `bits`.
    expr: String,
    doc: String,
    group: String,
}

/// The section of one module.
pub(super) fn module_section(module: &ModuleSpec) -> ModuleSection {
    let param =
        |p: &ParamSpec| ParamRow { name: p.name.clone(), value: p.literal.clone(), doc: cell(&p.doc) };
    ModuleSection {
        name: module.name,
        summary: module.summary.join("\n").trim().to_owned(),
        params: module.params.iter().map(param).collect(),
        ports: module.ports.iter().map(port_row).collect(),
    }
}

fn port_row(port: &PortSpec) -> PortRow {
    let repeats = port.width.expr == port.width.bits.to_string();
    PortRow {
        name: port.name.clone(),
        dir: port.dir,
        bits: port.width.bits,
        expr: if repeats { String::new() } else { cell(&port.width.expr) },
        doc: cell(if port.doc.is_empty() { usual_meaning(&port.name) } else { &port.doc }),
        group: cell(&port.group),
    }
}

/// Usual meanings of ports of these names.
const USUAL: &[(&[&str], &str)] = &[
    (&["clk"], "Clock."),
    (&["rst"], "Reset: synchronous, active high."),
    (&["pe_clk"], "Clock of PaD."),
    (&["s_clk"], "Clock of the writer."),
    (&["s_rst"], "Reset, synchronous to s_clk."),
    (&["m_clk"], "Clock of the reader."),
    (&["m_rst"], "Reset, synchronous to m_clk."),
    (&["root_others"], "Partial results of its head besides this one."),
    (&["kind", "next_kind"], "0 K, 1 V, 2 the flit of ones, 3 READ."),
    (&["next_part"], "Number of the query's part."),
    (&["begins", "next_begins"], "First part of its token."),
    (&["ends", "next_ends"], "Last part of its token."),
    (&["next_token", "k_done_token", "s_token"], "Number of the token in its segment."),
    (&["next_counts", "s_counts"], "The token is not masked."),
    (&["next_tail"], "Returned as k_done."),
    (&["dim", "next_dim"], "Number of the sum; HEAD_DIM is l."),
    (&["next_buffer", "load_buffer", "m_buffer", "op_buffer"], "Number of the weight buffer."),
    (&["next_clear"], "The last READ of its context."),
    (&["next_exponent"], "Exponent of the flit."),
    (&["load_block"], "Number of the block in the segment."),
    (&["k_done"], "One pulse a tail."),
    (&["s_exponent"], "Integer part of the scaled logit."),
    (&["s_significand"], "Significand of the weight, without its leading one."),
    (&["op_fall"], "Right shift of the sums; bit 7: there are none yet."),
    (&["dot"], "Sum of the products of a flit."),
    (&["exponent"], "Its exponent: the largest of its lanes."),
    (&["max_some"], "The slot has a maximum."),
    (&["logit"], "Sum of q * k of a token."),
    (&["flit"], "Flit to multiply by the stationary vector."),
    (&["c", "pcin"], "The addend of the product."),
    (&["d"], "Input."),
    (&["q"], "The delayed input."),
    (&["s_negative"], "Sign of the number."),
    (&["x"], "Column of this tile, from the west."),
    (&["y"], "Row of this tile, from the south."),
    (&["dest"], "Destination of the flit."),
    (&["north", "south", "east", "west"], "A destination lies in that direction."),
    (&["stat_index"], "Index of the current total."),
    (&["stat_data"], "The total, modulo 2^32."),
    (&["meta", "rx_meta", "rd_meta", "tx_meta"], "Fields next to the payload: destination and header."),
    (&["data", "rd_data"], "Payload of the flit."),
    (&["pending"], "Heads that owe a copy to an output; bit output * VCS + v."),
    (&["occupied"], "Virtual channels that hold a flit."),
    (&["tiles"], "Tiles beyond this one in that direction."),
    (&["last"], "Virtual channels whose head is the last flit of its packet."),
    (&["freed"], "Virtual channels whose head leaves for good in this cycle."),
    (&["rx_last"], "The flit on the link is the last of its packet."),
    (&["request"], "Requests, one bit each."),
    (&["grant"], "Grants, one bit each."),
    (&["ask"], "The remaining request."),
    (&["express"], "Outputs that take the flit on the link."),
    (&["express_first"], "The flit on the link is the first of its packet."),
    (&["rd_vc"], "One-hot: the virtual channel to read."),
    (&["vc", "out_vc", "send_vc"], "One-hot: the virtual channel of the flit beyond the output."),
    (&["go_vc"], "One-hot: the virtual channel of the flit that enters the register, granted or express."),
    (&["load"], "A flit may enter the register."),
    (&["send_last"], "The flit sent is the last of its packet."),
    (&["select"], "The selected input: a, b, c, d."),
    (&["wants_w", "wants_e", "wants_l"], "The flit on the link of the first letter continues to the second."),
    (&["want", "want_straight", "wants"], "Requests, one bit a kind of flit."),
    (&["won", "won_straight"], "Grants, one bit a kind of flit."),
    (&["full"], "At least half of the buffer's slots hold a flit."),
    (&["avail"], "A credit waits; bit output * VCS + v."),
    (&["free"], "A credit waits and no packet holds the virtual channel; bit output * VN0_VCS + v."),
    (&["pick"], "One-hot: the free virtual channel for the next packet of each output."),
    (&["ap_clk"], "Clock: ap_clk of the network, ap_clk_2 of PaD."),
    (&["ap_rst", "ap_rst_n"], "Reset, active low, synchronous to the clock of its number."),
    (
        &["set_cache", "set_first", "set_stride", "set_count", "set_rows", "set_streams"],
        "Value written to the register of this name.",
    ),
    (
        &["put_cache", "put_first", "put_stride", "put_count", "put_rows", "put_streams"],
        "Word of the descriptor, as the register of this name has it.",
    ),
    (&["select_index", "select_group", "select_tile"], "The selected counter."),
    (&["refuse_where", "fail_where", "put_where"], "New value of ERROR_INFO.WHERE."),
    (&["writing"], "A burst of outputs is being written."),
    (&["core_rst"], "The core is held in reset."),
    (&["core_idle"], "All descriptors are done."),
];

/// Usual meaning of a port by its name, for tables; the sources state it once.
fn usual_meaning(port: &str) -> &'static str {
    // The last letter names one of five ports or one of four inputs; the group says which.
    let name = match port.rsplit_once('_') {
        Some((name, letter)) if letter.len() == 1 => name,
        _ => port,
    };
    let usual = USUAL.iter().find(|(names, _)| names.contains(&name)).map_or("", |&(_, doc)| doc);
    let meanings = [usual, link_meaning(name), axi_meaning(port), bundle_meaning(port)];
    meanings.into_iter().find(|doc| !doc.is_empty()).unwrap_or("")
}

/// Meaning of the signals of any AXI4 bus.
fn axi_meaning(port: &str) -> &'static str {
    match port.rsplit('_').next() {
        Some("awvalid" | "wvalid" | "bvalid" | "arvalid" | "rvalid") => "The channel is valid.",
        Some("awready" | "wready" | "bready" | "arready" | "rready") => "It is taken in this cycle.",
        Some("awid" | "arid") => "ID of the burst.",
        Some("bid" | "rid") => "ID of the answered burst.",
        Some("wdata" | "rdata") => "The beat.",
        Some("wstrb") => "Bytes enabled for writing.",
        Some("wlast" | "rlast") => "Last beat of the burst.",
        Some("bresp" | "rresp" | "resp") => "Answer: 0 OKAY, 2 SLVERR, 3 DECERR.",
        _ => "",
    }
}

/// Meaning of the fields of tiles' bundles; group or prefix names the owner.
fn bundle_meaning(port: &str) -> &'static str {
    match port.rsplit('_').next() {
        Some("valid") => "The bundle is valid; held until taken.",
        Some("ready") => "It is taken in this cycle.",
        Some("key") => "Tag with its generation above it.",
        Some("tag") => "Tag: stream, layer, segment, slice.",
        Some("index") => "Position of the flit in its slice.",
        Some("mask") => "Head mask, a bit a head.",
        Some("dest") => "Destinations, a bit a tile.",
        Some("slot") => "Slot of the staging memory.",
        Some("addr") => "Address in the staging memory.",
        Some("en") => "The bundle is valid in this cycle.",
        Some("data") => "Payload of the flit.",
        Some("first") => "First flit of the range; starts a chunk.",
        Some("last") => "Last flit of the range.",
        Some("again") => "The tile has requested it before and does not have it yet.",
        Some("x") => "Its column, from the west.",
        Some("y") => "Its row, from the south.",
        Some("stream") => "Stream.",
        Some("layer") => "Layer.",
        Some("head") => "Query head, by its place in the column.",
        Some("resident") => "The slice is in the staging memory.",
        _ => "",
    }
}

fn link_meaning(port: &str) -> &'static str {
    if !(port.starts_with("rx_") || port.starts_with("tx_")) {
        return "";
    }
    match port.rsplit('_').next() {
        Some("valid") => "One-hot: the virtual channel of the flit.",
        Some("ahead") => "A destination lies beyond the receiving router.",
        Some("dest") => "Destination of the flit.",
        Some("head") => "Header fields of the flit.",
        Some("data") => "Payload of the flit.",
        Some("credit") => "One pulse a slot freed, one bit a virtual channel.",
        _ => "",
    }
}

/// Tree of instances from the top; a module is drawn at each use.
pub(super) fn instance_tree(modules: &[ModuleSpec]) -> String {
    let mut lines = Vec::new();
    if let Some(top) = modules.len().checked_sub(1) {
        lines.push(modules[top].name.to_owned());
        draw_below(modules, top, "", &mut lines);
    }
    lines.join("\n")
}

fn draw_below(modules: &[ModuleSpec], parent: usize, indent: &str, lines: &mut Vec<String>) {
    let children = &modules[parent].instances;
    for (i, child) in children.iter().enumerate() {
        let (branch, below) =
            if i + 1 < children.len() { ("├── ", "│   ") } else { ("└── ", "    ") };
        lines.push(format!("{indent}{branch}{child}"));
        // Only earlier modules are looked up, so the recursion ends.
        if let Some(index) = modules[..parent].iter().position(|m| m.name == *child) {
            draw_below(modules, index, &format!("{indent}{below}"), lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::Block;

    #[test]
    fn instance_tree_starts_at_the_top() {
        let modules = [
            ModuleSpec::bare(Block::Common, "meshkv_fifo", &[]),
            ModuleSpec::bare(Block::Network, "meshkv_router", &["meshkv_fifo"]),
            ModuleSpec::bare(Block::Network, "meshkv_mesh", &["meshkv_fifo", "meshkv_router"]),
        ];
        let tree = "meshkv_mesh\n├── meshkv_fifo\n└── meshkv_router\n    └── meshkv_fifo";
        assert_eq!(instance_tree(&modules), tree);
    }

    #[test]
    fn usual_names_are_explained_only_where_they_are_usual() {
        assert_eq!(usual_meaning("rx_n_data"), "Payload of the flit.");
        assert_eq!(usual_meaning("credit"), "");
    }
}
