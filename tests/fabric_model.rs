//! The model of the whole fabric shows in every cycle, at every port, what the verilated fabric shows.

#[path = "fabric/mod.rs"]
mod fabric;
mod stand;

use fabric::{design, library_of};
use meshkv::config::{Config, PlacementKind};
use meshkv::cosim::model_ports::FabricPorts;
use meshkv::cosim::pins::Pins;
use meshkv::cosim::verilate::Form;
use meshkv::design::Design;
use meshkv::emit::{emit, modules, SourceFile, FABRIC};
use stand::{Pace, Seen, Stand, LIVELY};

/// Runs both side by side until they differ; answers with what happened in both.
fn compare(
    design: &Design,
    files: &[SourceFile],
    pace: Pace,
    cycles: u64,
    seed: u64,
) -> Result<Seen, String> {
    let all = modules(design);
    let top = all.iter().find(|m| m.name == FABRIC).expect("every design has a fabric");
    let mut rtl = Stand::new(&library_of(Form::Pieces, design, files), design, pace, seed);
    let modelled = Pins::of(Box::new(FabricPorts::new(design, top))).expect("out of reset");
    let mut model = Stand::of(modelled, top, design, pace, seed);
    for _ in 0..cycles {
        rtl.tick();
        model.tick();
        rtl.difference(&model).map_or(Ok(()), Err)?;
    }
    assert_eq!(rtl.seen, model.seen);
    Ok(rtl.seen)
}

/// A small fabric with heads of several KV heads in a column.
fn small(cols: u32, rows: u32, change: impl FnOnce(&mut Config)) -> Design {
    design(cols, rows, |c| {
        (c.model.heads, c.model.kv_heads, c.model.max_streams) = (6, 3, 4);
        (c.kv.uram_per_tile, c.kv.banks, c.pad.fifo_depth) = (1, 2, 16);
        change(c);
    })
}

fn same(design: &Design, pace: Pace, cycles: u64) -> Seen {
    let files = emit(design).expect("every legal design is emitted");
    compare(design, &files, pace, cycles, 7).unwrap_or_else(|e| panic!("Verilog and model: {e}"))
}

#[test]
fn the_model_shows_what_the_fabric_shows() {
    let seen = same(&small(2, 2, |c| (c.noc.flit_width, c.kv.uram_per_tile) = (128, 2)), LIVELY, 6000);
    assert!(seen.jobs > 50 && seen.flits > 3000 && seen.roots > 1000 && seen.bursts > 500, "{seen:?}");
}

#[test]
fn homes_that_swap_do_so_in_the_model() {
    let pace = Pace { segments: 1, step: 2, ..LIVELY };
    let seen = same(&small(3, 2, |c| c.takv.swap_epoch = 1), pace, 12_000);
    assert!(seen.occupancies > 12 && seen.swaps > 0, "{seen:?}");
}

#[test]
fn a_hub_that_sends_unicast_is_modelled_too() {
    let hub = |c: &mut Config| {
        c.takv.placement = PlacementKind::Hub;
        (c.takv.hub_x, c.takv.hub_y, c.mare.enable) = (2, 1, false);
    };
    let seen = same(&small(3, 2, hub), LIVELY, 6000);
    assert!(seen.flits > 1000, "{seen:?}");
}
