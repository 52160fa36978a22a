//! The merging of partial results and their division.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::reduce::params::ReduceParams;

pub(in crate::emit::rtl) fn reduce_root(w: &ReduceParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Reduce, "meshkv_reduce_root",
        &[
            "Merges the partial results of a column's heads in order of arrival and normalises each head once.",
            "",
            "Sums are in fixed point, so merging is a shift and an addition, LANES numbers a cycle. The sums of a head's last",
            "partial go to one of two places, where they are finished while other heads merge: l by the divider, then",
            "FINISH_LANES numbers of o a cycle, leaving as FP16. Partials of different heads may arrive in any order.",
        ],
    )
    .inlet_params(w)
    .finish_lanes(w)
    .reduce_sum_width(w)
    .fraction()
    .param("STREAMS", w.streams, "Streams.")
    .param("HEADS", w.heads, "Heads of this column.")
    .root_ids(w)
    .clocked()
    .output("idle", 1, "Nothing is in progress and no head waits for a partial.")
    .input("partials", "STREAMS", "Streams whose heads return partial results; stable while they have any here.")
    .inlet_ports()
    .group("The merging of a partial starts.")
    .output("merge_valid", 1, "One pulse a packet.")
    .output("merge_id", "ID_WIDTH", "Head, layer, stream.")
    .sum_report()
    .root_output()
    .instances(&[
        "meshkv_reduce_inlet",
        "meshkv_reduce_adder",
        "meshkv_reduce_finisher",
    ])
    .build()
}

pub(in crate::emit::rtl) fn reduce_finisher(w: &ReduceParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Reduce, "meshkv_reduce_finisher",
        &[
            "Divides the sums of complete heads by their l, FINISH_LANES numbers a cycle, and returns them in FP16.",
            "Partial results are not divided: l, m and o leave in FP32, half as many numbers a cycle.",
            "",
            "Two heads have a place. A head's l goes to the divider while the head before it is drained. The numbers of a",
            "head follow those of the head before, and the divisor of a head follows its first number.",
        ],
    )
    .reduce_flit_width(w)
    .root_lanes("LANES", w.lanes)
    .finish_lanes(w)
    .reduce_id_width(w)
    .param("HEAD_DIM", w.head_dim, "Elements of a head, a power of two from 32.")
    .reduce_sum_width(w)
    .fraction()
    .beat_width(w)
    .root_ids(w)
    .clocked()
    .output("idle", 1, "No head is here.")
    .group("Sums: l, then LANES numbers of o at a time, whole heads one after the other.")
    .output("s_full", 1, "Both places are taken.")
    .input("s_begins", 1, "A head takes a place; its sums follow.")
    .input("s_l", 1, "l is in the first lane of s_sums.")
    .input("s_id", "ID_WIDTH", "Head, layer, stream; with l.")
    .input("s_special", 1, "The head met an infinity or a NaN; with l.")
    .input("s_saturated", 1, "A logit of the head was beyond the range; with l.")
    .input("s_partial", 1, "The head returns its partial result; with l.")
    .input("s_max", 32, "m; with l.")
    .input("s_valid", 1, "s_sums are o.")
    .input("s_last", 1, "They are the last of o.")
    .input("s_beat", "BEAT_WIDTH", "Their position in o, in units of LANES.")
    .input("s_sums", "LANES*SUM_WIDTH", "Two's complement.")
    .sum_report()
    .root_output()
    .instances(&[
        "meshkv_fifo",
        "meshkv_element_packer",
        "meshkv_reciprocal",
        "meshkv_finish_lane",
    ])
    .build()
}

pub(in crate::emit::rtl) fn reduce_inlet(w: &ReduceParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Reduce,
        "meshkv_reduce_inlet",
        &[
            "Unpacks flits of PART packets into numbers: one packet at a time, l alone, then LANES of o a cycle.",
            "",
            "Flits of different sources arrive interleaved and wait in one memory, each source in its own part. The first flit",
            "of the next packet is shown while the numbers of the present one leave; these cannot be stopped.",
        ],
    )
    .inlet_params(w)
    .beat_width(w)
    .clocked()
    .inlet_ports()
    .output("idle", 1, "No flit waits.")
    .group("The first flit of the next packet.")
    .output("header_valid", 1, "")
    .output("header_others", "OTHERS_WIDTH", "Partials of its head besides it.")
    .output("header_id", "ID_WIDTH", "Head, layer, stream.")
    .output("header_max", 32, "m.")
    .output("header_l", 32, "l in FP32, with its flag.")
    .input("start", 1, "Its numbers are to follow, l in the next cycle; not while busy.")
    .output("busy", 1, "Numbers of a packet are still to leave, but for those at the output.")
    .group("Numbers.")
    .output("m_valid", 1, "")
    .output("m_first", 1, "It is l, in the first lane and without its sign.")
    .output("m_last", 1, "They are the last of o.")
    .output("m_beat", "BEAT_WIDTH", "Their position in o, in units of LANES.")
    .output("m_words", "32*LANES", "FP32.")
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
    .input("s_some", 1, "There is a sum: without one it is 0.")
    .input("s_old", "SUM_WIDTH", "The sum.")
    .input("s_rise", 7, "Rise of m.")
    .group("Five cycles later.")
    .output("m_sum", "SUM_WIDTH", "The new sum.")
    .build()
}

pub(in crate::emit::rtl) fn reciprocal() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Reduce,
        "meshkv_reciprocal",
        &["floor(2^64 / value) for a value from 2^31, by long division: two bits a cycle, 17 cycles."],
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

pub(in crate::emit::rtl) fn finish_lane(w: &ReduceParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Reduce,
        "meshkv_finish_lane",
        &[
            "A lane of the finisher: rounds a number of a complete head to FP16, divided by l, and to FP32 as it is.",
            "",
            "Both are there ten cycles after the number. The leading bits are shown for the divider.",
        ],
    )
    .reduce_sum_width(w)
    .fraction()
    .input("clk", 1, "")
    .input("s_number", "SUM_WIDTH", "Two's complement: a sum, or m from the top.")
    .group("Its leading bits, five cycles later.")
    .output("m_negative", 1, "Its sign.")
    .output("m_zero", 1, "It is 0.")
    .output("m_above", 7, "Leading zeros.")
    .output("m_kept", 32, "The leading 1 and the bits below it.")
    .output("m_rest", 1, "There are ones below those bits.")
    .group("In the same cycle.")
    .input("s_is_max", 1, "It is m.")
    .input("s_above_l", 7, "Leading zeros of l.")
    .input("s_reciprocal", 34, "Of the leading bits of l.")
    .group("Special cases of the head, nine cycles after the number.")
    .input("s_special", 1, "It met an infinity or a NaN: the results are NaN.")
    .input("s_none", 1, "It has no token: the FP16 is 0, and m is below all others.")
    .group("Ten cycles after the number.")
    .output("m_element", 16, "FP16.")
    .output("m_single", 32, "FP32.")
    .instances(&["meshkv_leading_bits", "meshkv_quotient"])
    .build()
}
