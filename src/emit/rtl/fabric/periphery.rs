//! The periphery of the tiles: controllers, memory ports, the swap unit.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::bundles::HEAD;
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn periphery(w: &TakvParams, parts: &[&ModuleSpec]) -> ModuleSpec {
    let names: Vec<_> = parts.iter().map(|p| p.name).collect();
    let mut b = ModuleBuilder::new(
        Block::Fabric,
        "meshkv_periphery",
        &[
            "Periphery of the tiles: column controllers, ports to external memory, swap of homes.",
            "",
            "Every wire to or from a tile has a register at both ends.",
        ],
    )
    .control(w, &["COLS", "ROWS", "TILES", "PORTS", "ROW_PORTS", "PORT_TILES", "DESC_DEPTH", "REQ_DEPTH"])
    .params_of(parts, &["QUEUE", "CREDITS", "WORDS", "DEPTH"])
    .control(w, &["HEAD_ID_WIDTH"])
    .control(w, if w.append.is_some_and(|a| !a.direct) { &["TOKEN_DEPTH", "WRITE_DEPTH"] } else { &[] })
    .clocked_by_tile()
    .query_groups(Dir::Input, HEAD)
    .more_queries(Dir::Input)
    .descriptor(w.append.is_some())
    .output("idle", 1, "All descriptors are done.");
    b = b
        .group("Column buses, to row 0.")
        .output("bus_valid", "COLS", "One pulse a word.")
        .output("bus_data", "COLS*BUS_WIDTH", "The word.")
        .input("bus_credit", "COLS", "One pulse a word that left the stop.");
    if w.swaps() {
        b = b
            .swap_report()
            .group("Occupancies, from row 0.")
            .input("column_occupancy_valid", "COLS", "One pulse a value.")
            .input("column_occupancy_data", "COLS*VALUE_WIDTH", "The value.");
    }
    if w.append.is_some() {
        b = b.new_tokens(Dir::Input).more_tokens(Dir::Input).words_of_tiles("TILES").writes("PORTS*");
    }
    b.reads_of_tiles("TILES").axi("PORTS*").instances(&names).build()
}
