//! Floorplan of the fabric: half-SLR regions, and the instances in each.

use super::paths::{of_tile, port_bits, CORE};
use crate::design::depths::VALUE_WIDTH;
use crate::design::{Design, Fpga, Slr, COUNTER_KINDS, SELECT_TILE_BITS, TOKEN_WAY_BITS, TOTAL_BITS};
use crate::emit::rtl::spec::module::ModuleSpec;
use crate::emit::rtl::spec::names::TILE;
use serde::Serialize;

/// A region with its cells, one list of names a line.
#[derive(Serialize)]
struct Pblock {
    name: String,
    doc: String,
    region: String,
    cells: Vec<Cells>,
}

/// Names of some cells; a name may have a wildcard, but matches one cell.
#[derive(Serialize)]
struct Cells {
    names: String,
    count: usize,
}

impl Cells {
    fn of(names: &[String]) -> Cells {
        Cells { names: names.join(" "), count: names.len() }
    }
}

/// Registers on the far side of a boundary between two SLRs.
#[derive(Serialize)]
struct Link {
    doc: String,
    path: String,
    bits: u32,
}

/// Instances of every tile, by the tile's number.
pub(super) const OF_TILE: [&str; 2] = ["u_fabric/gen_tile[{t}].u_tile", "gen_pad[{t}].u_pad"];

pub(super) fn router(x: impl std::fmt::Display, y: impl std::fmt::Display) -> String {
    format!("{CORE}u_fabric/u_mesh/gen_row[{y}].gen_col[{x}].u_router")
}

/// Instances of the periphery and the front.
pub(super) const FRONT: &str = "u_front";
pub(super) const PERIPHERY: &str = "u_fabric/u_periphery";

pub(super) fn insert(context: &mut tera::Context, design: &Design, modules: &[ModuleSpec]) {
    let device = design.fpga();
    let rows: Vec<_> =
        device.slrs.iter().map(|slr| design.floorplan.rows_of(slr.index).len().to_string()).collect();
    context.insert("dealt", &rows.join(", "));
    context.insert("pblocks", &pblocks(design, device));
    context.insert("crossings", &links(design, port_bits(modules, TILE, &["rx_s_bus_data"])));
}

/// Columns of the western half, and of the eastern, which is larger.
fn halves(cols: u32) -> [(&'static str, std::ops::Range<u32>); 2] {
    [("west", 0..cols / 2), ("east", cols / 2..cols)]
}

fn pblocks(design: &Design, device: &Fpga) -> Vec<Pblock> {
    let mut pblocks = vec![interfaces(device)];
    for slr in &device.slrs {
        let rows = design.floorplan.rows_of(slr.index);
        if rows.is_empty() {
            continue;
        }
        for (half, cols) in halves(design.mesh.cols()) {
            let mut cells: Vec<_> = rows.clone().map(|y| cells_of_row(design, y, cols.clone())).collect();
            cells.extend(of_front(design, slr.index, half).filter(|_| slr.index > 0));
            let (first, last) = (rows.start, rows.end - 1);
            pblocks.push(Pblock {
                name: format!("meshkv_slr{}_{half}", slr.index),
                doc: format!("Rows {first} to {last}, columns {} to {}.", cols.start, cols.end - 1),
                region: region(slr, device.clock_columns, half == "east"),
                cells,
            });
        }
    }
    pblocks
}

/// The region of host and memory interfaces, in the SLR that has both.
fn interfaces(device: &Fpga) -> Pblock {
    let slr = &device.slrs[0];
    let [y, top] = [slr.first_clock_row, slr.first_clock_row + 3];
    Pblock {
        name: "meshkv_slr0".to_owned(),
        doc: "Host and memory interfaces: next to HBM and PCIe.".to_owned(),
        region: format!("CLOCKREGION_X0Y{y}:CLOCKREGION_X{}Y{top}", device.clock_columns - 1),
        cells: vec![Cells::of(&[FRONT.to_owned()])],
    }
}

/// Rows whose link to the north passes registers.
pub(super) fn boundaries(design: &Design) -> impl Iterator<Item = u32> + '_ {
    (0..design.mesh.rows()).filter(|y| design.crossings() >> y & 1 == 1)
}

