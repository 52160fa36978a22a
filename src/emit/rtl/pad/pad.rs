//! PaD as a whole.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{mirrored_ports, Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::pad::params::PadParams;
use crate::emit::rtl::takv::bundles::PLACE;

pub(in crate::emit::rtl) fn pad(
    w: &PadParams,
    tile: &ModuleSpec,
    row: &ModuleSpec,
    former: &ModuleSpec,
) -> ModuleSpec {
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
    b = mirrored_ports(b, tile, &["job_", "kv_", "part_"], "");
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
