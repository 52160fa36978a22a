//! The parts of the front: what stands between the core and a host with its memories. Their bodies are
//! templates; `docs/device.md` has the reasons.

use super::block::Block;
use super::control_parts::HEAD;
use super::core_widths::CoreWidths;
use super::front_widths::FrontWidths;
use super::module::{Dir, ModuleBuilder, ModuleSpec};

/// Of the port that says so.
const STALE: &str = "Memory owes answers of an earlier use of the epoch: none is taken.";

pub(super) fn reset_stage() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Device,
        "meshkv_reset_stage",
        &["One register on the way of a reset, which comes up set."],
    )
    .input("clk", 1, "")
    .input("d", 1, "The reset, active high.")
    .output("q", 1, "A cycle later.")
    .build()
}

pub(super) fn reset_row(core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_reset_row",
        &[
            "The way of a reset to a row of tiles, which may stand in another SLR.",
            "",
            "It waits in SLR0 first, so that all rows have ways of one length; then there is a register on either side of each",
            "boundary, and one for each tile, which drives no more than what stands with it.",
        ],
    )
    .params_of(&[core], &[])
    .only(&["COLS"])
    .param("WAIT", 1, "Registers before the first boundary.")
    .param("BOUNDARIES", 1, "Boundaries on the way; there may be none.")
    .input("clk", 1, "")
    .input("d", 1, "Where it is made.")
    .output("q", "COLS", "At the tiles, WAIT + 2 * BOUNDARIES + 1 cycles later.")
    .instances(&["meshkv_reset_stage"])
    .build()
}

pub(super) fn reset(w: &FrontWidths, core: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_reset",
        &[
            "Reset of the core in both of its clocks, held together for eight cycles of either.",
            "",
            "It is asked for and given back by levels that cross to the other clock and back, so neither clock need",
            "be the faster. If the other clock stands still nothing is answered; who asks must not wait for ever.",
        ],
    )
    .seen_by_rows(w, core)
    .clocked()
    .input("request", 1, "The core is to be in reset.")
    .output("core_rst", "TILES", "To the core, in this clock, tile t's the t-th.")
    .output("held", 1, "Both have been held for long enough.")
    .output("released", 1, "Neither is held any more.")
    .output("pe_down", 1, "What computes was reset by itself, without request.")
    .group("Clock of what computes.")
    .input("pe_clk", 1, "")
    .input("pe_rst_n", 1, "Its own reset, active low, synchronous to it.")
    .output("pe_rst", "TILES", "To the core, in that clock.")
    .instances(&["meshkv_synchronizer", "meshkv_reset_row"])
    .build()
}

pub(super) fn read_guard(w: &FrontWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_read_guard",
        &[
            "What every read of memory passes: it adds a base address and keeps resets apart.",
            "",
            "An address that is offered stands until it is taken, whatever becomes of who asked. Bursts carry the",
            "number of the last reset in their IDs; answers to those of before are dropped.",
        ],
    )
    .param("ID_WIDTH", w.core_id(), "Width of an ID of who asks.")
    .param("ADDR_WIDTH", 32, "Width of its addresses in bits.")
    .front(w, &["FLIT_WIDTH", "FLIT_LOG", "EPOCH_BITS", "ARG_BITS"])
    .param("HOST_ID_WIDTH", w.host_id, "EPOCH_BITS + ID_WIDTH.")
    .param("ALIGN_LOG", 12, "Bits of the base address that are 0.")
    .clocked()
    .own_number()
    .bases(Dir::Input)
    .input("epoch", "EPOCH_BITS", "Number of the last reset.")
    .input("stale", 1, STALE)
    .output("owes", 1, "Not everything is answered, of whatever epoch.")
    .output("moves", 1, "One pulse a beat that counts.")
    .group("Who asks; addresses from the base on.")
    .asked("s_")
    .group("AXI4 read channels.")
    .axi_read("m_", "HOST_ID_WIDTH")
    .build()
}

pub(super) fn read_credits() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Device,
        "meshkv_read_credits",
        &["Lets as many addresses leave as have a place where they go."],
    )
    .param("CREDITS", 4, "Places.")
    .clocked()
    .input("valid", 1, "There is an address.")
    .output("ready", 1, "It may leave.")
    .output("send", 1, "It does.")
    .input("taken", 1, "A place is free again.")
    .build()
}

