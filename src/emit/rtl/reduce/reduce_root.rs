//! The merging of partial results and their division.

use crate::design::index_bits;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::reduce::params::ReduceParams;

pub(in crate::emit::rtl) fn reduce_root(w: &ReduceParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Reduce, "meshkv_reduce_root",
        &[
            "Merges the partial results of a column's heads in order of arrival and normalises each head once.",
            "",
            "Sums are in fixed point, so merging is a shift and an addition, one number a cycle. The sums of a head's last",
            "partial are not written back: l goes to the divider, o waits for it and leaves as FP16. Partials of",
            "different heads may arrive in any order.",
        ],
    )
    .inlet_params(w)
    .reduce_sum_width(w)
    .fraction()
    .param("STREAMS", w.streams, "Streams.")
    .param("HEADS", w.heads, "Heads of this column.")
    .param("PARTIALS", w.rows, "Partials of a head, unless it has only one.")
    .param("STREAM_WIDTH", w.stream, "Width of a stream in bits.")
    .param("LAYER_WIDTH", w.layer, "Width of a layer in bits.")
    .param("PART_HEAD_WIDTH", w.head, "Width of a head of this column in bits.")
    .param("OUT_INDEX_WIDTH", index_bits(w.out_flits()), "Width of a number of an output flit in bits.")
    .clocked()
    .output("idle", 1, "Nothing is in progress and no head waits for a partial.")
    .inlet_ports()
    .group("The merging of a partial starts.")
    .output("merge_valid", 1, "One pulse a packet.")
    .output("merge_id", "ID_WIDTH", "Head, layer, stream.")
    .sum_report()
    .group("A head's output in FP16.")
    .output("out_valid", 1, "")
    .input("out_ready", 1, "")
    .output("out_stream", "STREAM_WIDTH", "")
    .output("out_layer", "LAYER_WIDTH", "")
    .output("out_head", "PART_HEAD_WIDTH", "")
    .output("out_index", "OUT_INDEX_WIDTH", "Number of the flit.")
    .output("out_last", 1, "Last flit of the head.")
    .output("out_saturated", 1, "A logit of the head was beyond the range: the output is void.")
    .output("out_data", "FLIT_WIDTH", "")
    .instances(&[
        "meshkv_fifo",
        "meshkv_leading_bits",
        "meshkv_element_packer",
        "meshkv_reduce_inlet",
        "meshkv_reduce_adder",
        "meshkv_reciprocal",
        "meshkv_quotient",
    ])
    .build()
}

pub(in crate::emit::rtl) fn reduce_inlet(w: &ReduceParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Reduce,
        "meshkv_reduce_inlet",
        &[
            "Unpacks flits of PART packets into numbers: one packet at a time, one number a cycle.",
            "",
            "Flits of different sources arrive interleaved and wait in one memory, each source in its own part.",
        ],
    )
    .inlet_params(w)
    .clocked()
    .inlet_ports()
    .output("idle", 1, "No flit waits.")
    .group("Numbers: l, o[0], o[1], ...; the other fields are of the whole packet.")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_first", 1, "It is l.")
    .output("m_last", 1, "It is the last of o.")
    .output("m_alone", 1, "The only partial of its head.")
    .output("m_id", "ID_WIDTH", "Head, layer, stream.")
    .output("m_max", 32, "m.")
    .output("m_word", 32, "FP32.")
    .build()
}

pub(in crate::emit::rtl) fn reduce_adder(w: &ReduceParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Reduce, "meshkv_reduce_adder",
        &[
            "Adds an FP32 to a sum in fixed point. The sum is shifted down by the rise of m and truncated. The number is",
            "shifted down by the deficit of its m and rounded, halves up: the last bit shifted out is the carry in.",
            "",
            "Latency is five cycles, at one number a cycle. Numbers beyond the bits of a sum do not occur.",
        ],
    )
    .reduce_sum_width(w)
    .fraction()
    .input("clk", 1, "")
    .input("s_word", 32, "Finite FP32.")
    .input("s_none", 1, "Nothing is added.")
    .input("s_below", 7, "Deficit of its m; 127 means 127 or more.")
    .group("Two cycles later.")
    .input("s_old", "SUM_WIDTH", "The sum.")
    .input("s_rise", 7, "Rise of m; held in the next cycle.")
    .group("Five cycles later.")
    .output("m_sum", "SUM_WIDTH", "The new sum.")
    .build()
}

pub(in crate::emit::rtl) fn reciprocal() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Reduce,
        "meshkv_reciprocal",
        &["floor(2^64 / value) for a value from 2^31, by long division: a bit a cycle, 34 cycles."],
    )
    .clocked()
    .input("s_valid", 1, "One pulse.")
    .input("s_value", 32, "The top bit is 1.")
    .output("m_valid", 1, "One pulse.")
    .output("m_value", 34, "Held until the next division.")
    .build()
}

pub(in crate::emit::rtl) fn quotient() -> ModuleSpec {
    ModuleBuilder::new(Block::Reduce, "meshkv_quotient",
        &[
            "o / l in FP16, rounded once, from the leading bits of o and the reciprocal of those of l.",
            "",
            "Latency is five cycles, at one number a cycle. o and l have the same width and point, so the positions of",
            "their leading ones determine the exponent.",
        ],
    )
    .input("clk", 1, "")
    .group("o.")
    .input("s_kept", 26, "Its leading 1 and the bits below it.")
    .input("s_above", 7, "Leading zeros.")
    .input("s_rest", 1, "There are ones below those bits.")
    .input("s_negative", 1, "")
    .input("s_zero", 1, "It is 0.")
    .group("l, the same for all of a head.")
    .input("s_above_l", 7, "Leading zeros.")
    .input("s_reciprocal", 34, "In (2^32, 2^33].")
    .group("Special cases of the head, four cycles later.")
    .input("s_special", 1, "It met an infinity or a NaN: the result is NaN.")
    .input("s_none", 1, "It has no token: the result is 0.")
    .group("Five cycles later.")
    .output("m_element", 16, "FP16.")
    .build()
}
