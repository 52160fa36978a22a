//! A fabric in pieces, joined by C++, is the fabric that is emitted: in every cycle every port shows the same.

#[path = "fabric/mod.rs"]
mod fabric;
mod stand;

use fabric::{design, library_of};
use meshkv::config::{Config, PlacementKind};
use meshkv::cosim::verilate::Form;
use meshkv::design::Design;
use meshkv::emit::emit;
use stand::{Pace, Seen, Stand, LIVELY};
use std::time::Instant;

/// A small fabric with heads of several KV heads in a column.
fn small(cols: u32, rows: u32, change: impl FnOnce(&mut Config)) -> Design {
    design(cols, rows, |c| {
        (c.model.heads, c.model.kv_heads, c.model.max_streams) = (6, 3, 4);
        (c.kv.uram_per_tile, c.kv.banks, c.pad.fifo_depth) = (1, 2, 16);
        change(c);
    })
}

/// Runs both forms of a design side by side; answers with what happened in both.
fn same(design: &Design, pace: Pace, cycles: u64) -> Seen {
    let files = emit(design).expect("every legal design is emitted");
    let stand = |form, seed| Stand::new(&library_of(form, design, &files), design, pace, seed);
    let (mut full, mut pieces) = (stand(Form::Full, 7), stand(Form::Pieces, 7));
    for _ in 0..cycles {
        full.tick();
        pieces.tick();
        if let Some(difference) = full.difference(&pieces) {
            panic!("whole and in pieces: {difference}");
        }
    }
    assert_eq!(full.seen, pieces.seen);
    println!("{:?}", full.seen);
    full.seen
}

#[test]
fn pieces_show_what_the_fabric_shows() {
    let seen = same(&small(2, 2, |_| {}), LIVELY, 6000);
    assert!(seen.jobs > 50 && seen.flits > 3000 && seen.roots > 1000 && seen.bursts > 500, "{seen:?}");
}

#[test]
fn homes_that_swap_do_so_in_pieces() {
    let pace = Pace { segments: 1, step: 2, ..LIVELY };
    let seen = same(&small(3, 2, |c| c.takv.swap_epoch = 1), pace, 12_000);
    assert!(seen.occupancies > 12 && seen.swaps > 0, "{seen:?}");
}

#[test]
fn a_fabric_without_swaps_has_no_chain_of_occupancies() {
    let seen = same(&small(2, 2, |c| c.takv.swap_epoch = 0), LIVELY, 6000);
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

/// What builds and runs at the size of the reference; not a test.
#[test]
#[ignore = "takes a quarter of an hour: cargo test --release --test pieces -- --ignored --nocapture"]
fn speed() {
    let mut config = Config::default();
    (config.mesh.cols, config.mesh.rows, config.noc.flit_width) = (8, 8, 512);
    let design = Design::from_config("speed", &config).expect("a legal configuration");
    let files = emit(&design).expect("every legal design is emitted");
    let idle = Pace { descriptors: false, takes: 16, parts: 0, latency: 1, errors: 0, ..LIVELY };
    let busy = Pace { descriptors: true, parts: 1, latency: 100, ..idle };
    for form in [Form::Pieces, Form::Full] {
        let started = Instant::now();
        let library = library_of(form, &design, &files);
        println!("{}: built in {:.1} s", form.name(), started.elapsed().as_secs_f64());
        for (what, pace, cycles) in [("idle", idle, 10_000), ("busy", busy, 20_000)] {
            let mut stand = Stand::new(&library, &design, pace, 1);
            let started = Instant::now();
            (0..cycles).for_each(|_| stand.tick());
            let speed = f64::from(cycles) / started.elapsed().as_secs_f64();
            println!("{}, {what}: {speed:.0} cycles/s, {:?}", form.name(), stand.seen);
        }
    }
}
