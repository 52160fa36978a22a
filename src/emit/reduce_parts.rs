//! The modules between the sums of a tile and the output of a head: clock crossing, PART packets, reduce root.
//!
//! Their bodies are templates; `docs/reduce.md` has the reasons.

use super::block::Block;
use super::common_parts::fifo;
use super::module::{ModuleBuilder, ModuleSpec};
use crate::design::{index_bits, Design};

/// Words of the FIFO as it is described; who holds one sets its own.
const FIFO_DEPTH: u32 = 16;

/// Bits below the point of sums, as the model has them.
const FRACTION: u32 = 36;

/// Widths of the reduction, for one design.
pub(super) struct ReduceWidths {
    flit: u32,
    sum: u32,
    id: u32,
    stream: u32,
    layer: u32,
    head: u32,
    streams: u32,
    heads: u32,
    head_dim: u32,
    rows: u32,
    sources: u32,
    vc_depth: u32,
}

impl ReduceWidths {
    pub(super) fn of(design: &Design) -> ReduceWidths {
        let (noc, model) = (&design.config.noc, &design.config.model);
        let part = |name| design.flit.part.iter().find(|f| f.name == name).map_or(0, |f| f.width);
        let (stream, layer, head) = (part("stream"), part("layer"), part("head"));
        ReduceWidths {
            flit: noc.flit_width,
            sum: 54 + index_bits(model.max_tokens),
            id: stream + layer + head,
            stream,
            layer,
            head,
            streams: model.max_streams,
            heads: design.heads.most(),
            head_dim: design.config.pe.head_dim,
            rows: design.config.mesh.rows,
            sources: noc.vn0_vcs + 1,
            vc_depth: noc.vc_depth,
        }
    }

    /// Flits of the output of a head.
    fn out_flits(&self) -> u32 {
        (16 * self.head_dim).div_ceil(self.flit)
    }
}

/// All of them, in order of dependence.
pub(super) fn reduction(design: &Design) -> Vec<ModuleSpec> {
    let w = ReduceWidths::of(design);
    vec![
        async_pointer(),
        synchronizer(),
        async_fifo(),
        async_register(),
        fifo(),
        leading_bits(&w),
        element_packer(&w),
        part_former(&w),
        reduce_inlet(&w),
        reduce_adder(&w),
        reciprocal(),
        quotient(),
        reduce_root(&w),
    ]
}

impl ModuleBuilder {
    fn reduce_sum_width(self, w: &ReduceWidths) -> Self {
        self.param(
            "SUM_WIDTH",
            w.sum,
            "Width of a sum in bits, 54 and as many as a number of tokens has; at most 72.",
        )
    }

    fn reduce_flit_width(self, w: &ReduceWidths) -> Self {
        self.param("FLIT_WIDTH", w.flit, "Width of one flit's data in bits.")
    }

    fn fraction(self) -> Self {
        self.param("FRACTION", FRACTION, "Bits of a sum below the point.")
    }

    fn reduce_id_width(self, w: &ReduceWidths) -> Self {
        self.param("ID_WIDTH", w.id, "Width of head, layer and stream in bits.")
    }

    fn inlet_params(self, w: &ReduceWidths) -> Self {
        self.reduce_flit_width(w)
            .reduce_id_width(w)
            .param("SOURCES", w.sources, "Sources of flits, at least 2: VCs of VN0, and the tile's own.")
            .param("DEPTH", w.vc_depth, "Flits that a source may send before one is credited, at least 2.")
            .param("HEAD_DIM", w.head_dim, "Elements of a head, a power of two from 32.")
    }

    fn inlet_ports(self) -> Self {
        self.group("Flits of PART packets: whole packets a source, sources mixed, one flit a cycle.")
            .input("root_valid", "SOURCES", "One-hot: its source.")
            .input("root_first", 1, "")
            .input("root_last", 1, "")
            .input("root_alone", 1, "No other partial of its head comes; with the first flit.")
            .input("root_id", "ID_WIDTH", "Head, layer, stream, from the top; with the first flit.")
            .input("root_data", "FLIT_WIDTH", "")
            .output("root_credit", "SOURCES", "One pulse a flit that has left its place.")
    }

