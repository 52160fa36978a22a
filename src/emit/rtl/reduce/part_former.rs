//! The part former, and modules shared with the reduce root.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::reduce::params::ReduceParams;

pub(in crate::emit::rtl) fn part_former(w: &ReduceParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Reduce, "meshkv_part_former",
        &[
            "Forms a PART packet from the sums of a context: m and l, then o, in FP32.",
            "",
            "Numbers arrive as pairs, one a cycle, and cannot stall, so s_room is high while MARGIN more fit. A packet",
            "is longer than the pipeline. If the head met an infinity or a NaN, l and o are all NaN. If a logit was",
            "beyond the range, l has a sign.",
        ],
    )
    .reduce_sum_width(w)
    .fraction()
    .reduce_flit_width(w)
    .reduce_id_width(w)
    .param("MARGIN", 16, "Pairs that fit while there is room.")
    .clocked()
    .group("Sums: l in both places of its pair, then o[0] and o[1], o[2] and o[3], ...")
    .output("s_room", 1, "This pair and MARGIN - 1 more fit.")
    .input("s_valid", 1, "")
    .input("s_first", 1, "It is l.")
    .input("s_last", 1, "It is the last pair of o.")
    .input("s_max", 32, "m, with the first; 0 without a token.")
    .input("s_special", 1, "The head met an infinity or a NaN; with the first.")
    .input("s_saturated", 1, "A logit of the head was beyond the range; with the first.")
    .input("s_id", "ID_WIDTH", "With the first.")
    .input("s_sums", "2*SUM_WIDTH", "Two's complement, the first of a pair lowest.")
    .group("The packet.")
    .output("part_valid", 1, "")
    .input("part_ready", 1, "")
    .output("part_first", 1, "")
    .output("part_last", 1, "")
    .output("part_id", "ID_WIDTH", "Head, layer and stream.")
    .output("part_data", "FLIT_WIDTH", "")
    .instances(&["meshkv_fifo", "meshkv_leading_bits", "meshkv_element_packer"])
    .build()
}

pub(in crate::emit::rtl) fn element_packer(w: &ReduceParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Reduce,
        "meshkv_element_packer",
        &["Packs elements into flits, one a cycle, from bit 0; unused upper bits are 0."],
    )
    .param("ELEMENT_WIDTH", 32, "Width of an element in bits.")
    .reduce_flit_width(w)
    .param("TAG_WIDTH", w.id + 2, "Width of its tag in bits.")
    .clocked()
    .input("s_valid", 1, "")
    .output("s_ready", 1, "")
    .input("s_data", "ELEMENT_WIDTH", "An element.")
    .input("s_ends", 1, "The last of its flit, full or not.")
    .input("s_tag", "TAG_WIDTH", "Tag; that of a flit's last element is used.")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_tag", "TAG_WIDTH", "")
    .output("m_data", "FLIT_WIDTH", "The flit.")
    .build()
}

pub(in crate::emit::rtl) fn leading_bits(w: &ReduceParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Reduce, "meshkv_leading_bits",
        &[
            "Normalises a magnitude: shifts it left until its leading 1 is the top bit, for FP32, divider and FP16.",
            "",
            "Latency is five cycles, at one number a cycle. Each stage of the shift yields a part of the count of leading zeros.",
        ],
    )
    .param("WIDTH", w.sum, "Width of the number in bits, 33 to 80.")
    .param("KEEP", 32, "Leading bits to keep.")
    .input("clk", 1, "")
    .input("s_value", "WIDTH", "Two's complement.")
    .group("Five cycles later.")
    .output("m_negative", 1, "Its sign.")
    .output("m_zero", 1, "It is 0; then the rest has no meaning.")
    .output("m_above", 7, "Leading zeros, of WIDTH bits.")
    .output("m_kept", "KEEP", "The leading 1 and the bits below it.")
    .output("m_rest", 1, "There are ones below those bits.")
    .build()
}
