//! The reduce root of a column, with the ports of the fabric.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{mirrored_ports, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::names::ROOT;
use crate::emit::rtl::reduce::params::ReduceParams;
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn column_root(
    w: &TakvParams,
    reduce: &ReduceParams,
    tile: &ModuleSpec,
    root: &ModuleSpec,
) -> ModuleSpec {
    let b = ModuleBuilder::new(
        Block::Reduce,
        ROOT,
        &["Reduce root of a column, at the tile of row 0: merges partial results and returns outputs."],
    )
    .root_params(w)
    .root_lanes("ROOT_LANES", reduce.lanes)
    .params_of(
        &[root],
        &[
            "ID_WIDTH",
            "DEPTH",
            "HEAD_DIM",
            "STREAMS",
            "OTHERS_WIDTH",
            "PART_HEAD_WIDTH",
            "LAYER_WIDTH",
            "LANES",
        ],
    )
    .clocked()
    .input(
        "partials",
        "STREAMS_NUM",
        "Streams whose heads return partial results; stable while they are decoded.",
    );
    let mut b = mirrored_ports(b, tile, &["root_"], "");
    for name in [
        "out_valid",
        "out_ready",
        "out_stream",
        "out_layer",
        "out_head",
        "out_index",
        "out_last",
        "out_saturated",
        "out_partial",
        "out_data",
    ] {
        let port = root.ports.iter().find(|p| p.name == name).expect("a root has outputs");
        if name == "out_valid" {
            b = b.group("An output in FP16, or a partial result in FP32.");
        }
        let width = port.width.expr.replace("PART_HEAD_WIDTH", "HEAD_PLACE_WIDTH");
        b = b.port(port.dir, port.name.clone(), width.as_str(), port.doc);
    }
    b.group("The merging of a partial result starts.")
        .output("merge_valid", 1, "One pulse a packet.")
        .output("merge_stream", "STREAM_WIDTH", "")
        .output("merge_head", "HEAD_PLACE_WIDTH", "Query head, by its place in the column.")
        .output("merge_y", "Y_WIDTH", "Row of the tile that sent it.")
        .sum_report()
        .instances(&[root.name])
        .build()
}
