//! Instances that keep their hierarchy in synthesis: every one that a pattern of the other constraints passes through.
//!
//! The constraints of implementation are looked up after synthesis. An instance that it dissolved has no name there, and
//! a register whose module was dissolved may be merged with an equal one. `meshkv lint` finds an instance that is
//! missing here.

use super::paths::{of_tile, CORE};
use super::pblocks::{boundaries, router, CHOICES, FRONT, OF_TILE, PERIPHERY, RESETS, TOKEN_WAYS};
use crate::design::Design;
use serde::Serialize;

/// Instances of one kind; a path with wildcards has a count.
#[derive(Serialize)]
pub(super) struct Kept {
    doc: &'static str,
    paths: String,
    count: u32,
    wild: bool,
}

/// Synchronizers and pointers of a FIFO between two clocks.
pub(super) const OF_FIFO: [&str; 4] = ["u_write", "u_read", "u_write_seen", "u_read_seen"];

/// Synchronizers of a word between two clocks.
const OF_REGISTER: [&str; 2] = ["u_sent_seen", "u_taken_seen"];

/// Instances of one kind, at some paths, as many as `count` in total.
pub(super) fn kept(doc: &'static str, paths: &[String], count: u32) -> Kept {
    let paths = paths.join(" ");
    Kept { doc, count, wild: paths.contains('*'), paths }
}

/// An instance and some below it.
pub(super) fn with(path: &str, parts: &[&str]) -> Vec<String> {
    [path.to_owned()].into_iter().chain(below(path, parts)).collect()
}

fn below(path: &str, parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| format!("{path}/{part}")).collect()
}

pub(super) fn insert(context: &mut tera::Context, design: &Design) {
    let mut all = core(design);
    all.extend(front(design));
    if boundaries(design).next().is_some() {
        all.extend(crossings(design));
        all.extend(ways(design));
    }
    context.insert("kept", &all);
}

/// Parts of the core, and what crosses between its clocks.
fn core(design: &Design) -> Vec<Kept> {
    let (tiles, cols) = (design.mesh.tiles() as u32, design.mesh.cols());
    let at = |path: &str| of_tile(path, "*");
    let fabric = format!("{CORE}u_fabric");
    let tile = at(OF_TILE[0]);
    let [transport, requester, fifo] =
        ["u_transport", "u_transport/u_requester", "u_transport/u_requester/u_fifo"]
            .map(|part| format!("{tile}/{part}"));
    let [jobs, parts] = ["u_jobs", "u_parts"].map(|part| format!("{}/{part}", at(OF_TILE[1])));
    let wiring = [CORE.trim_end_matches('/').to_owned(), fabric.clone(), format!("{fabric}/u_mesh")];
    let periphery = format!("{CORE}{PERIPHERY}");
    let mut all = vec![
        kept("Wiring around the parts of the core.", &wiring, 3),
        kept("Routers.", &[router("*", "*")], tiles),
        kept("Tiles: homes, requesters, staging memories.", &[tile], tiles),
        kept("PaD of each tile.", &[at(OF_TILE[1])], tiles),
        kept("Roots of the columns.", &[at("gen_pad[{t}].gen_root.u_root")], cols),
        kept("Periphery of the tiles.", std::slice::from_ref(&periphery), 1),
        kept("Its controllers of the columns.", &[format!("{periphery}/gen_column[*].u_controller")], cols),
        kept("Its memory ports.", &[format!("{periphery}/gen_port[*].u_port")], design.memory.ports),
        kept(
            "FIFO of requested flits, between two clocks, and the way to it.",
            &[transport, requester],
            2 * tiles,
        ),
        kept("The FIFO itself: pointers and synchronizers.", &with(&fifo, &OF_FIFO), 5 * tiles),
        kept("FIFO of queries and jobs.", &with(&jobs, &OF_FIFO), 5 * tiles),
        kept("Register of partial results.", &with(&parts, &OF_REGISTER), 3 * tiles),
    ];
    if !design.pe.overlap {
        let idle = [at("u_fabric/gen_tile[{t}].u_tile/u_transport/u_requester/u_idle")];
        all.push(kept("Synchronizer of an idle PaD.", &idle, tiles));
    }
    if design.flit.parity {
        let flawed = [at("u_fabric/gen_tile[{t}].u_tile/u_transport/u_array_flawed")];
        all.push(kept("Synchronizer of a wrong parity before the array.", &flawed, tiles));
    }
    if design.append.is_some() {
        let ports = [format!("{periphery}/gen_port[*].u_writes")];
        all.push(kept("Its ports of new tokens.", &ports, design.memory.ports));
    }
    all
}

