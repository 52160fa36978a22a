//! The model of everything beside the routers shows in every cycle, at every port, what the verilated tiles and
//! periphery show. The network between the tiles is played.

#[path = "fabric/mod.rs"]
mod fabric;
mod stand;

use fabric::{design, library_of};
use meshkv::config::Config;
use meshkv::cosim::modelled::ModelledAround;
use meshkv::cosim::pins::Pins;
use meshkv::cosim::verilate::{around_ports, Form};
use meshkv::design::Design;
use meshkv::emit::emit;
use stand::{Pace, Seen, Stand, LIVELY};

/// Runs both side by side until they differ; answers with what happened in both.
fn compare(design: &Design, pace: Pace, cycles: u64, seed: u64) -> Result<Seen, String> {
    let files = emit(design).expect("every legal design is emitted");
    let top = around_ports(design);
    let verilated = Pins::new(&library_of(Form::Around, design, &files), seed).expect("out of reset");
    let modelled = Pins::of(Box::new(ModelledAround::new(design, &top))).expect("out of reset");
    let mut rtl = Stand::of(verilated, &top, design, pace, seed);
    let mut model = Stand::of(modelled, &top, design, pace, seed);
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
    compare(design, pace, cycles, 7).unwrap_or_else(|e| panic!("Verilog and model: {e}"))
}

#[test]
fn the_model_shows_what_the_verilog_shows() {
    let seen = same(&small(2, 2, |c| (c.noc.flit_width, c.kv.uram_per_tile) = (128, 2)), LIVELY, 10_000);
    assert!(seen.jobs > 50 && seen.flits > 3000 && seen.roots > 1000 && seen.bursts > 500, "{seen:?}");
}