    /// Depth of a FIFO of two clocks and the widths that follow from it.
    fn async_depth(self) -> Self {
        self.param("DEPTH", FIFO_DEPTH, "Words, any number from 2.")
            .param("PTR_WIDTH", FIFO_DEPTH.ilog2(), "Width of a position in bits, as small as can be.")
            .param("GRAY_WIDTH", FIFO_DEPTH.ilog2() + 1, "PTR_WIDTH + 1.")
    }
}

pub(super) fn async_pointer() -> ModuleSpec {
    ModuleBuilder::new(Block::Common, "meshkv_async_pointer",
        &[
            "A pointer into a ring of any depth that may be read in another clock.",
            "",
            "Its 2*DEPTH states are the middle ones of a reflected gray code. The code is its own mirror image but for",
            "the first bit, so the step from the last state to the first changes one bit, as does every other.",
        ],
    )
    .async_depth()
    .clocked()
    .input("step", 1, "The next position.")
    .output("position", "PTR_WIDTH", "0 to DEPTH - 1.")
    .output("wrap", 1, "Changes from round to round.")
    .output("gray", "GRAY_WIDTH", "Position and wrap; out of a register, fit for another clock.")
    .output("opposite", "GRAY_WIDTH", "The same position a round before or after; out of a register.")
    .build()
}

pub(super) fn synchronizer() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Common,
        "meshkv_synchronizer",
        &[
            "Two registers that take bits over from another clock.",
            "",
            "The bits come out of registers, and of several at most one changes at a time.",
        ],
    )
    .param("WIDTH", 5, "Width in bits.")
    .bits_param("RESET", "[WIDTH-1:0]", "5'd0".to_owned(), "What is seen during reset.")
    .clocked()
    .input("s_data", "WIDTH", "From the other clock.")
    .output("m_data", "WIDTH", "The same two cycles later, in this clock.")
    .build()
}

pub(super) fn async_fifo() -> ModuleSpec {
    ModuleBuilder::new(Block::Common, "meshkv_async_fifo",
        &[
            "FIFO of any depth between two clocks.",
            "",
            "Pointers cross in gray code; a word is read three cycles of its reader after it was written, never before it",
            "is whole. No path leads from one clock's inputs to the other's outputs. Both resets are held together for",
            "three cycles of the slower clock; whichever ends first.",
        ],
    )
    .param("WIDTH", 64, "Width of a word in bits.")
    .param("DEPTH", FIFO_DEPTH, "Words, any number from 2; one more waits in the output register.")
    .group("Where words come from.")
    .input("s_clk", 1, "")
    .input("s_rst", 1, "")
    .input("s_valid", 1, "")
    .output("s_ready", 1, "")
    .input("s_data", "WIDTH", "Word in.")
    .group("Where they go.")
    .input("m_clk", 1, "")
    .input("m_rst", 1, "")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_data", "WIDTH", "Word out, of a register.")
    .instances(&["meshkv_async_pointer", "meshkv_synchronizer"])
    .build()
}

/// A word at a time between two clocks, where a FIFO's memory would cost more than it gives.
pub(super) fn async_register() -> ModuleSpec {
    let mut fifo = async_fifo();
    fifo.params.retain(|p| p.name == "WIDTH");
    ModuleBuilder::new(Block::Common, "meshkv_async_register",
        &[
            "A word between two clocks: it is held until the reader has taken it.",
            "",
            "It shows three cycles of its reader after it was written, and the next one is taken two or three of the",
            "writer after it has left. Both resets are held together for three cycles of the slower clock.",
        ],
    )
    .params_of(&[&fifo], &[])
    .ports_of(&fifo, &["s_", "m_"], "")
    .instances(&["meshkv_synchronizer"])
    .build()
}

