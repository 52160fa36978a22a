//! Reads and writes of memory, with guards and register slices.

use crate::design::registers::ARGUMENTS_BEFORE_PORTS;
use crate::design::Append;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::device::bundles::STALE;
use crate::emit::rtl::device::params::DeviceParams;
use crate::emit::rtl::module::{mirrored_ports, Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::pad::params::PadParams;
use crate::emit::rtl::takv::bundles::HEAD;

/// Base addresses of all memory ports, where a tile reads and writes the memory of others.
pub(in crate::emit::rtl) fn base_table(w: &DeviceParams, c: &PadParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Device,
        "meshkv_base_table",
        &["Table of the base addresses of all memory ports, looked up by the part of memory that an address is in."],
    )
    .control(&c.control, &["PORTS"])
    .front(w, &["ARG_BITS"])
    .param("ALIGN_LOG", 12, "Low bits of a base address that are 0.")
    .param("FIRST_ARGUMENT", ARGUMENTS_BEFORE_PORTS, "Number of the first port's argument.")
    .param("PART_WIDTH", 1, "Width of the number of a part in bits.")
    .input("clk", 1, "")
    .bases(Dir::Input)
    .group("Look-up, in the same cycle.")
    .input("part", "PART_WIDTH", "Number of the part: that of its port.")
    .output("base", 64, "Its base address.")
    .build()
}

pub(in crate::emit::rtl) fn read_guard(w: &DeviceParams, c: &PadParams) -> ModuleSpec {
    let mut b = ModuleBuilder::new(
        Block::Device,
        "meshkv_read_guard",
        &[
            "Guard of a memory port's reads: adds the base address and separates resets.",
            "",
            "An offered address is held until taken, even if the requester is reset. Bursts carry the",
            "number of the last reset in their IDs; answers to earlier ones are dropped.",
        ],
    )
    .param("ID_WIDTH", w.core_id(), "Width of the requester's ID.")
    .param(
        "ADDR_WIDTH",
        if c.control.swaps() { w.part_lsb + w.part_width } else { 32 },
        "Width of its addresses in bits.",
    )
    .front(w, &["FLIT_WIDTH", "FLIT_LOG", "EPOCH_BITS", "ARG_BITS"])
    .param("HOST_ID_WIDTH", w.host_id, "EPOCH_BITS + ID_WIDTH.")
    .param("ALIGN_LOG", 12, "Low bits of the base address that are 0.")
    .param("SECOND", 0, "1: there is a second base address.")
    .param("BURSTS", 1 << w.core_id(), "Bursts of an epoch at most that memory owes.");
    if c.control.swaps() {
        b = parts_of(b, w).control(&c.control, &["PORTS"]).instances(&["meshkv_base_table"]);
    }
    b.clocked()
        .own_number()
        .input("second", "ARG_BITS", "Number of the second base argument, tied to a constant.")
        .bases(Dir::Input)
        .input("epoch", "EPOCH_BITS", "Number of the last reset.")
        .input("stale", 1, STALE)
        .output("owes", 1, "Answers of any epoch are outstanding.")
        .output("moves", 1, "One pulse a beat of this epoch.")
        .group("The requester; addresses relative to the base.")
        .asked("s_")
        .input("s_second", 1, "The address is relative to the second base.")
        .group("AXI4 read channels.")
        .axi_read("m_", "HOST_ID_WIDTH")
        .build()
}

/// Adds the bits of an address that name the part of memory, where that of any port may be meant.
fn parts_of(b: ModuleBuilder, w: &DeviceParams) -> ModuleBuilder {
    b.param("FIRST_ARGUMENT", ARGUMENTS_BEFORE_PORTS, "Number of the first port's argument.")
        .param("PART_LSB", w.part_lsb, "Lowest bit of an address that names the part of memory.")
        .param("PART_WIDTH", w.part_width, "Bits that do; 0: all addresses are in that of the own argument.")
}

pub(in crate::emit::rtl) fn read_credits() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Device,
        "meshkv_read_credits",
        &["Limits outstanding read addresses to the free places at the receiver."],
    )
    .param("CREDITS", 4, "Places.")
    .clocked()
    .input("valid", 1, "An address is pending.")
    .output("ready", 1, "It may leave.")
    .output("send", 1, "It does.")
    .input("taken", 1, "A place is freed.")
    .build()
}

