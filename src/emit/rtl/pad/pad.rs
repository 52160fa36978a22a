//! The module of PaD.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{mirrored_ports, Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::pad::params::PadParams;
use crate::emit::rtl::takv::bundles::PLACE;

pub(in crate::emit::rtl) fn pad(
    w: &PadParams,
    tile: &ModuleSpec,
    array: &ModuleSpec,
    former: &ModuleSpec,
) -> ModuleSpec {
    let mut b = ModuleBuilder::new(Block::Pad, "meshkv_pad",
        &[
            "PaD: computes attention of a tile's heads from the slices that the tile fetches.",
            "",
            "Flits arrive in order of request, K before V. Each passes a systolic array once for every group",
            "of as many contexts (query heads of streams) as the array has rows. K yields weights, in blocks of as",
            "many tokens as a flit has elements; the weights multiply V. Queries, jobs and results cross the clocks.",
        ],
    )
    .pad_params(w)
    .params_of(
        &[array, former],
        &["HEAD_DIM", "LANES", "PAD_SLOTS", "PAD_SLOT_WIDTH", "WORD_WIDTH", "LANE_WIDTH", "DIM_WIDTH", "ID_WIDTH", "MARGIN"],
    )
    .clocked()
    .compute_clocked()
    .coordinates()
    .query("vector", Dir::Input, PLACE, "");
    b = mirrored_ports(b, tile, &["job_", "kv_", "part_"], "");
    if !w.control.tile.overlap {
        b = b.output("compute_idle", 1, "PaD is idle.");
    }
    b.group("For counters and diagnosis.")
        .output("pad_index", 5, "Index of the current total.")
        .output("pad_data", 32, "Its total.")
        .output(
            "pad_state",
            5,
            "State of the stages: {results are read, weights loaded, flits wait, V passes, K passes}.",
        )
        .instances(&[
            "meshkv_async_fifo",
            "meshkv_delay",
            "meshkv_async_register",
            "meshkv_job_contexts",
            "meshkv_weight_loader",
            "meshkv_odd_contexts",
            "meshkv_pad_array",
            "meshkv_part_former",
            "meshkv_event_counters",
        ])
        .build()
}