/// The front and its crossings between clocks.
fn front(design: &Design) -> Vec<Kept> {
    let rows = design.mesh.rows();
    let pads = format!("{FRONT}/u_counters/u_pads");
    let reset = format!("{FRONT}/u_reset");
    let words = ["u_ask", "u_answer"].map(|word| with(&format!("{pads}/{word}"), &OF_REGISTER)).concat();
    let ways: Vec<_> = RESETS.iter().map(|way| format!("{reset}/gen_row[*].{way}")).collect();
    let leaves: Vec<_> = ways.iter().map(|way| format!("{way}/gen_tile[*].u_leaf")).collect();
    vec![
        kept("Front.", &with(FRONT, &["u_counters", "u_counters/u_pads", "u_reset"]), 4),
        kept("Query of a PaD counter and its answer.", &words, 6),
        kept("Synchronizers of the resets.", &below(&reset, &["u_asked", "u_held", "u_low"]), 3),
        kept("Resets of the rows.", &ways, 2 * rows),
        kept("Resets of the tiles.", &leaves, 2 * design.mesh.tiles() as u32),
    ]
}

/// Registers of the core at the boundaries of SLRs.
fn crossings(design: &Design) -> Vec<Kept> {
    let count = boundaries(design).count() as u32 * design.mesh.cols();
    let mesh =
        |side| format!("{CORE}u_fabric/u_mesh/gen_row[*].gen_col[*].gen_{side}.gen_crossing.u_crossing");
    // Tools differ in the scope of the branches of an `else if`.
    let tile = |block| of_tile(&format!("u_fabric/gen_tile[{{t}}].*{block}.u_crossing"), "*");
    let mut all = vec![
        kept("Registers of links between SLRs.", &["north", "south"].map(mesh), 2 * count),
        kept(
            "Registers of column buses and their credits.",
            &["gen_crossing", "gen_credit_crossing"].map(tile),
            2 * count,
        ),
    ];
    if design.swaps() {
        all.push(kept("Registers of occupancies.", &[tile("gen_up_crossing")], count));
    }
    all
}

/// Ways of the front: each pipeline, and its registers.
fn ways(design: &Design) -> Vec<Kept> {
    let rows = design.mesh.rows();
    let stages = |chains: &[String]| -> Vec<_> {
        chains.iter().map(|chain| format!("{chain}/gen_stage[*].u_crossing")).collect()
    };
    let registers = |row| 2 * design.boundaries(row);
    let of_rows: u32 = (0..rows).map(registers).sum();
    let far: Vec<_> = (0..rows).filter(|row| design.boundaries(*row) > 0).collect();
    let ports = |row: &u32| design.memory.ports_of_row(*row).count() as u32;
    let (far_ports, of_ports): (u32, u32) =
        (far.iter().map(ports).sum(), far.iter().map(|row| registers(*row) * ports(row)).sum());

    let resets: Vec<_> = RESETS.iter().map(|way| format!("{FRONT}/u_reset/gen_row[*].{way}")).collect();
    let errors = [format!("{FRONT}/gen_row[*].u_errors")];
    let slices = format!("{FRONT}/gen_port[*].u_slices");
    let chains = below(&slices, &["gen_far.u_asks", "gen_far.u_beats"]);
    let choices: Vec<_> = CHOICES.iter().map(|choice| format!("{FRONT}/{choice}")).collect();
    let of_choice = |part| -> Vec<_> { choices.iter().map(|choice| format!("{choice}/{part}")).collect() };
    let (words, asks) = (of_choice("gen_row[*].u_word"), of_choice("gen_boundary[*].u_ask"));
    let (kinds, most) = (CHOICES.len() as u32, design.boundaries(rows - 1));
    let mut all = vec![
        kept("Registers of the resets.", &stages(&resets), 2 * of_rows),
        kept("Pipelines of errors.", &errors, rows),
        kept("Their registers.", &stages(&errors), of_rows),
        kept("Slices of the memory ports.", std::slice::from_ref(&slices), design.memory.ports),
        kept("Credits of their addresses.", &below(&slices, &["gen_far.u_credits"]), far_ports),
        kept("Their pipelines.", &chains, 2 * far_ports),
        kept("Registers of those.", &stages(&chains), 2 * of_ports),
        kept("Multiplexers of totals.", &choices, kinds),
        kept("Their parts at each row.", &of_choice("gen_row[*].u_row"), kinds * rows),
        kept("Pipelines of totals.", &words, kinds * rows),
        kept("Their registers.", &stages(&words), kinds * of_rows),
        kept("Pipelines of queries.", &asks, kinds * most),
        kept("Their registers.", &stages(&asks), 2 * kinds * most),
    ];
    if design.append.is_some() {
        let tokens: Vec<_> = TOKEN_WAYS.iter().map(|way| format!("{FRONT}/gen_port[*].{way}")).collect();
        all.push(kept("Pipelines of new tokens.", &tokens, 2 * design.memory.ports));
        all.push(kept("Their registers.", &stages(&tokens), 2 * of_ports));
    }
    all
}