pub(in crate::emit::rtl) fn read_slices(w: &DeviceParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_read_slices",
        &[
            "Register slices from a memory port to its guard, which is placed at the memory: two registers at",
            "each boundary between SLRs, in both directions.",
            "",
            "Addresses use credits, because a ready would return too late; beats are always taken. A reset lasts",
            "longer than the pipeline, so its content may be lost. This is not AXI: the guard is the AXI master.",
        ],
    )
    .param("ID_WIDTH", w.core_id(), "Width of the requester's ID.")
    .param("ADDR_WIDTH", 32, "Width of its addresses in bits.")
    .param("LOW_BITS", 0, "Their low bits that are 0, and cross no boundary.")
    .param("LEN_BITS", 8, "Width of a burst's beats less one, in bits.")
    .front(w, &["FLIT_WIDTH"])
    .param("CREDITS", 4, "Addresses that wait at the guard.")
    .param("BOUNDARIES", 1, "Boundaries crossed; with 0 the module is wires.")
    .clocked()
    .input("s_rst", 1, "The same reset at the memory port.")
    .group("Memory port.")
    .asked("s_")
    .group("Guard.")
    .asking("m_")
    .instances(&["meshkv_read_credits", "meshkv_crossing_chain", "meshkv_fifo"])
    .build()
}

pub(in crate::emit::rtl) fn query_reader(w: &DeviceParams, c: &PadParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_query_reader",
        &[
            "Reads queries from memory and hands them to the core, a group of words at a time.",
            "",
            "Queries are consecutive: stream by stream, head by head. Every requested beat has a reserved place, so",
            "data is always taken.",
        ],
    )
    .control(&c.control, &["FLIT_WIDTH", "STREAM_WIDTH", "STREAMS_WIDTH", "HEAD_ID_WIDTH", "QUERY_GROUP", "QUERY_GROUP_WIDTH", "HEAD_DIM", "TIMEOUT_WIDTH"])
    .front(w, &["STREAMS_NUM", "QUERY_HEADS", "IO_ADDR_WIDTH"])
    .clocked()
    .input("flush", 1, "Pending work is dropped.")
    .input("query_go", 1, "One pulse: start.")
    .input("streams", "STREAMS_WIDTH", "Number of streams to read.")
    .output("query_begun", 1, "One pulse: the core has them all, or knows that they come.")
    .output("query_bad", 1, "One pulse: memory returned an error.")
    .output("query_late", 1, "Memory does not answer.")
    .output("query_moves", 1, "One pulse: progress.")
    .query_groups(Dir::Output, HEAD)
    .more_queries(Dir::Output)
    .group("Bursts, relative to the base.")
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

pub(in crate::emit::rtl) fn output_writer(w: &DeviceParams, c: &PadParams, core: &ModuleSpec) -> ModuleSpec {
    let b = ModuleBuilder::new(Block::Device, "meshkv_output_writer",
        &[
            "Takes outputs from the column roots, one column after the other, and writes them to memory.",
            "",
            "The output of (stream, head) is at (stream * QUERY_HEADS + head) * HEAD_DIM * 2. Of a partial result, o is in a",
            "row of twice that step from SUMS_AT on, and l and m in a flit from STATES_AT on. A burst starts when complete",
            "and always ends, also after an aborted run; bursts not started by then are dropped.",
        ],
    )
    .control(&c.control, &["COLS", "FLIT_WIDTH", "STREAM_WIDTH", "LAYER_WIDTH", "HEAD_ID_WIDTH", "HEAD_PLACE_WIDTH", "HEAD_DIM", "FLIT_LOG", "TIMEOUT_WIDTH"])
    .front(w, &["QUERY_HEADS", "EPOCH_BITS", "ARG_BITS", "FLIT_BYTES_NUM"])
    .params_of(&[core], &[])
    .only(&["COLS", "FLIT_WIDTH", "STREAM_WIDTH", "LAYER_WIDTH", "HEAD_ID_WIDTH", "HEAD_PLACE_WIDTH", "HEAD_DIM",
        "FLIT_LOG", "TIMEOUT_WIDTH", "QUERY_HEADS", "EPOCH_BITS", "ARG_BITS", "FLIT_BYTES_NUM", "OUT_INDEX_WIDTH"])
    .param("ID_WIDTH", w.core_id(), "Width of an ID below the epoch.")
    .param("HOST_ID_WIDTH", w.host_id, "EPOCH_BITS + ID_WIDTH.")
    .front(w, &["SUMS_AT", "STATES_AT"])
    .clocked()
    .own_number()
    .bases(Dir::Input)
    .input("epoch", "EPOCH_BITS", "Number of the last reset.")
    .input("stale", 1, STALE)
    .input("flush", 1, "Pending work is dropped.")
    .group("Status.")
    .output("written", 1, "One pulse a stream whose heads have all been written.")
    .output("write_bad", 1, "One pulse: memory returned an error.")
    .output("write_late", 1, "Memory does not answer.")
    .output("write_moves", 1, "One pulse: progress.")
    .output("write_owes", 1, "Answers of any epoch are outstanding.")
    .output("writing", 1, "A burst is being written.")
    .voided(Dir::Output);
    mirrored_ports(b, core, &["out_"], "")
        .group("AXI4 write channels.")
        .axi_write("m_", "HOST_ID_WIDTH", "Epoch, and 1 for a partial result, 0 for an output.")
        .instances(&["meshkv_fifo"])
        .build()
}