fn leading_bits(w: &ReduceWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Reduce, "meshkv_leading_bits",
        &[
            "Magnitude of a number from its first one on: what FP32, the divider and FP16 are made of.",
            "",
            "Five cycles, a number a cycle. The shift by the leading zeros is the count of them, part by part.",
        ],
    )
    .param("WIDTH", w.sum, "Width of the number in bits, 33 to 80.")
    .param("KEEP", 32, "Leading bits wanted.")
    .input("clk", 1, "")
    .input("s_value", "WIDTH", "Two's complement.")
    .group("Five cycles later.")
    .output("m_negative", 1, "Its sign.")
    .output("m_zero", 1, "It is 0; then the rest has no meaning.")
    .output("m_above", 7, "Zeros above the first one, of WIDTH bits.")
    .output("m_kept", "KEEP", "The first one and what follows it.")
    .output("m_rest", 1, "There are ones behind those.")
    .build()
}

fn element_packer(w: &ReduceWidths) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Reduce,
        "meshkv_element_packer",
        &["Packs elements into flits, one a cycle, from bit 0; what a flit ends with beyond them is 0."],
    )
    .param("ELEMENT_WIDTH", 32, "Width of an element in bits.")
    .reduce_flit_width(w)
    .param("TAG_WIDTH", w.id + 2, "Width of what is said with it in bits.")
    .clocked()
    .input("s_valid", 1, "")
    .output("s_ready", 1, "")
    .input("s_data", "ELEMENT_WIDTH", "An element.")
    .input("s_ends", 1, "It ends its flit, full or not.")
    .input("s_tag", "TAG_WIDTH", "That of a flit's last element counts.")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_tag", "TAG_WIDTH", "")
    .output("m_data", "FLIT_WIDTH", "The flit.")
    .build()
}

fn part_former(w: &ReduceWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Reduce, "meshkv_part_former",
        &[
            "Makes a PART packet of the sums of a context: m and l, then o, in FP32.",
            "",
            "Numbers come one a cycle and cannot be stopped, so room is shown while MARGIN more fit. A packet is",
            "longer than the stages between; with an infinity or a NaN in the head, l and o are all NaN.",
        ],
    )
    .reduce_sum_width(w)
    .fraction()
    .reduce_flit_width(w)
    .reduce_id_width(w)
    .param("MARGIN", 16, "Numbers that fit while there is room.")
    .clocked()
    .group("Sums: l, then o[0], o[1], ...")
    .output("s_room", 1, "This number and MARGIN - 1 more fit.")
    .input("s_valid", 1, "")
    .input("s_first", 1, "It is l.")
    .input("s_last", 1, "It is the last of o.")
    .input("s_max", 32, "m, with the first; 0 where there was no token.")
    .input("s_special", 1, "The head met an infinity or a NaN; with the first.")
    .input("s_id", "ID_WIDTH", "With the first.")
    .input("s_sum", "SUM_WIDTH", "Two's complement.")
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

fn reduce_inlet(w: &ReduceWidths) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Reduce,
        "meshkv_reduce_inlet",
        &[
            "Flits of PART packets in, their numbers out: a packet at a time, one number a cycle.",
            "",
            "Flits of different sources come mixed and wait in one memory, each source in its part of it.",
        ],
    )
    .inlet_params(w)
    .clocked()
    .inlet_ports()
    .output("idle", 1, "No flit waits.")
    .group("Numbers: l, o[0], o[1], ...; the rest is said of the whole packet.")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_first", 1, "It is l.")
    .output("m_last", 1, "It is the last of o.")
    .output("m_alone", 1, "No other partial of its head comes.")
    .output("m_id", "ID_WIDTH", "Head, layer, stream.")
    .output("m_max", 32, "m.")
    .output("m_word", 32, "FP32.")
    .build()
}