pub(super) fn read_slices(w: &FrontWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_read_slices",
        &[
            "Register slices of a memory port on its way to the guard, which stands beside the memory: two registers at",
            "each boundary between SLRs, in both directions.",
            "",
            "Addresses go by credits, since their ready could not come back in time; beats are always taken. A reset lasts",
            "longer than the way, on which all is dropped: it is not AXI here, the guard is what faces AXI.",
        ],
    )
    .param("ID_WIDTH", w.core_id(), "Width of an ID of who asks.")
    .param("ADDR_WIDTH", 32, "Width of its addresses in bits.")
    .front(w, &["FLIT_WIDTH"])
    .param("CREDITS", 4, "Addresses that wait at the guard.")
    .param("BOUNDARIES", 1, "Boundaries on the way; without any it is wires.")
    .clocked()
    .input("s_rst", 1, "The same reset where the memory port stands.")
    .group("Memory port.")
    .asked("s_")
    .group("Guard.")
    .asking("m_")
    .instances(&["meshkv_read_credits", "meshkv_crossing_chain", "meshkv_fifo"])
    .build()
}

pub(super) fn query_reader(w: &FrontWidths, c: &CoreWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_query_reader",
        &[
            "Reads queries from memory and hands them to the core, four elements at a time.",
            "",
            "They lie in a row: stream by stream, head by head. Nothing is asked for that there is no room for, so",
            "what comes is always taken.",
        ],
    )
    .control(&c.control, &["FLIT_WIDTH", "STREAM_WIDTH", "STREAMS_WIDTH", "HEAD_ID_WIDTH", "QUERY_WORD_WIDTH", "HEAD_DIM", "TIMEOUT_WIDTH"])
    .front(w, &["STREAMS_NUM", "QUERY_HEADS", "IO_ADDR_WIDTH"])
    .clocked()
    .input("flush", 1, "Nothing is wanted any more.")
    .input("query_go", 1, "One pulse: begin.")
    .input("streams", "STREAMS_WIDTH", "Streams whose queries are read.")
    .output("query_done", 1, "One pulse: the core has them all.")
    .output("query_bad", 1, "One pulse: memory answered by an error.")
    .output("query_late", 1, "Memory does not answer.")
    .output("query_moves", 1, "One pulse: something came or went.")
    .query("query", Dir::Output, HEAD, "")
    .group("Bursts, from the base on.")
    .output("ask_valid", 1, "")
    .input("ask_ready", 1, "")
    .output("ask_addr", "IO_ADDR_WIDTH", "Bytes.")
    .output("ask_len", 8, "Beats less one.")
    .input("beat_valid", 1, "A beat; it is always taken.")
    .input("beat_data", "FLIT_WIDTH", "")
    .input("beat_resp", 2, "")
    .instances(&["meshkv_fifo"])
    .build()
}

pub(super) fn output_writer(w: &FrontWidths, c: &CoreWidths, core: &ModuleSpec) -> ModuleSpec {
    let b = ModuleBuilder::new(Block::Device, "meshkv_output_writer",
        &[
            "Takes outputs from the roots of the columns, one column after the other, and writes them to memory.",
            "",
            "Output of (stream, head) stands at (stream * QUERY_HEADS + head) * HEAD_DIM * 2. A burst begins when all of it is",
            "here and always ends, also after a run that was cut off; what has not begun by then is dropped.",
        ],
    )
    .control(&c.control, &["COLS", "FLIT_WIDTH", "STREAM_WIDTH", "LAYER_WIDTH", "HEAD_ID_WIDTH", "HEAD_PLACE_WIDTH", "HEAD_DIM", "FLIT_LOG", "TIMEOUT_WIDTH"])
    .front(w, &["QUERY_HEADS", "EPOCH_BITS", "ARG_BITS", "FLIT_BYTES_NUM"])
    .params_of(&[core], &[])
    .only(&["COLS", "FLIT_WIDTH", "STREAM_WIDTH", "LAYER_WIDTH", "HEAD_ID_WIDTH", "HEAD_PLACE_WIDTH", "HEAD_DIM",
        "FLIT_LOG", "TIMEOUT_WIDTH", "QUERY_HEADS", "EPOCH_BITS", "ARG_BITS", "FLIT_BYTES_NUM", "OUT_INDEX_WIDTH"])
    .param("ID_WIDTH", w.core_id(), "Width of an ID below the epoch.")
    .param("HOST_ID_WIDTH", w.host_id, "EPOCH_BITS + ID_WIDTH.")
    .clocked()
    .own_number()
    .bases(Dir::Input)
    .input("epoch", "EPOCH_BITS", "Number of the last reset.")
    .input("stale", 1, STALE)
    .input("flush", 1, "Nothing is wanted any more.")
    .group("What it does.")
    .output("written", 1, "One pulse a stream whose heads have all been written.")
    .output("write_bad", 1, "One pulse: memory answered by an error.")
    .output("write_late", 1, "Memory does not answer.")
    .output("write_moves", 1, "One pulse: something came or went.")
    .output("write_owes", 1, "Not everything is answered, of whatever epoch.")
    .output("writing", 1, "A burst is being written.");
    super::core_parts::reversed(b, core, &["out_"], "")
        .group("AXI4 write channels.")
        .axi_write("m_", "HOST_ID_WIDTH")
        .instances(&["meshkv_fifo"])
        .build()
}