pub(super) fn mesh_crossing(x: impl std::fmt::Display, y: u32, side: &str) -> String {
    format!("{CORE}u_fabric/u_mesh/gen_row[{y}].gen_col[{x}].gen_{side}.gen_crossing.u_crossing")
}

fn tile_crossing(tile: u32, block: &str) -> String {
    // Tools differ in the scope of the branches of an `else if`.
    of_tile(&format!("u_fabric/gen_tile[{{t}}].*{block}.u_crossing"), tile)
}

/// Registers of a tile at a boundary: for wires from the row south of it, and from the row north of it.
fn crossings_at(design: &Design, x: u32, y: u32) -> Vec<String> {
    let tile = y * design.mesh.cols() + x;
    let mut names = Vec::new();
    for row in boundaries(design) {
        if row == y {
            names.push(mesh_crossing(x, y, "north"));
            names.push(tile_crossing(tile, "gen_credit_crossing"));
            names.extend(design.swaps().then(|| tile_crossing(tile, "gen_up_crossing")));
        } else if row + 1 == y {
            names.push(mesh_crossing(x, y, "south"));
            names.push(tile_crossing(tile, "gen_crossing"));
        }
    }
    names
}

/// Registers between SLRs, by boundary and kind.
fn links(design: &Design, bus_bits: u32) -> Vec<Link> {
    let (cols, flit) = (design.mesh.cols(), &design.flit);
    let payload = flit.carried_width() + flit.link_parity();
    let link = 2 * design.router.vcs() + flit.column_dest_width + flit.head_width + payload;
    let mut links = Vec::new();
    for y in boundaries(design) {
        let of_bus = |row: u32, block: &str| -> Vec<String> {
            (0..cols).map(|x| tile_crossing(row * cols + x, block)).collect()
        };
        let between = format!("between rows {y} and {}", y + 1);
        let mut add = |what: &str, names: Vec<String>, bits: u32| {
            let path: Vec<_> = names.iter().map(|name| format!("{name}/crossing_q_reg*")).collect();
            links.push(Link { doc: format!("{what} {between}."), path: path.join(" "), bits });
        };
        let mesh = vec![mesh_crossing("*", y, "north"), mesh_crossing("*", y + 1, "south")];
        add("Links", mesh, 2 * cols * link);
        add("Column buses", of_bus(y + 1, "gen_crossing"), cols * (bus_bits + 1));
        add("Their credits", of_bus(y, "gen_credit_crossing"), cols);
        if design.swaps() {
            add("Occupancies", of_bus(y, "gen_up_crossing"), cols * (VALUE_WIDTH + 1));
        }
    }
    links.extend(links_of_front(design));
    links
}

/// Both registers at every boundary of the front's pipelines, by their payload.
fn links_of_front(design: &Design) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    let mut add = |doc: &str, stages: &[String], bits: u32| {
        let path: Vec<_> = stages.iter().map(|stage| format!("{stage}/crossing_q_reg*")).collect();
        match links.iter_mut().find(|link| link.doc == doc) {
            Some(link) => {
                link.path = format!("{} {}", link.path, path.join(" "));
                link.bits += bits;
            }
            None => links.push(Link { doc: doc.to_owned(), path: path.join(" "), bits }),
        }
    };
    for way in ways(design) {
        let stages = 2 * design.boundaries(way.row);
        let all = format!("{}/gen_stage[*].u_crossing", way.chain);
        add(&format!("{}, between row {} and SLR0.", way.doc, way.row), &[all], stages * way.bits);
    }
    let asked: Vec<_> = (0..3).flat_map(|slr| questions(design, slr)).collect();
    if !asked.is_empty() {
        add("Queries of totals.", &asked, SELECT_TILE_BITS * asked.len() as u32);
    }
    links
}

