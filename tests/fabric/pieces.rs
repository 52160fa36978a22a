//! A fabric in pieces, connected by C++, equals the emitted fabric at every port in every cycle.

use crate::support::sources::source_mut;
use crate::support::verilated::{design, library_of};
use meshkv::config::{Config, PlacementKind};
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::workloads::random::{fabric_ports, Pace, RandomFabric, Seen, LIVELY};
use meshkv::design::Design;
use meshkv::emit::{emit, SourceFile};
use std::time::Instant;

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

/// Runs both forms side by side until they differ; returns the events of both.
fn compare(design: &Design, files: &[SourceFile], pace: Pace, cycles: u64) -> Result<Seen, String> {
    let socket = |form| verilated(&library_of(form, design, files), 7).expect("it fits into memory");
    let both =
        [("the whole", socket(BuildForm::WholeFabric)), ("in pieces", socket(BuildForm::FabricPieces))];
    let mut fabric =
        RandomFabric::both(both, &fabric_ports(design), design, pace, 7).expect("both have these ports");
    fabric.run(cycles)?;
    Ok(fabric.seen)
}

/// The events of forms that must not differ.
fn same(design: &Design, pace: Pace, cycles: u64) -> Seen {
    let files = emit(design).expect("every legal design is emitted");
    compare(design, &files, pace, cycles).unwrap_or_else(|e| panic!("whole and in pieces: {e}"))
}

#[test]
fn pieces_show_what_the_fabric_shows() {
    // Wide enough that what is only data does not wait for the falling edge.
    let seen = same(&small(2, 2, |c| (c.noc.flit_width, c.kv.uram_per_tile) = (128, 2)), LIVELY, 6000);
    assert!(seen.jobs > 50 && seen.flits > 3000 && seen.roots > 1000 && seen.bursts > 500, "{seen:?}");
}

#[test]
fn homes_that_swap_do_so_in_pieces() {
    let pace = Pace { segments: 1, step: 2, ..LIVELY };
    // Descriptors wait for queries and for swaps, so more layers pass before one is named again.
    let seen = same(&small(3, 2, |c| (c.takv.swap_epoch, c.model.layers) = (Some(1), 8)), pace, 12_000);
    assert!(seen.occupancies > 12 && seen.swaps > 0, "{seen:?}");
}

#[test]
fn a_fabric_without_swaps_has_no_chain_of_occupancies() {
    let seen = same(&small(2, 2, |c| c.takv.swap_epoch = Some(0)), LIVELY, 6000);
    assert!(seen.flits > 3000, "{seen:?}");
}

#[test]
fn all_slices_may_be_at_a_hub() {
    let hub = |c: &mut Config| {
        c.takv.placement = PlacementKind::Hub;
        (c.takv.hub_x, c.takv.hub_y) = (2, 1);
    };
    let seen = same(&small(3, 2, hub), LIVELY, 6000);
    assert!(seen.flits > 1000, "{seen:?}");
}

#[test]
fn copies_of_a_home_may_be_unicast() {
    let seen = same(&small(3, 2, |c| c.mare.enable = false), LIVELY, 6000);
    assert!(seen.flits > 2000, "{seen:?}");
}

#[test]
fn crossed_columns_of_the_fabric_are_a_difference() {
    let design = small(2, 2, |c| c.takv.swap_epoch = Some(0));
    let mut files = emit(&design).expect("every legal design is emitted");
    let fabric = source_mut(&mut files, "meshkv_fabric");
    assert!(fabric.text.contains("= bus_valid[X];"));
    fabric.text = fabric.text.replace("= bus_valid[X];", "= bus_valid[COLS-1-X];");
    assert!(compare(&design, &files, LIVELY, 6000).is_err());
}

/// Prints the build time and the speed of a form at the size of the reference.
fn speed(form: BuildForm) {
    let mut config = Config::default();
    (config.mesh.cols, config.mesh.rows, config.noc.flit_width) = (8, 8, 512);
    let design = Design::from_config("speed", &config).expect("a legal configuration");
    let files = emit(&design).expect("every legal design is emitted");
    let started = Instant::now();
    let library = library_of(form, &design, &files);
    println!("{}: built or found in {:.1} s", form.name(), started.elapsed().as_secs_f64());
    let idle = Pace { descriptors: false, takes: 16, parts: 0, latency: 1, errors: 0, ..LIVELY };
    let busy = Pace { descriptors: true, parts: 1, latency: 100, ..idle };
    for (what, pace) in [("idle", idle), ("busy", busy)] {
        let mut fabric = RandomFabric::new(&library, &design, pace, 1).expect("it comes out of reset");
        let cycles = 20_000;
        fabric.run(cycles).expect("no check fires");
        let speed = cycles as f64 / fabric.running.as_secs_f64();
        println!("{}, {what}: {speed:.0} cycles/s, {:?}", form.name(), fabric.seen);
    }
}

#[test]
#[ignore = "a measurement: cargo test --test all -- --ignored --nocapture fabric::pieces::speed_in_pieces"]
fn speed_in_pieces() {
    speed(BuildForm::FabricPieces);
}

#[test]
#[ignore = "a measurement of many minutes: cargo test --test all -- --ignored --nocapture fabric::pieces::speed_of_the_whole"]
fn speed_of_the_whole() {
    speed(BuildForm::WholeFabric);
}
