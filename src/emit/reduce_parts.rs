//! The modules between the sums of a tile and the output of a head: clock crossing, PART packets, reduce root.
//!
//! Their bodies are templates; `docs/reduce.md` has the reasons.

use super::common_parts::fifo;
use super::module::{ModuleBuilder, ModuleSpec};
use super::tile_widths::TileWidths;
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
}

impl ReduceWidths {
    pub(super) fn of(design: &Design) -> ReduceWidths {
        let tile = TileWidths::of(design);
        ReduceWidths {
            flit: design.config.noc.flit_width,
            sum: 54 + index_bits(design.config.model.max_tokens),
            id: tile.part_id,
        }
    }
}

/// All of them, in order of dependence.
pub(super) fn reduction(design: &Design) -> Vec<ModuleSpec> {
    let w = ReduceWidths::of(design);
    vec![
        async_pointer(),
        synchronizer(),
        async_fifo(),
        fifo(),
        leading_bits(&w),
        element_packer(&w),
        part_former(&w),
    ]
}

impl ModuleBuilder {
    fn sum_width(self, w: &ReduceWidths) -> Self {
        self.param("SUM_WIDTH", w.sum, "Width of a sum in bits, 54 and as many as a number of tokens has; at most 72.")
    }

    fn reduce_flit_width(self, w: &ReduceWidths) -> Self {
        self.param("FLIT_WIDTH", w.flit, "Width of one flit's data in bits.")
    }

    /// Depth of a FIFO of two clocks and the widths that follow from it.
    fn async_depth(self) -> Self {
        self.param("DEPTH", FIFO_DEPTH, "Words, any number from 2.")
            .param("PTR_WIDTH", FIFO_DEPTH.ilog2(), "Width of a position in bits, as small as can be.")
            .param("GRAY_WIDTH", FIFO_DEPTH.ilog2() + 1, "PTR_WIDTH + 1.")
    }
}

pub(super) fn async_pointer() -> ModuleSpec {
    ModuleBuilder::new(
        "meshkv_async_pointer",
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
    ModuleBuilder::new(
        "meshkv_async_fifo",
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

fn leading_bits(w: &ReduceWidths) -> ModuleSpec {
    ModuleBuilder::new(
        "meshkv_leading_bits",
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
    ModuleBuilder::new(
        "meshkv_part_former",
        &[
            "Makes a PART packet of the sums of a context: m and l, then o, in FP32.",
            "",
            "Numbers come one a cycle and cannot be stopped, so room is shown while MARGIN more fit. A packet is",
            "longer than the stages between; with an infinity or a NaN in the head, l and o are all NaN.",
        ],
    )
    .sum_width(w)
    .param("FRACTION", FRACTION, "Bits of a sum below the point.")
    .reduce_flit_width(w)
    .param("ID_WIDTH", w.id, "Width of head, layer and stream in bits.")
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