/// A region that overlaps the shell.
#[derive(Serialize)]
pub(super) struct Taken {
    pblock: String,
    region: String,
}

/// Regions of the Vitis platform's shell: the easternmost clock regions except the lowest.
pub(super) fn shell(design: &Design, device: &Fpga) -> Vec<Taken> {
    let east = device.clock_columns - 1;
    let taken = |pblock: String, slr: &Slr| {
        let (bottom, top) = (slr.first_clock_row.max(1), slr.first_clock_row + 3);
        Taken { pblock, region: format!("CLOCKREGION_X{east}Y{bottom}:CLOCKREGION_X{east}Y{top}") }
    };
    let used = |slr: &&Slr| !design.floorplan.rows_of(slr.index).is_empty();
    let mut all = vec![taken("meshkv_slr0".to_owned(), &device.slrs[0])];
    let rows = device.slrs.iter().filter(used);
    all.extend(rows.map(|slr| taken(format!("meshkv_slr{}_east", slr.index), slr)));
    all
}

/// Half of an SLR as a range of clock regions.
fn region(slr: &Slr, columns: u32, east: bool) -> String {
    let (first, last) = if east { (columns / 2, columns - 1) } else { (0, columns / 2 - 1) };
    let (bottom, top) = (slr.first_clock_row, slr.first_clock_row + 3);
    format!("CLOCKREGION_X{first}Y{bottom}:CLOCKREGION_X{last}Y{top}")
}

/// Multiplexers of tiles' totals, below the front.
pub(super) const CHOICES: [&str; COUNTER_KINDS as usize] =
    ["u_counters/u_links", "u_counters/u_events", "u_counters/u_pads/u_choice"];

/// Pipelines of a row's resets, one in each clock.
pub(super) const RESETS: [&str; 2] = ["u_rst", "u_pe_rst"];

/// Pipelines of new tokens of a memory port: words to its writer, and their credits.
pub(super) const TOKEN_WAYS: [&str; 2] = ["u_words", "u_word_credits"];

/// A pipeline between a row's SLR and the front's, register by register.
struct Way {
    /// Path of the chain below the top.
    chain: String,
    /// The row at one end.
    row: u32,
    /// Direction is from the front to the row.
    outward: bool,
    /// Width in bits.
    bits: u32,
    /// Its row end is in the eastern half of the device.
    east: bool,
    /// Its payload.
    doc: &'static str,
}

impl Way {
    /// Paths of its registers in an SLR. There is one on each side of every boundary.
    fn stages(&self, design: &Design, slr: u32) -> Vec<String> {
        let boundaries = design.boundaries(self.row);
        let at = |s: &u32| {
            let passed = s.div_ceil(2);
            slr == if self.outward { passed } else { boundaries - passed }
        };
        let path = |s| format!("{}/gen_stage[{s}].u_crossing", self.chain);
        (0..2 * boundaries).filter(at).map(path).collect()
    }
}

fn slices(port: u32) -> String {
    format!("{FRONT}/gen_port[{port}].u_slices/gen_far")
}

