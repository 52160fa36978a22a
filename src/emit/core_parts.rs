//! What computes: PaD beside every tile, the reduce roots, and all of it as the top. Their bodies are
//! templates; `docs/pad.md` has the reasons.

use super::block::Block;
use super::control_parts::{HEAD, PLACE};
use super::core_widths::CoreWidths;
use super::module::{Dir, ModuleBuilder, ModuleSpec};

/// Events that what computes counts, in the order of `pad_index`; those of each row follow.
pub const PAD_EVENTS: [&str; 8] = [
    "flits_accepted",
    "k_passes",
    "v_passes",
    "ones_passes",
    "flit_waits_or_passes",
    "starved",
    "weights_awaited",
    "reading_results",
];

pub(super) fn reorder_fifo() -> ModuleSpec {
    ModuleBuilder::new(Block::Mare, "meshkv_reorder_fifo",
        &[
            "FIFO of any depth between two clocks, whose words may be written in any order.",
            "",
            "Places are given out in order, before anything is asked for; each is written when its word comes, and",
            "the reader is shown as many as have come without a gap. What is written has its place: it cannot overflow.",
        ],
    )
    .param("WIDTH", 64, "Width of a word in bits.")
    .param("DEPTH", 48, "Words, any number from 2; one more waits in the output register.")
    .param("PTR_WIDTH", 6, "Width of a place in bits, as small as can be.")
    .param("GRAY_WIDTH", 7, "PTR_WIDTH + 1.")
    .param("ROOM_WIDTH", 6, "Width of a number of places in bits, as small as can be.")
    .clocked()
    .group("Places in a row are given out.")
    .input("reserve_valid", 1, "")
    .input("reserve_count", "ROOM_WIDTH", "How many, no more than there is room.")
    .output("room", "ROOM_WIDTH", "Places that are free.")
    .output("place", "PTR_WIDTH", "The first that is given next.")
    .input("hold", 1, "What comes is not shown yet.")
    .group("A word comes.")
    .input("put_valid", 1, "")
    .input("put_place", "PTR_WIDTH", "Its place.")
    .input("put_data", "WIDTH", "")
    .group("To the reader, in its clock.")
    .input("m_clk", 1, "")
    .input("m_rst", 1, "")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_data", "WIDTH", "Word out, of a register.")
    .instances(&["meshkv_async_pointer", "meshkv_synchronizer"])
    .build()
}

pub(super) fn pad(w: &CoreWidths, tile: &ModuleSpec, row: &ModuleSpec, former: &ModuleSpec) -> ModuleSpec {
    let mut b = ModuleBuilder::new(Block::Pad, "meshkv_pad",
        &[
            "PaD: what a tile computes of the slices that it fetches.",
            "",
            "Flits leave the FIFO in the order in which they were asked for, K before V. Each passes a systolic array once",
            "for as many contexts (query heads of streams) as it has rows. Of K come weights, block by block of as",
            "many tokens as a flit has elements; they weight V. Queries, jobs and results cross between the clocks.",
        ],
    )
    .pad_params(w)
    .params_of(
        &[row, former],
        &["HEAD_DIM", "LANES", "PAD_SLOTS", "PAD_SLOT_WIDTH", "WORD_WIDTH", "LANE_WIDTH", "DIM_WIDTH", "ID_WIDTH", "MARGIN"],
    )
    .clocked()
    .compute_clocked()
    .coordinates()
    .query("vector", Dir::Input, PLACE, "");
    b = reversed(b, tile, &["job_", "kv_", "part_"], "");
    if !w.control.tile.overlap {
        b = b.output("compute_idle", 1, "There is nothing to do.");
    }
    b.group("For counters and diagnosis.")
        .output("pad_index", 5, "The counter that is shown.")
        .output("pad_data", 32, "Its total.")
        .output(
            "pad_state",
            5,
            "What stages do: {results are read, weights loaded, flits wait, V passes, K passes}.",
        )
        .instances(&[
            "meshkv_async_fifo",
            "meshkv_async_register",
            "meshkv_row",
            "meshkv_part_former",
            "meshkv_event_counters",
        ])
        .build()
}

