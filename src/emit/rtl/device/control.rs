//! The registers, and the queue of descriptors.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::device::params::DeviceParams;
use crate::emit::rtl::module::{mirrored_ports, Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::pad::params::PadParams;

pub(in crate::emit::rtl) fn control(w: &DeviceParams, c: &PadParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_control",
        &[
            "Registers: an AXI4-Lite slave that always answers OKAY, and after a bounded time.",
            "",
            "Offsets and fields are those of the table that also makes the documentation and the C header. What is not",
            "there reads as 0 and sets a bit of ERROR.",
        ],
    )
    .control(&c.control, &["TILES"])
    .front(w, &["ADDRESS_BITS", "EPOCH_BITS", "ARG_WORD_BITS", "NUM_ARGUMENTS", "LINK_COUNTERS", "EVENT_COUNTERS", "PAD_COUNTERS"])
    .clocked()
    .axi_lite()
    .output("interrupt", 1, "Level, until it is taken back.")
    .wishes(Dir::Output)
    .shown(Dir::Input)
    .failing(Dir::Input)
    .words(Dir::Input)
    .set(Dir::Output)
    .selected(Dir::Output)
    .group("The core, and what else is shown.")
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
    let b = ModuleBuilder::new(Block::Device, "meshkv_descriptor_queue",
        &[
            "Checks descriptors before they wait for their run, so that the core only ever sees legal ones.",
            "",
            "A run takes all that are there when it begins. All of a run are of one layer, and every stream that",
            "attends is closed exactly once, so that a run is over when the outputs of its streams are.",
        ],
    )
    .control(&c.control, &["STREAM_WIDTH", "STREAMS_WIDTH", "LAYER_WIDTH", "SEGMENT_WIDTH", "COUNT_WIDTH", "ROW_WIDTH", "TOKENS"])
    .front(w, &["STREAMS_NUM", "NUM_LAYERS", "NUM_SEGMENTS"])
    .param("QUEUE", w.queue, "Descriptors that wait.")
    .clocked()
    .input("flush", 1, "All are dropped, and what is pushed is refused.")
    .set(Dir::Input)
    .group("The run.")
    .input("begin_run", 1, "One pulse: it takes those that are here.")
    .input("desc_send", 1, "They are wanted.")
    .output("queue_busy", 1, "A descriptor is being checked.")
    .output("queue_some", 1, "There are descriptors for the next run.")
    .output("queue_open", "STREAMS_WIDTH", "Streams that attend in the next run and are not closed.")
    .output("queue_due", "STREAMS_WIDTH", "Streams that it closes.")
    .output("queue_left", 1, "The run has not sent all of its own.");
    mirrored_ports(b, core, &["desc_"], "").instances(&["meshkv_fifo"]).build()
}
