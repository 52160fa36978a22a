//! The placement of macro-blocks.

use crate::design::PlacementKind;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn placement(w: &TakvParams) -> ModuleSpec {
    let mut b = ModuleBuilder::new(
        Block::Takv,
        "meshkv_placement",
        &[
            match w.placement.by_slice() {
                true => "Home of a slice, and the number of its segment among those of the home.",
                false => "Home of a macro-block, and its number among that home's blocks.",
            },
            "",
            "Latency is two cycles from layer and segment to home and block, at one look-up a cycle.",
        ],
    )
    .control(w, &["X_WIDTH", "Y_WIDTH", "LAYER_WIDTH", "SEGMENT_WIDTH"]);
    b = match w.placement.kind {
        _ if w.placement.by_slice() => b.control(w, &["ROWS", "STRIDE", "ROUNDS", "AHEAD_WIDTH"]),
        PlacementKind::Takv => b.control(w, &["COLS", "ROWS", "STRIDE", "COLUMN_STRIDE", "ROUNDS"]),
        PlacementKind::RoundRobin => b.control(w, &["COLS", "ROWS", "SEGMENTS"]),
        PlacementKind::Hub => b.control(w, &["SEGMENTS", "HUB_X", "HUB_Y"]),
    };
    let parts: &[&str] = if w.placement.kind == PlacementKind::Hub { &[] } else { &["meshkv_divmod"] };
    b = b
        .param("NUMBER_WIDTH", w.place(), "Width of the largest dividend.")
        .control(w, &["BLOCK_WIDTH"])
        .input("clk", 1, "")
        .input("en", 1, "Both stages advance.")
        .input("layer", "LAYER_WIDTH", "Layer l.")
        .input("segment", "SEGMENT_WIDTH", "Segment s of the layer.");
    if w.placement.by_slice() {
        b = b.input("column", "X_WIDTH", "Column that computes the KV head.").input(
            "ahead",
            "AHEAD_WIDTH",
            "Rows by which KV head and cache are ahead.",
        );
    }
    b.group("Two enabled cycles later.")
        .output("x", "X_WIDTH", "Column of the home.")
        .output("y", "Y_WIDTH", "Row of the home.")
        .output("block", "BLOCK_WIDTH", "Number of the block among those of its home.")
        .instances(parts)
        .build()
}

pub(in crate::emit::rtl) fn divmod() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Takv,
        "meshkv_divmod",
        &["Quotient and residue of a number by a constant, digit by digit, without a divider."],
    )
    .param("WIDTH", 16, "Width of the number in bits.")
    .param("MODULUS", 8, "The divisor, 2 to 16.")
    .param("RESIDUE_WIDTH", 3, "Width of the residue in bits.")
    .input("number", "WIDTH", "Dividend.")
    .output("residue", "RESIDUE_WIDTH", "Remainder.")
    .output("quotient", "WIDTH", "Quotient.")
    .build()
}