pub(super) fn column_root(w: &CoreWidths, tile: &ModuleSpec, root: &ModuleSpec) -> ModuleSpec {
    let b = ModuleBuilder::new(
        Block::Reduce,
        super::ROOT,
        &["The reduce root of a column, beside the tile in row 0: merges partial results, gives outputs."],
    )
    .root_params(w)
    .params_of(
        &[root],
        &["ID_WIDTH", "DEPTH", "HEAD_DIM", "STREAMS", "PARTIALS", "PART_HEAD_WIDTH", "LAYER_WIDTH"],
    )
    .clocked();
    let mut b = reversed(b, tile, &["root_"], "");
    for name in
        ["out_valid", "out_ready", "out_stream", "out_layer", "out_head", "out_index", "out_last", "out_data"]
    {
        let port = root.ports.iter().find(|p| p.name == name).expect("a root has outputs");
        if name == "out_valid" {
            b = b.group("An output in FP16.");
        }
        let width = port.width.expr.replace("PART_HEAD_WIDTH", "HEAD_PLACE_WIDTH");
        b = b.port(port.dir, port.name.clone(), width.as_str(), port.doc);
    }
    b.group("A partial result begins to be merged.")
        .output("merge_valid", 1, "One pulse a packet.")
        .output("merge_stream", "STREAM_WIDTH", "")
        .output("merge_head", "HEAD_PLACE_WIDTH", "By its place in the column.")
        .output("merge_y", "Y_WIDTH", "Row of the tile that sent it.")
        .instances(&[root.name])
        .build()
}

/// Events that are counted on a design, in the order of `pad_index`.
pub fn pad_events(design: &crate::design::Design) -> Vec<String> {
    let rows = (0..design.config.pe.array_rows).map(|r| format!("row_{r}_passes"));
    PAD_EVENTS.iter().map(|e| (*e).to_owned()).chain(rows).collect()
}

/// Parameters of a part that mean something else in the fabric and keep their own values, as an instance is told.
pub(super) fn kept_params(fabric: &ModuleSpec, part: &ModuleSpec) -> String {
    let other = |p: &&super::ParamSpec| {
        fabric.params.iter().any(|f| f.name == p.name && f.literal != p.literal) || p.name == "SLOTS"
    };
    part.params.iter().filter(other).map(|p| format!("{}=;", p.name)).collect()
}

/// Wires of the core between the fabric and what computes, and those that only row 0 uses elsewhere.
pub(super) fn core_wires(fabric: &ModuleSpec, core: &ModuleSpec) -> (Vec<String>, String) {
    let inner = || fabric.ports.iter().filter(|p| !core.ports.iter().any(|c| c.name == p.name));
    let wire = |p: &super::PortSpec| {
        let range = if p.width.expr == "1" { String::new() } else { format!("[{}-1:0] ", p.width.expr) };
        format!("wire {range}{};", p.name)
    };
    let of_root = inner().filter(|p| p.name.starts_with("root_") && p.dir == Dir::Output);
    let part = |p: &super::PortSpec| {
        let width = p.width.expr.trim_start_matches("TILES*");
        match width {
            "TILES" => format!("{}[t]", p.name),
            _ => format!("{}[t*{width}+:{width}]", p.name),
        }
    };
    (inner().map(wire).collect(), of_root.map(part).collect::<Vec<_>>().join(", "))
}

/// Ports of a part as its partner has them.
pub(super) fn reversed(
    mut b: ModuleBuilder,
    part: &ModuleSpec,
    prefixes: &[&str],
    times: &str,
) -> ModuleBuilder {
    for prefix in prefixes {
        for port in part.ports.iter().filter(|p| p.name.starts_with(prefix)) {
            let dir = if port.dir == Dir::Input { Dir::Output } else { Dir::Input };
            if !port.group.is_empty() {
                b = b.group(port.group);
            }
            let width = format!("{times}{}", port.width.expr).replace("*1", "");
            b = b.port(dir, port.name.clone(), width.as_str(), port.doc);
        }
    }
    b
}

pub(super) fn core(w: &CoreWidths, fabric: &ModuleSpec, pad: &ModuleSpec, root: &ModuleSpec) -> ModuleSpec {
    let c = &w.control;
    let mut b = ModuleBuilder::new(Block::Fabric, super::CORE,
        &[
            "Attention of a decode step: the fabric that moves KV, PaD at every tile, a reduce root for each column.",
            "",
            "Queries and descriptors go in, outputs come out, external memory attaches to the AXI ports. What computes",
            "has a clock of its own, unrelated to the network's.",
        ],
    )
    .params_of(&[fabric], &[])
    .params_of(&[pad, root], &["SLOTS"])
    .clocked_by_tile()
    .compute_clocked_by_tile()
    .query("query", Dir::Input, HEAD, "")
    .descriptor()
    .output("idle", 1, "All descriptors have been worked off.");
    if c.swaps() {
        b = b.swap_report();
    }
    b = b.ports_of(root, &["out_", "merge_"], "COLS*");
    b.ports_of(fabric, &["m_axi_", "error_"], "")
        .ports_of(fabric, &["vc_busy", "stat_", "event_"], "")
        .output("pad_index", 5, "The counter that what computes shows.")
        .output("pad_data", "TILES*32", "")
        .output(
            "pad_state",
            "TILES*5",
            "What stages do: {results are read, weights loaded, flits wait, V passes, K passes}.",
        )
        .instances(&[fabric.name, pad.name, root.name])
        .build()
}