pub(in crate::emit::rtl) fn token_reader(w: &DeviceParams, c: &PadParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Device, "meshkv_token_reader",
        &[
            "Reads new tokens from behind the queries and hands them to the core, a group of words at a time.",
            "",
            "Tokens are consecutive: stream by stream, KV head by KV head, K before V. They are read beside the queries,",
            "while the run's first descriptors are under way.",
        ],
    )
    .control(&c.control, &["FLIT_WIDTH", "STREAMS_WIDTH", "QUERY_GROUP", "TOKEN_GROUPS", "TOKEN_GROUP_WIDTH", "TIMEOUT_WIDTH"])
    .front(w, &["STREAMS_NUM", "IO_ADDR_WIDTH", "FLIT_BYTES_NUM", "TOKENS_AT"])
    .clocked()
    .input("flush", 1, "Pending work is dropped.")
    .group("The run.")
    .input("begin_run", 1, "One pulse: the number of streams is sampled, and reading starts.")
    .input("streams", "STREAMS_WIDTH", "Number of streams to read.")
    .output("token_busy", 1, "Tokens are being read.")
    .output("token_bad", 1, "One pulse: memory returned an error.")
    .output("token_late", 1, "Memory does not answer.")
    .output("token_moves", 1, "One pulse: progress.")
    .new_tokens(Dir::Output)
    .more_tokens(Dir::Output)
    .group("Bursts, relative to the base.")
    .output("token_ask_valid", 1, "")
    .input("ask_ready", 1, "")
    .output("token_ask_addr", "IO_ADDR_WIDTH", "Bytes.")
    .output("token_ask_len", 8, "Beats less one.")
    .input("beat_valid", 1, "A beat; it is always taken.")
    .input("beat_data", "FLIT_WIDTH", "")
    .input("beat_resp", 2, "")
    .instances(&["meshkv_fifo"])
    .build()
}

pub(in crate::emit::rtl) fn token_writer(w: &DeviceParams, c: &PadParams, append: &Append) -> ModuleSpec {
    let mut b = ModuleBuilder::new(Block::Device, "meshkv_token_writer",
        &[
            "Writes new tokens of a memory port into external memory: K as whole rows, V into its lane of every flit.",
            "",
            "A burst begins when all its words are here, so that memory never waits for the fabric within it.",
            "A burst that has begun always ends, after an aborted run without another enabled byte. K is at row * HEAD_DIM * 2",
            "of its slice, and element d of V in flit HALF_FLITS + (row / lanes) * HEAD_DIM + d, lane row modulo lanes.",
        ],
    )
    .control(&c.control, &["FLIT_WIDTH", "FLIT_LOG", "HEAD_DIM", "HALF_FLITS", "SLICE_BYTES", "LOCAL_WIDTH", "REGION_WIDTH", "VALUE_BURST", "AXI_ADDR_WIDTH", "TIMEOUT_WIDTH"])
    .front(w, &["EPOCH_BITS", "ARG_BITS", "FLIT_BYTES_NUM"])
    .param("ID_WIDTH", w.core_id(), "Width of an ID below the epoch.")
    .param("HOST_ID_WIDTH", w.host_id, "EPOCH_BITS + ID_WIDTH.")
    .param("ALIGN_LOG", 12, "Low bits of the base address that are 0.")
    .param("DEPTH", append.write_depth, "Words that can wait, at least those of a burst.");
    if c.control.swaps() {
        b = parts_of(b, w).control(&c.control, &["PORTS"]).instances(&["meshkv_base_table"]);
    }
    b.clocked()
        .own_number()
        .bases(Dir::Input)
        .input("epoch", "EPOCH_BITS", "Number of the last reset.")
        .input("stale", 1, STALE)
        .input("flush", 1, "Pending work is dropped.")
        .group("Status.")
        .input("run_busy", 1, "A run is under way: memory is expected to answer.")
        .output("append_bad", 1, "Memory has returned an error, until the run is cut off.")
        .output("append_late", 1, "It has not taken or answered a write, until the run is cut off.")
        .output("append_busy", 1, "Words are here or on their way, or answers of this epoch are outstanding.")
        .output("append_owes", 1, "Answers of any epoch are outstanding.")
        .output("append_moves", 1, "One pulse: progress.")
        .written_words()
        .group("AXI4 write channels.")
        .axi_write("m_", "HOST_ID_WIDTH", "Epoch, and 0.")
        .instances(&["meshkv_fifo"])
        .build()
}
