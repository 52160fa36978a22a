//! The registers and the queue of descriptors.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::device::params::DeviceParams;
use crate::emit::rtl::module::{mirrored_ports, Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::pad::params::PadParams;

pub(in crate::emit::rtl) fn control(w: &DeviceParams, c: &PadParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_control_registers",
        &[
            "Registers: an AXI4-Lite slave that always answers OKAY, within a bounded time.",
            "",
            "Offsets and fields come from the table that also yields the documentation and the C header. Other addresses",
            "read as 0, and an access to one sets a bit of ERROR.",
        ],
    )
    .control(&c.control, &["TILES"])
    .front(w, &["ADDRESS_BITS", "EPOCH_BITS", "ARG_WORD_BITS", "NUM_ARGUMENTS", "LINK_COUNTERS", "EVENT_COUNTERS", "PAD_COUNTERS"])
    .clocked()
    .axi_lite()
    .output("interrupt", 1, "Level, until cleared.")
    .wishes(Dir::Output)
    .shown(Dir::Input)
    .failing(Dir::Input)
    .voided(Dir::Input)
    .words(Dir::Input)
    .set(Dir::Output)
    .selected(Dir::Output)
    .group("Status of the core and of the memories.")
    .input("core_idle", 1, "")
    .input("core_rst", 1, "")
    .input("writing", 1, "")
    .build()
}

pub(in crate::emit::rtl) fn descriptor_queue(
    w: &DeviceParams,
    c: &PadParams,
    core: &ModuleSpec,
) -> ModuleSpec {
    let b = ModuleBuilder::new(
        Block::Device,
        "meshkv_descriptor_queue",
        &[
            "Checks descriptors and queues them for their run, so that the core only receives legal ones.",
            "",
            "A run takes all descriptors queued at its start. They are of one layer, and every stream that",
            "attends is closed exactly once. So a run is over when all outputs of its streams are written.",
        ],
    )
    .control(
        &c.control,
        &[
            "STREAM_WIDTH",
            "STREAMS_WIDTH",
            "LAYER_WIDTH",
            "SEGMENT_WIDTH",
            "COUNT_WIDTH",
            "ROW_WIDTH",
            "TOKENS",
        ],
    )
    .front(w, &["STREAMS_NUM", "NUM_LAYERS", "NUM_SEGMENTS"])
    .param("QUEUE", w.queue, "Descriptors that wait.")
    .clocked()
    .input("flush", 1, "All are dropped, and pushes are refused.")
    .set(Dir::Input)
    .group("The run.")
    .input("begin_run", 1, "One pulse: the run takes all queued descriptors.")
    .input("desc_send", 1, "The run requests descriptors.")
    .output("queue_busy", 1, "A descriptor is being checked.")
    .output("queue_some", 1, "The next run has descriptors.")
    .output("queue_open", "STREAMS_WIDTH", "Streams of the next run that attend and are not closed.")
    .output("queue_due", "STREAMS_WIDTH", "Streams that the next run closes.")
    .output(
        "queue_most",
        "STREAMS_WIDTH",
        "One above the highest stream of the next run that attends; 0 if none does.",
    )
    .output("queue_left", 1, "The run has descriptors left to send.");
    mirrored_ports(b, core, &["desc_", "partials"], "").instances(&["meshkv_fifo"]).build()
}
