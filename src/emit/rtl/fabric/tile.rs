//! The tile.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::bundles::PLACE;
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn tile(w: &TakvParams, parts: &[&ModuleSpec]) -> ModuleSpec {
    let transport = parts.iter().find(|p| p.name == "meshkv_transport").expect("a tile has one");
    let prefetcher = parts.iter().find(|p| p.name == "meshkv_prefetcher").expect("a tile has one");
    let filler = parts.iter().find(|p| p.name == "meshkv_filler").expect("a tile has one");
    let names: Vec<_> = parts.iter().map(|p| p.name).collect();
    let mut b = ModuleBuilder::new(
        Block::Fabric,
        "meshkv_tile",
        &[
            "Tile attached to a router: executes words of the column bus, as a requester of slices and as their home.",
            "",
            "PaD attaches to its ports: it takes jobs and flits and returns partial results.",
        ],
    )
    .params_of(&[transport], &[])
    .control(w, &["BUS_WIDTH", "BUS_DEPTH", "ASK_DEPTH", "FILL_DEPTH", "REQ_DEPTH", "ROW_STEP"])
    .params_of(parts, &["WIDTH", "DEPTH", "SLOTS", "CREDITS", "COUNT_WIDTH"])
    .control(w, &["LAYER_WIDTH", "HEAD_PLACE_WIDTH", "QUERY_WORD_WIDTH"]);
    if w.swaps() {
        b = b.control(w, &["USED_WIDTH"]);
    }
    b = b.clocked().compute_clocked().compute_idle(&w.tile).coordinates();
    b = b
        .group("Column bus, from the south.")
        .input("rx_s_bus_valid", 1, "One pulse a word.")
        .input("rx_s_bus_data", "BUS_WIDTH", "The word.")
        .output("rx_s_bus_credit", 1, "One pulse a word that left.")
        .group("Column bus, to the north.")
        .output("tx_n_bus_valid", 1, "One pulse a word.")
        .output("tx_n_bus_data", "BUS_WIDTH", "The word.")
        .input("tx_n_bus_credit", 1, "One pulse a word that left the next stop.");
    if w.swaps() {
        let occupancy =
            parts.iter().find(|p| p.name == "meshkv_occupancy").expect("homes that swap have one");
        b = b.ports_of(occupancy, &["rx_n_", "tx_s_"], "");
    }
    b = compute_side(b, prefetcher, transport, "");
    if let Some(token) = parts.iter().find(|p| p.name == "meshkv_new_token") {
        b = b.ports_of(token, &["new_"], "");
    }
    b.ports_of(filler, &["req_", "rsp_", "error_"], "")
        .router_link()
        .group("For counters and diagnosis.")
        .output("event_index", 5, "Index of the current total.")
        .output("event_data", 32, "Its total.")
        .instances(&names)
        .build()
}

/// Ports between a tile and PaD, `times` ("TILES*" or nothing) as wide.
pub(in crate::emit::rtl) fn compute_side(
    b: ModuleBuilder,
    prefetcher: &ModuleSpec,
    transport: &ModuleSpec,
    times: &str,
) -> ModuleBuilder {
    let w = |width: &str| format!("{times}{width}").replace("*1", "");
    b.query("vector", Dir::Output, PLACE, times)
        .ports_of(prefetcher, &["job_"], times)
        .ports_of(transport, &["kv_"], times)
        .group("A flit of a partial result, for the reduce root of the column.")
        .input("part_valid", w("1").as_str(), "")
        .output("part_ready", w("1").as_str(), "")
        .input("part_first", w("1").as_str(), "First flit of its packet.")
        .input("part_last", w("1").as_str(), "Last flit of its packet.")
        .input("part_others", w("Y_WIDTH").as_str(), "Partial results of its head besides this one.")
        .input("part_stream", w("STREAM_WIDTH").as_str(), "Stream.")
        .input("part_layer", w("LAYER_WIDTH").as_str(), "Layer.")
        .input("part_head", w("HEAD_PLACE_WIDTH").as_str(), "Query head, by its place in the column.")
        .input("part_data", w("FLIT_WIDTH").as_str(), "The flit.")
        .group("A flit of a partial result that has arrived; row 0 has the reduce roots.")
        .output(
            "root_valid",
            w("SOURCES").as_str(),
            "One-hot: its virtual channel; the last bit: it is of this tile.",
        )
        .input(
            "root_credit",
            w("SOURCES").as_str(),
            "One pulse a flit that left the root's buffer of that source.",
        )
        .output("root_first", w("1").as_str(), "First flit of its packet.")
        .output("root_last", w("1").as_str(), "Last flit of its packet.")
        .output("root_others", w("Y_WIDTH").as_str(), "Partial results of its head besides this one.")
        .output("root_stream", w("STREAM_WIDTH").as_str(), "Stream.")
        .output("root_layer", w("LAYER_WIDTH").as_str(), "Layer.")
        .output("root_head", w("HEAD_PLACE_WIDTH").as_str(), "Query head, by its place in the column.")
        .output("root_x", w("X_WIDTH").as_str(), "Column of the sender.")
        .output("root_y", w("Y_WIDTH").as_str(), "")
        .output("root_data", w("FLIT_WIDTH").as_str(), "The flit.")
}