fn reduce_adder(w: &ReduceWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Reduce, "meshkv_reduce_adder",
        &[
            "Adds an FP32 to a sum in fixed point: the sum shifted down by what m rises, cut off; the number by what its",
            "own m lacks, to nearest with halves upwards: the last bit shifted out is the carry in.",
            "",
            "Five cycles, a number a cycle. A number that a sum has no bits for does not occur.",
        ],
    )
    .reduce_sum_width(w)
    .fraction()
    .input("clk", 1, "")
    .input("s_word", 32, "Finite FP32.")
    .input("s_none", 1, "Nothing is added.")
    .input("s_below", 7, "What its m lacks; 127 stands for more too.")
    .group("Two cycles later.")
    .input("s_old", "SUM_WIDTH", "The sum.")
    .input("s_rise", 7, "What m rises; the same in the next cycle.")
    .group("Five cycles later.")
    .output("m_sum", "SUM_WIDTH", "The new sum.")
    .build()
}

fn reciprocal() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Reduce,
        "meshkv_reciprocal",
        &["floor(2^64 / value) for a value from 2^31, by long division: a bit a cycle, 34 cycles."],
    )
    .clocked()
    .input("s_valid", 1, "One pulse.")
    .input("s_value", 32, "Its first bit is 1.")
    .output("m_valid", 1, "One pulse.")
    .output("m_value", 34, "Stays until the next division.")
    .build()
}

fn quotient() -> ModuleSpec {
    ModuleBuilder::new(Block::Reduce, "meshkv_quotient",
        &[
            "o / l in FP16, rounded once, from the leading bits of o and the reciprocal of those of l.",
            "",
            "Five cycles, a number a cycle. o and l have the same width and point, so where their first ones are is",
            "all that the exponent needs.",
        ],
    )
    .input("clk", 1, "")
    .group("o.")
    .input("s_kept", 26, "Its first one and what follows.")
    .input("s_above", 7, "Zeros above the first one.")
    .input("s_rest", 1, "There are ones behind those.")
    .input("s_negative", 1, "")
    .input("s_zero", 1, "It is 0.")
    .group("l, the same for all of a head.")
    .input("s_above_l", 7, "Zeros above the first one.")
    .input("s_reciprocal", 34, "In (2^32, 2^33].")
    .group("What the head is besides, four cycles later.")
    .input("s_special", 1, "It met an infinity or a NaN: NaN.")
    .input("s_none", 1, "It has no token: 0.")
    .group("Five cycles later.")
    .output("m_element", 16, "FP16.")
    .build()
}

fn reduce_root(w: &ReduceWidths) -> ModuleSpec {
    ModuleBuilder::new(Block::Reduce, "meshkv_reduce_root",
        &[
            "Merges the partial results of the heads of a column as they come and normalises each once.",
            "",
            "Sums are in fixed point, so merging is a shift and an addition, a number a cycle. The sums of a head's last",
            "partial do not go back: l goes to the divider, o waits for it and leaves as FP16. In between, heads",
            "may come in any order.",
        ],
    )
    .inlet_params(w)
    .reduce_sum_width(w)
    .fraction()
    .param("STREAMS", w.streams, "Streams.")
    .param("HEADS", w.heads, "Heads of this column.")
    .param("PARTIALS", w.rows, "Partials of a head, unless one is alone.")
    .param("STREAM_WIDTH", w.stream, "Width of a stream in bits.")
    .param("LAYER_WIDTH", w.layer, "Width of a layer in bits.")
    .param("PART_HEAD_WIDTH", w.head, "Width of a head of this column in bits.")
    .param("OUT_INDEX_WIDTH", index_bits(w.out_flits()), "Width of a number of an output flit in bits.")
    .clocked()
    .output("idle", 1, "Nothing is under way and no head waits for a partial.")
    .inlet_ports()
    .group("A partial begins to be merged.")
    .output("merge_valid", 1, "One pulse a packet.")
    .output("merge_id", "ID_WIDTH", "Head, layer, stream.")
    .group("A head's output in FP16.")
    .output("out_valid", 1, "")
    .input("out_ready", 1, "")
    .output("out_stream", "STREAM_WIDTH", "")
    .output("out_layer", "LAYER_WIDTH", "")
    .output("out_head", "PART_HEAD_WIDTH", "")
    .output("out_index", "OUT_INDEX_WIDTH", "Number of the flit.")
    .output("out_last", 1, "The head's last.")
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
