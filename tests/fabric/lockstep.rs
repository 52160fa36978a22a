//! The model of the fabric drives every port as the verilated fabric does, in every cycle: the whole fabric, and
//! tiles and periphery alone, with a stand-in for the network between the tiles.

use crate::support::sources::source_mut;
use crate::support::verilated::{design, library_of};
use meshkv::config::{Config, PlacementKind};
use meshkv::cosim::build::{endpoint_ports, BuildForm};
use meshkv::cosim::dut::model_ports::FabricPorts;
use meshkv::cosim::dut::ports::DutPorts;
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::workloads::random::{fabric_ports, Pace, RandomFabric, LIVELY};
use meshkv::design::Design;
use meshkv::emit::{emit, SourceFile};
use meshkv::eval::SoakFabric;

/// A configuration by name and change.
type Case = (&'static str, fn(&mut Config));

/// Runs both side by side until they differ.
fn compare(
    form: BuildForm,
    design: &Design,
    files: &[SourceFile],
    pace: Pace,
    cycles: u64,
) -> Result<RandomFabric, String> {
    let top = if form == BuildForm::NetworkEndpoints { endpoint_ports(design) } else { fabric_ports(design) };
    let library = library_of(form, design, files);
    let model: Box<dyn DutPorts> = Box::new(FabricPorts::new(design, &top));
    let both = [("the Verilog", verilated(&library, 7).expect("it fits into memory")), ("the model", model)];
    let mut fabric = RandomFabric::both(both, &top, design, pace, 7).expect("both have these ports");
    fabric.run(cycles)?;
    Ok(fabric)
}

/// A small fabric with heads of several KV heads in a column.
fn small(cols: u32, rows: u32, change: impl FnOnce(&mut Config)) -> Design {
    design(cols, rows, |c| {
        (c.model.heads, c.model.kv_heads, c.model.max_streams) = (6, 3, 4);
        (c.kv.uram_per_tile, c.kv.banks, c.pad.fifo_depth) = (1, 2, Some(16));
        // Pairs of tiles, of which a row of three has one and a tile alone: both kinds of port.
        c.memory.tiles_per_port = Some(2);
        change(c);
    })
}

fn same(form: BuildForm, design: &Design, pace: Pace, cycles: u64) -> RandomFabric {
    let files = emit(design).expect("every legal design is emitted");
    compare(form, design, &files, pace, cycles).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_model_shows_what_the_fabric_shows() {
    let wide = small(2, 2, |c| (c.noc.flit_width, c.kv.uram_per_tile) = (128, 2));
    let seen = same(BuildForm::FabricPieces, &wide, LIVELY, 6000).seen;
    assert!(seen.jobs > 50 && seen.flits > 3000 && seen.roots > 1000 && seen.bursts > 500, "{seen:?}");
}

#[test]
fn homes_that_swap_do_so_in_the_model() {
    let pace = Pace { segments: 1, step: 2, queries: 128, ..LIVELY };
    // Descriptors of a segment each come fast: more layers pass before one is named again.
    let design = small(3, 2, |c| (c.takv.swap_epoch, c.model.layers) = (Some(1), 16));
    let seen = same(BuildForm::FabricPieces, &design, pace, 12_000).seen;
    assert!(seen.occupancies > 12 && seen.swaps > 0, "{seen:?}");
}

/// Each design changes several features, so that every feature is present in some design and absent in another.
const CASES: [Case; 8] = [
    ("hub, no MaRe", |c| (c.takv.placement, c.mare.enable) = (PlacementKind::Hub, false)),
    ("round robin, no MaRe, other channels", |c| {
        (c.takv.placement, c.mare.enable) = (PlacementKind::RoundRobin, false);
        (c.noc.vn0_vcs, c.noc.vn1_vcs) = (1, 4);
    }),
    ("everything", |_| {}),
    ("column stride, short segments, wide flits", |c| {
        (c.takv.column_stride, c.kv.segment_tokens) = (1, 5);
        (c.noc.flit_width, c.kv.uram_per_tile, c.pe.head_dim) = (256, 4, 64);
    }),
    ("no multicast, no window", |c| (c.mare.multicast, c.mare.coalesce_window) = (false, 0)),
    ("no duplicate suppression, shallow buffers", |c| {
        (c.mare.dedup, c.noc.vc_depth, c.pad.fifo_depth, c.noc.vn1_vcs) = (false, 2, Some(7), 3);
    }),
    ("no overlap, small tables", |c| {
        c.pad.enable = false;
        (c.mare.request_entries, c.mare.tag_entries, c.mare.bloom_bits, c.mare.bloom_refresh) = (2, 1, 16, 5);
    }),
    ("hub in the middle, no window, no swaps", |c| {
        (c.takv.placement, c.takv.hub_x, c.takv.hub_y) = (PlacementKind::Hub, 1, 1);
        (c.mare.coalesce_window, c.takv.swap_epoch) = (0, Some(0));
    }),
];

/// Compares tiles and periphery in some of the cases, under any network.
fn same_under_any_network(cases: &[Case]) {
    for (name, change) in cases {
        let design = small(3, 2, change);
        let files = emit(&design).expect("every legal design is emitted");
        let fabric = compare(BuildForm::NetworkEndpoints, &design, &files, LIVELY, 6000)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let (seen, events) = (&fabric.seen, fabric.events());
        assert!(seen.jobs > 15 && seen.flits > 500 && seen.roots > 300, "{name}: {seen:?}");
        assert!(events["fetches"] > 100 && events["flits_kept"] > 100, "{name}: {events:?}");
    }
}

#[test]
fn ports_of_any_number_of_tiles_show_the_same() {
    // A port a tile; a pair and a tile alone; four and a tile alone; five that a port for eight has.
    for (cols, tiles) in [(3, 1), (3, 2), (5, 4), (9, 8)] {
        // The descriptors of a larger fabric are served later, so more layers pass before one is named again.
        let design = small(cols, 2, |c| (c.memory.tiles_per_port, c.model.layers) = (Some(tiles), 8));
        assert_eq!(design.memory.ports, 2 * cols.div_ceil(tiles));
        let seen = same(BuildForm::NetworkEndpoints, &design, LIVELY, 3000).seen;
        assert!(seen.bursts > 200, "{cols} columns, {tiles} tiles a port: {seen:?}");
    }
}

#[test]
fn tiles_and_periphery_show_the_same_under_any_network() {
    same_under_any_network(&CASES[..4]);
}

#[test]
fn tiles_and_periphery_show_the_same_whatever_they_lack() {
    same_under_any_network(&CASES[4..]);
}

#[test]
#[ignore = "random designs: SEEDS=0..20 cargo test --test all -- --ignored --nocapture fabric::lockstep::any_design"]
fn tiles_and_periphery_of_any_design_show_the_same_under_any_network() {
    let seeds = std::env::var("SEEDS").unwrap_or_else(|_| "0..4".to_owned());
    let (from, to) = seeds.split_once("..").expect("SEEDS is FROM..TO");
    let number = |text: &str| text.parse::<u64>().expect("a seed");
    for seed in number(from)..number(to) {
        // Its decode steps are what `meshkv soak` takes through the whole.
        let SoakFabric { design, .. } = SoakFabric::of(seed);
        let files = emit(&design).expect("every legal design is emitted");
        let what = match compare(BuildForm::NetworkEndpoints, &design, &files, LIVELY, 5000) {
            Ok(fabric) => format!("{:?}", fabric.seen),
            // Descriptors at random may say what no driver must: both stop there.
            Err(e) if e.contains("names a slice again") => e,
            Err(e) => panic!("seed {seed}: {e}\n{:#?}", design.configuration()),
        };
        println!("seed {seed}, {} tiles, random descriptors: {what}", design.mesh.tiles());
    }
}

/// Changes of one module each, and the name of the port at which the fault shows.
const MUTANTS: [(&str, &str, &str, &str); 6] = [
    // Windows end although the home is busy.
    ("meshkv_request_table", "few_q   <= ~|(closed & (closed - 1'b1));", "few_q   <= 1'b1;", "tx_valid"),
    // A slice is filled from one flit on.
    ("meshkv_filler", "assign req_first  = from_q;", "assign req_first  = from_q + 1'b1;", "m_axi_araddr"),
    // Turns of a group begin at the next segment.
    (
        "meshkv_column_controller",
        "place   = rho_s1_q + turn_s1_q;",
        "place   = rho_s1_q + turn_s1_q + 1'b1;",
        "vector_valid",
    ),
    // A descriptor begins while queries wait.
    ("meshkv_column_controller", "& (loading | ~hold);", ";", "vector_valid"),
    // A group gives its first word again and again.
    ("meshkv_query_words", "words[at_q*64+:64]", "words[63:0]", "vector_data"),
    // The half that is forgotten is that of this step.
    ("meshkv_occupancy", "both[VALUE_WIDTH:1]", "sum_q", "occupancy_value"),
];

#[test]
fn a_module_that_does_something_else_is_a_difference() {
    for (module, from, to, port) in MUTANTS {
        // Which port shows it first is a matter of cycles: it was looked up without registers between SLRs.
        let design = small(3, 2, |c| {
            (c.takv.swap_epoch, c.floorplan.slr_registers) = (Some(1), false);
            // Groups of more than one word.
            (c.noc.flit_width, c.kv.uram_per_tile) = (128, 2);
        });
        let mut files = emit(&design).expect("every legal design is emitted");
        let file = source_mut(&mut files, module);
        assert_eq!(file.text.matches(from).count(), 1, "{from:?} stands in {module} once");
        file.text = file.text.replace(from, to);
        let pace = Pace { segments: 1, step: 2, queries: 128, ..LIVELY };
        let difference =
            compare(BuildForm::NetworkEndpoints, &design, &files, pace, 6000).err().expect(module);
        assert!(difference.contains(port), "{module}: {difference}");
    }
}
