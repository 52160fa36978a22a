//! Values of the front.

use crate::design::device::registers::{
    error, named, ADDRESS_BITS, ARGUMENTS_BEFORE_PORTS, BUFFER_ALIGN, DESC_QUEUE, EPOCH_BITS, ERRORS,
    LIST_SLOT_BYTES, SLOT_BITS,
};
use crate::design::{pad_events, Design};
use crate::emit::rtl::device::register_reads::{self, word};
use crate::emit::rtl::spec::memories::{row_memories, QUERY_PLACES};
use crate::emit::rtl::spec::values::Values;

/// Totals of a router's links.
const LINK_COUNTERS: u32 = 25;

/// Bits of an offset in the buffers of queries and outputs.
const IO_ADDR_WIDTH: u32 = 32;

/// Beats for which the reader of new tokens has places: it is not waited for at the beginning of a run. Those of the longest
/// burst.
const TOKEN_PLACES: u32 = 32;
const READER_BURST: u32 = 16;

/// Words of a register file before its arguments, and of each argument.
const WORDS_BEFORE_ARGUMENTS: u32 = 4;
const ARGUMENT_WORDS: u32 = 3;

/// Sets the values of the front.
pub(in crate::emit::rtl) fn set(values: &mut Values, design: &Design) {
    let (model, memory) = (&design.model, &design.memory);
    let arguments = design.arguments();
    let count = arguments.len() as u32;
    let part_width = memory.addr_width - memory.part_width();
    values.numbers(&[
        ("desc_queue", DESC_QUEUE),
        ("query_heads", model.heads),
        ("num_layers", model.layers),
        ("num_segments", design.placement.segments),
        ("num_arguments", count),
        ("first_argument", ARGUMENTS_BEFORE_PORTS),
        ("base_log", design.base_align().trailing_zeros()),
        ("buffer_log", BUFFER_ALIGN.trailing_zeros()),
        ("address_bits", ADDRESS_BITS),
        ("epoch_bits", EPOCH_BITS),
        ("host_id_width", design.axi_id_width()),
        ("bursts", 1 << (design.axi_id_width() - EPOCH_BITS)),
        ("io_addr_width", IO_ADDR_WIDTH),
        ("query_places", QUERY_PLACES),
        ("slot_bits", SLOT_BITS),
        ("slot_log", LIST_SLOT_BYTES.ilog2()),
        ("record_at", design.record_at()),
        // Where homes swap, the part of memory is chosen by the address.
        ("guard_addr_width", if design.swaps() { memory.addr_width } else { IO_ADDR_WIDTH }),
        ("part_lsb", memory.part_width()),
        ("memory_part_width", part_width),
        ("sums_at", design.partial_sums_at()),
        ("states_at", design.partial_states_at()),
        ("tokens_at", design.tokens_at()),
        ("scales_at", design.scales_at()),
        ("factors_at", design.factors_at()),
        ("kv_heads", model.kv_heads),
        ("query_bursts", query_bursts(design)),
        ("link_counters", LINK_COUNTERS),
        ("pad_counters", pad_events(design).len() as u32),
        ("num_errors", ERRORS.len() as u32),
    ]);
    values.widths(&[("arg_bits", count), ("arg_word_bits", WORDS_BEFORE_ARGUMENTS + ARGUMENT_WORDS * count)]);
    // Where block RAM has the stationary vectors, there is UltraRAM for the queue of queries.
    let in_ultra = row_memories(design).stations_in_block;
    values.set("queue_style", if in_ultra { "ultra" } else { "block" });
    values.set("quantises", design.quantises());
    values.set("given_factors", design.takes_factors());
    // A row of a token in FP16 waits until its scale is found, which takes so many cycles.
    const FIND: u32 = 12;
    let row_groups = (design.pe.head_dim / 4).div_ceil(design.bus.query_group_words);
    values.set("kept_groups", (row_groups + FIND).next_power_of_two());
    values.set("row_boundaries", row_boundaries(design));
    values.set(
        "port_names",
        arguments[ARGUMENTS_BEFORE_PORTS as usize..design.list_argument() as usize].to_vec(),
    );
    values.set("ctrl_word", word(named("CTRL")));
    values.set("cycles_low_word", word(named("CYCLES_LOW")));
    register_reads::set(values, design);
    for cause in &ERRORS {
        values.set(format!("error_{}", cause.name.to_lowercase()), format!("5'd{}", error(cause.name).bit));
    }
}

/// Bursts of an epoch at most that memory owes to the readers of list and queries, which take turns, and of new tokens.
///
/// A reader sends requests while it has places for its longest burst. Bursts of queries are the shortest: a head's.
fn query_bursts(design: &Design) -> u32 {
    // A flit of several heads is read with others.
    let burst = if design.flit_rows() > 1 { READER_BURST } else { design.row_flits().min(READER_BURST) };
    let of_tokens = if design.append.is_some() { TOKEN_PLACES / READER_BURST } else { 0 };
    (QUERY_PLACES - READER_BURST) / burst + 1 + of_tokens
}

/// Verilog literal with two bits for each of sixteen rows.
fn row_boundaries(design: &Design) -> String {
    let of_row = |row| if row < design.mesh.rows() { design.boundaries(row) } else { 0 };
    let bits: Vec<_> = (0..16).rev().map(|row| format!("{:02b}", of_row(row))).collect();
    format!("32'b{}", bits.join("_"))
}
