//! The registers, the queue of descriptors, and the list of descriptors in memory.

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
    .input("queue_free", 16, "Free places for descriptors.")
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
    .input("drops", 1, "One pulse: those that wait are dropped.")
    .put(Dir::Input)
    .group("The run.")
    .output("queue_free", 16, "Free places for descriptors.")
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
    let b = match c.control.append {
        None => b,
        Some(_) => b.output(
            "queue_tokens",
            "STREAMS_WIDTH",
            "One above the highest cache of the next run that appends; 0 if none does.",
        ),
    };
    mirrored_ports(b, core, &["desc_", "partials"], "").instances(&["meshkv_fifo"]).build()
}

pub(in crate::emit::rtl) fn list_reader(w: &DeviceParams, c: &PadParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Device,
        "meshkv_list_reader",
        &[
            "Reads the list of descriptors from memory and pushes them as a host would.",
            "",
            "Descriptors of the registers pass through it to the queue, between two of the list if need be. The",
            "list ends at its first descriptor that is refused.",
        ],
    )
    .control(&c.control, &["FLIT_WIDTH", "TIMEOUT_WIDTH"])
    .front(w, &["IO_ADDR_WIDTH", "FLIT_BYTES_NUM"])
    .param("QUEUE", w.queue, "Descriptors that wait.")
    .clocked()
    .input("flush", 1, "Pending work is dropped.")
    .group("The run.")
    .input("list_go", 1, "One pulse: start.")
    .input("list_count", 32, "Descriptors to read, at least 1.")
    .output("list_done", 1, "One pulse: all have been pushed, or one was refused.")
    .output("list_bad", 1, "One was refused, until the next start.")
    .output("list_index", 16, "Its number.")
    .output("list_fault", 1, "One pulse: memory returned an error.")
    .output("list_late", 1, "Memory does not answer.")
    .output("list_moves", 1, "One pulse: progress.")
    .input("drops", 1, "One pulse: the run is refused; the cause of a descriptor is reported.")
    .set(Dir::Input)
    .put(Dir::Output)
    .output("put_busy", 1, "A descriptor waits or is being checked.")
    .group("Bursts, relative to the base.")
    .output("list_ask_valid", 1, "")
    .input("ask_ready", 1, "")
    .output("list_ask_addr", "IO_ADDR_WIDTH", "Bytes.")
    .output("list_ask_len", 8, "Beats less one.")
    .input("beat_valid", 1, "A beat; it is always taken.")
    .input("beat_data", "FLIT_WIDTH", "")
    .input("beat_resp", 2, "")
    .instances(&["meshkv_fifo"])
    .build()
}
