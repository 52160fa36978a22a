//! A run from its start to its end.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::device::bundles::STALE;
use crate::emit::rtl::device::params::DeviceParams;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::pad::params::PadParams;

pub(in crate::emit::rtl) fn run(w: &DeviceParams, c: &PadParams) -> ModuleSpec {
    let b = ModuleBuilder::new(Block::Device, "meshkv_run_control",
        &[
            "Control of a run from its start to its end, with all causes of failure.",
            "",
            "Sequence: arguments, list, queries, descriptors, outputs. An error aborts the run: the core is reset, memory gets",
            "time to answer outstanding requests, and the run is over. Every state is left after a bounded time.",
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
    .input("core_idle", 1, "Its controllers have finished all descriptors.")
    .input("error_memory", "TILES", "A tile's memory returned an error.")
    .input("error_timeout", "TILES", "A tile's memory did not answer.")
    .output("core_request", 1, "Requests its reset.")
    .input("held", 1, "It is.")
    .input("released", 1, "Its reset is released.")
    .input("pe_down", 1, "PaD's clock was reset on its own.")
    .group("The other parts.")
    .output("flush", 1, "Work in progress is dropped.")
    .output("stale", 1, STALE)
    .output("query_go", 1, "One pulse: queries are read.")
    .input("query_begun", 1, "The core has them all, or knows that they come.")
    .input("more_queries", 1, "They come.")
    .input("query_bad", 1, "Their memory returned an error.")
    .input("query_late", 1, "Their memory does not answer.")
    .input("query_moves", 1, "Progress.")
    .output("list_go", 1, "One pulse: the list is read.")
    .input("list_done", 1, "It has been pushed, or one of it was refused.")
    .input("list_bad", 1, "One was refused.")
    .input("list_index", 16, "Its number.")
    .input("list_fault", 1, "Its memory returned an error.")
    .input("list_late", 1, "Its memory does not answer.")
    .input("list_moves", 1, "Progress.")
    .output("drops", 1, "One pulse: a run with a list is refused; what waits is dropped.")
    .input("written", 1, "The outputs of a stream have been written.")
    .input("write_bad", 1, "Their memory returned an error.")
    .input("write_late", 1, "Their memory does not answer.")
    .input("write_moves", 1, "Progress.")
    .input("io_owes", 1, "Memory of queries and outputs owes answers.")
    .input("owes", "PORTS", "External memory owes answers.")
    .input("moves", "PORTS", "A beat of it arrived.")
    .output("begin_run", 1, "One pulse: the run takes its descriptors.")
    .output("desc_send", 1, "Descriptors are requested.")
    .input("desc_taken", 1, "The core has taken one.")
    .input("queue_busy", 1, "A descriptor is being checked.")
    .input("queue_some", 1, "There are descriptors.")
    .input("queue_open", "STREAMS_WIDTH", "Streams that attend and are not closed.")
    .input("queue_due", "STREAMS_WIDTH", "Streams that are closed.")
    .input("queue_most", "STREAMS_WIDTH", "One above the highest stream that attends.")
    .input("queue_left", 1, "Not all have been sent.");
    match c.control.append {
        None => b.build(),
        Some(_) => b
            .input("queue_tokens", "STREAMS_WIDTH", "One above the highest cache that appends.")
            .group("New tokens.")
            .input("token_bad", 1, "Memory of new tokens returned an error.")
            .input("token_late", 1, "It does not answer.")
            .input("token_moves", 1, "Progress.")
            .input("append_bad", "PORTS", "External memory returned an error to a write.")
            .input("append_late", "PORTS", "It did not take or answer one.")
            .input("append_busy", 1, "Some are not read, or not written and answered.")
            .build(),
    }
}