/// All pipelines across boundaries.
fn ways(design: &Design) -> Vec<Way> {
    let cols = design.mesh.cols();
    let east = halves(cols)[1].1.start;
    let [ask, beat] = design.way_bits();
    let mut ways = Vec::new();
    for row in (0..design.mesh.rows()).filter(|row| design.boundaries(*row) > 0) {
        let way = |chain, outward, bits, doc| Way { chain, row, outward, bits, east: false, doc };
        for (x, port) in design.memory.ports_of_row(row) {
            let asks = way(format!("{}.u_asks", slices(port)), false, ask, "Read addresses");
            let beats = way(format!("{}.u_beats", slices(port)), true, beat, "Read data");
            let mut here = vec![asks, beats];
            if design.append.is_some() {
                let [words, credits] = TOKEN_WAYS.map(|way| format!("{FRONT}/gen_port[{port}].{way}"));
                here.push(way(words, false, TOKEN_WAY_BITS, "New tokens"));
                here.push(way(credits, true, 1, "Credits of new tokens"));
            }
            ways.extend(here.into_iter().map(|way| Way { east: x >= east, ..way }));
        }
        for reset in RESETS {
            ways.push(way(format!("{FRONT}/u_reset/gen_row[{row}].{reset}"), true, 1, "Resets"));
        }
        ways.push(way(
            format!("{FRONT}/gen_row[{row}].u_errors"),
            false,
            design.error_bits() * cols,
            "Errors of tiles",
        ));
        for choice in CHOICES {
            let word = format!("{FRONT}/{choice}/gen_row[{row}].u_word");
            ways.push(way(word, false, TOTAL_BITS, "Counter totals"));
        }
    }
    ways
}

/// The front's cells outside SLR0: the ports' ends of its slices, the multiplexers of totals at the rows, and
/// pipeline registers in each SLR.
fn of_front(design: &Design, slr: u32, half: &str) -> Option<Cells> {
    let east = half == "east";
    let mut names = Vec::new();
    for row in design.floorplan.rows_of(slr).filter(|row| design.boundaries(*row) > 0) {
        let first = |x: u32| east == (x >= halves(design.mesh.cols())[1].1.start);
        let senders = design.memory.ports_of_row(row).filter(|(x, _)| first(*x));
        names.extend(senders.map(|(_, port)| format!("{}.u_credits", slices(port))));
        if !east {
            names.extend(CHOICES.map(|choice| format!("{FRONT}/{choice}/gen_row[{row}].u_row")));
        }
    }
    names.extend(ways(design).iter().filter(|way| way.east == east).flat_map(|way| way.stages(design, slr)));
    if !east {
        names.extend(questions(design, slr));
    }
    (!names.is_empty()).then(|| Cells::of(&names))
}

/// Queries of totals cross every boundary once, for all rows beyond it.
fn questions(design: &Design, slr: u32) -> Vec<String> {
    let most = design.boundaries(design.mesh.rows() - 1);
    let path = |(choice, boundary, stage)| {
        format!("{FRONT}/{choice}/gen_boundary[{boundary}].u_ask/gen_stage[{stage}].u_crossing")
    };
    let sides = [(slr.checked_sub(1), 1), (Some(slr).filter(|slr| *slr < most), 0)];
    let here = sides.into_iter().filter_map(|(boundary, stage)| Some((boundary?, stage)));
    let here = here.filter(|(boundary, _)| *boundary < most);
    here.flat_map(|(boundary, stage)| CHOICES.map(|choice| path((choice, boundary, stage)))).collect()
}

/// All instances of a row of tiles, in some of its columns.
fn cells_of_row(design: &Design, y: u32, cols: std::ops::Range<u32>) -> Cells {
    let mut names = Vec::new();
    for x in cols {
        let tile = y * design.mesh.cols() + x;
        names.push(router(x, y));
        names.extend(OF_TILE.map(|at| of_tile(at, tile)));
        names.extend(RESETS.map(|way| format!("{FRONT}/u_reset/gen_row[{y}].{way}/gen_tile[{x}].u_leaf")));
        names.extend(crossings_at(design, x, y));
        if y == 0 {
            names.push(of_tile("gen_pad[{t}].gen_root.u_root", tile));
            names.push(format!("{CORE}{PERIPHERY}/gen_column[{x}].u_controller"));
        }
        // A port is placed at the first of its tiles.
        if design.memory.place(x) == 0 {
            let port = design.memory.port(x, y);
            names.push(format!("{CORE}{PERIPHERY}/gen_port[{port}].u_port"));
            if design.append.is_some() {
                names.push(format!("{CORE}{PERIPHERY}/gen_port[{port}].u_writes"));
            }
        }
    }
    Cells::of(&names)
}
