//! The rows that a close asks.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn close_rows(w: &TakvParams) -> ModuleSpec {
    let by_slice = w.placement.by_slice();
    let mut b = ModuleBuilder::new(
        Block::Takv,
        "meshkv_close_rows",
        &[
            "Rows of a column that are asked for their results of a KV head when streams are closed.",
            "",
            match by_slice {
                true => "Rows that hold a segment of a stream since it was closed have a partial result of it; others have none.",
                false => "Any row may have a partial result of a scattered stream.",
            },
        ],
    )
    .control(w, &["ROWS", "EXPECTED_WIDTH"]);
    if by_slice {
        b = b.control(w, &["Y_WIDTH", "STREAM_WIDTH", "SLICE_WIDTH", "COLUMN_SLICES"]).clocked();
    }
    b = b
        .input("gathers", 1, "Some stream of the descriptor is scattered.")
        .input("spread", "ROWS", "Rows of its streams where each has one.")
        .input("own_rows", "ROWS", "Rows with heads of the column where heads have rows.");
    if by_slice {
        b = b
            .group("The descriptor.")
            .input("begins", 1, "None is under way.")
            .input("joins", 1, "One pulse a stream of it.")
            .input("stream", "STREAM_WIDTH", "That stream.")
            .input("turns", 1, "One pulse a piece of a KV head.")
            .input("turns_to", "SLICE_WIDTH", "Place of the KV head in the column.")
            .group("Its slices.")
            .input("sees", 1, "One pulse a slice that the column fetches.")
            .input("any_row", 1, "Any row may fetch it.")
            .input("first_slice", 1, "It is of the first KV head of the column.")
            .input("home_y", "Y_WIDTH", "Row of its home.")
            .group("Its end.")
            .input("keeps", 1, "One pulse: its slices have left.")
            .input("forgets", 1, "One pulse: its streams are closed.");
    }
    b.group("From the end of a KV head on.")
        .output("close_rows", "ROWS", "Rows that are asked.")
        .output("others", "EXPECTED_WIDTH", "Partial results of a head besides that of one of these rows.")
        .build()
}