pub(super) fn descriptor_queue(w: &FrontWidths, c: &CoreWidths, core: &ModuleSpec) -> ModuleSpec {
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
    super::core_parts::reversed(b, core, &["desc_"], "").instances(&["meshkv_fifo"]).build()
}

pub(super) fn run(w: &FrontWidths, c: &CoreWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_run",
        &[
            "A run from its start to its end, and all that ends it.",
            "",
            "Arguments, queries, descriptors, outputs. Whatever goes wrong cuts it off: the core is reset, memory has a",
            "while to answer what it was asked, and the run is over. Every state is left after a bounded time.",
        ],
    )
    .control(&c.control, &["TILES", "PORTS", "STREAMS_WIDTH", "TIMEOUT_WIDTH"])
    .front(w, &["STREAMS_NUM", "EPOCH_BITS", "ARG_BITS", "ARG_WORD_BITS", "NUM_ARGUMENTS", "BASE_LOG"])
    .clocked()
    .wishes(Dir::Input)
    .shown(Dir::Output)
    .failing(Dir::Output)
    .words(Dir::Output)
    .bases(Dir::Output)
    .group("The core.")
    .input("core_idle", 1, "Its controllers have worked off all descriptors.")
    .input("error_memory", "TILES", "A tile's memory answered by an error.")
    .input("error_timeout", "TILES", "A tile's memory did not answer.")
    .output("core_request", 1, "It is to be in reset.")
    .input("held", 1, "It is.")
    .input("released", 1, "It is not any more.")
    .input("pe_down", 1, "What computes was reset by itself.")
    .group("The other parts.")
    .output("flush", 1, "What is under way is not wanted any more.")
    .output("stale", 1, STALE)
    .output("query_go", 1, "One pulse: queries are to be read.")
    .input("query_done", 1, "The core has them all.")
    .input("query_bad", 1, "Their memory answered by an error.")
    .input("query_late", 1, "Their memory does not answer.")
    .input("query_moves", 1, "Something came or went.")
    .input("written", 1, "The outputs of a stream have been written.")
    .input("write_bad", 1, "Their memory answered by an error.")
    .input("write_late", 1, "Their memory does not answer.")
    .input("write_moves", 1, "Something came or went.")
    .input("io_owes", 1, "Memory of queries and outputs has not answered everything.")
    .input("owes", "PORTS", "Nor has external memory.")
    .input("moves", "PORTS", "A beat of it came.")
    .output("begin_run", 1, "One pulse: the run takes its descriptors.")
    .output("desc_send", 1, "Descriptors are wanted.")
    .input("desc_taken", 1, "The core has taken one.")
    .input("queue_busy", 1, "A descriptor is being checked.")
    .input("queue_some", 1, "There are descriptors.")
    .input("queue_open", "STREAMS_WIDTH", "Streams that attend and are not closed.")
    .input("queue_due", "STREAMS_WIDTH", "Streams that are closed.")
    .input("queue_left", 1, "Not all have been sent.")
    .build()
}

pub(super) fn control(w: &FrontWidths, c: &CoreWidths) -> ModuleSpec {
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
