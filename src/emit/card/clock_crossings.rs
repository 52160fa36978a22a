//! Clock domain crossings: every FIFO, register and synchronizer, with the widths that constraints count.

use super::paths::{of_tile, port_bits};
use crate::design::{index_bits, Array, Design, JOB_DEPTH};
use crate::emit::rtl::spec::module::ModuleSpec;
use crate::emit::rtl::spec::names::PAD;
use serde::Serialize;

/// FIFOs of one kind, or registers of one word.
#[derive(Clone, Serialize)]
pub(super) struct Crossing {
    doc: String,
    /// Pattern of the instances.
    path: String,
    instances: Vec<String>,
    count: u32,
    /// Name of the clock of the writer, and of the reader.
    writer: &'static str,
    reader: &'static str,
    /// Bits of a pointer, of the pointers of all instances, and of the registers of both their synchronizers.
    gray: u32,
    gray_bits: u32,
    sync_bits: u32,
    /// Bits of all words read into registers; 0 if block RAM has a port for each clock.
    data_bits: u32,
    /// Words are read into registers.
    reads_words: bool,
}

impl Crossing {
    fn fifo(doc: String, at: &str, tiles: u32, gray: u32, width: u32) -> Crossing {
        let instances: Vec<_> = (0..tiles).map(|t| of_tile(at, t)).collect();
        Crossing {
            doc,
            path: of_tile(at, "*"),
            count: tiles,
            writer: "net",
            reader: "pe",
            gray,
            gray_bits: gray * tiles,
            sync_bits: 4 * gray * tiles,
            data_bits: width * tiles,
            reads_words: width > 0,
            instances,
        }
    }

    /// A FIFO of words of `width` bits between two clocks.
    pub(super) fn one_fifo(
        doc: &str,
        path: &str,
        clocks: [&'static str; 2],
        depth: u32,
        width: u32,
    ) -> Crossing {
        let fifo = Crossing::fifo(doc.to_owned(), "", 1, gray(depth), width);
        let [writer, reader] = clocks;
        Crossing { path: path.to_owned(), instances: vec![path.to_owned()], writer, reader, ..fifo }
    }

    fn register(doc: String, at: &str, tiles: u32, width: u32) -> Crossing {
        let fifo = Crossing::fifo(doc, at, tiles, 1, width);
        Crossing { writer: "pe", reader: "net", ..fifo }
    }
}

/// Bits of a pointer into a FIFO: a position and the round.
fn gray(depth: u32) -> u32 {
    index_bits(depth) + 1
}

pub(super) fn insert(context: &mut tera::Context, design: &Design, modules: &[ModuleSpec]) {
    let tiles = design.mesh.tiles() as u32;
    let bits = |names: &[&str]| port_bits(modules, PAD, names);
    let query = bits(&["vector_data", "vector_word", "vector_head", "vector_stream"]);
    let slice = bits(&[
        "job_last_row",
        "job_first_row",
        "job_streams",
        "job_stream",
        "job_mask",
        "job_tag",
        "job_lag",
        "job_mapping",
    ]);
    let parity = u32::from(design.flit.parity);
    let flit = bits(&["kv_data", "kv_mask", "kv_index", "kv_tag"]) + parity;
    let fifos = [
        Crossing::fifo(
            "Requested flits, to PaD.".to_owned(),
            "u_fabric/gen_tile[{t}].u_tile/u_transport/u_requester/u_fifo",
            tiles,
            gray(design.mare.fifo_depth),
            if Array::fifo_in_block(design) { 0 } else { flit },
        ),
        Crossing::fifo(
            "Queries and jobs, to PaD.".to_owned(),
            "gen_pad[{t}].u_pad/u_jobs",
            tiles,
            gray(JOB_DEPTH),
            2 + query.max(slice),
        ),
    ];
    let part = bits(&[
        "part_data",
        "part_others",
        "part_head",
        "part_layer",
        "part_stream",
        "part_last",
        "part_first",
    ]) + parity;
    let doc = "Partial results, from PaD to the network.".to_owned();
    let mut registers = vec![Crossing::register(doc, "gen_pad[{t}].u_pad/u_parts", tiles, part)];
    registers.extend(counters(modules));
    context.insert("fifos", &fifos);
    context.insert("registers", &registers);
    let mut single = resets().to_vec();
    if !design.pe.overlap {
        single.push(idle(tiles));
    }
    if design.flit.parity {
        single.push(flawed(tiles));
    }
    context.insert("bits", &single);
}

/// The query of a PaD counter and the answer with its total.
fn counters(modules: &[ModuleSpec]) -> [Crossing; 2] {
    let bits = |names: &[&str]| port_bits(modules, "meshkv_pad_view", names);
    let one = |doc: &str, name: &str, width, writer, reader| Crossing {
        path: format!("u_front/u_counters/u_pads/{name}"),
        writer,
        reader,
        ..Crossing::register(doc.to_owned(), "", 1, width)
    };
    [
        one("Query of a counter.", "u_ask", bits(&["ask_tile", "ask_index"]), "net", "pe"),
        one("Its total.", "u_answer", bits(&["total"]), "pe", "net"),
    ]
}

/// Bits that a synchronizer samples, each independently: `width` bits in all, from the writer's clock.
fn single(doc: &str, path: String, writer: &'static str, width: u32) -> Crossing {
    Crossing {
        doc: doc.to_owned(),
        path,
        instances: Vec::new(),
        count: 1,
        writer,
        reader: "",
        gray: 0,
        gray_bits: 0,
        sync_bits: 2 * width,
        data_bits: width,
        reads_words: width > 0,
    }
}

/// PaD is idle, where its stages run one after the other.
fn idle(tiles: u32) -> Crossing {
    let path = "u_fabric/gen_tile[{t}].u_tile/u_transport/u_requester/u_idle";
    single("PaD is idle, to the requester.", of_tile(path, "*"), "pe", tiles)
}

/// A word with a wrong parity has come to the array.
fn flawed(tiles: u32) -> Crossing {
    let path = "u_fabric/gen_tile[{t}].u_tile/u_transport/u_array_flawed";
    single("A word for the array had a wrong parity.", of_tile(path, "*"), "pe", tiles)
}

/// The reset request to the other clock, and its acknowledgement.
fn resets() -> [Crossing; 3] {
    let bit = |doc: &str, path: &str, writer| single(doc, path.to_owned(), writer, 1);
    [
        bit("Reset request, to PaD.", "u_front/u_reset/u_asked", "net"),
        bit("Reset has been held for long enough.", "u_front/u_reset/u_held", "pe"),
        bit("Reset is held.", "u_front/u_reset/u_low", "pe"),
    ]
}
