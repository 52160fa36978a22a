//! The model of everything beside the routers shows in every cycle, at every port, what the verilated tiles and
//! periphery show. The network between the tiles is played.

#[path = "fabric/mod.rs"]
mod fabric;
mod stand;

use fabric::{design, library_of};
use meshkv::config::{Config, PlacementKind};
use meshkv::cosim::model_ports::FabricPorts;
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
    let modelled = Pins::of(Box::new(FabricPorts::new(design, &top))).expect("out of reset");
    let mut rtl = Stand::of(verilated, &top, design, pace, seed);
    let mut model = Stand::of(modelled, &top, design, pace, seed);
    for _ in 0..cycles {
        rtl.tick();
        model.tick();
        rtl.difference(&model).map_or(Ok(()), Err)?;
    }
    assert_eq!(rtl.seen, model.seen);
    println!("{:?}", model.events());
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

/// What must have happened for a comparison to be worth something.
fn lively(seen: &Seen) {
    println!("{seen:?}");
    assert!(seen.jobs > 20 && seen.flits > 500 && seen.roots > 300 && seen.bursts > 100, "{seen:?}");
    assert!(seen.sent > 500, "{seen:?}");
}

#[test]
fn the_model_shows_what_the_verilog_shows() {
    lively(&same(&small(2, 2, |c| (c.noc.flit_width, c.kv.uram_per_tile) = (128, 2)), LIVELY, 10_000));
}

#[test]
fn homes_swap_in_the_model_as_in_the_verilog() {
    let pace = Pace { segments: 1, step: 2, ..LIVELY };
    let seen = same(&small(3, 2, |c| c.takv.swap_epoch = 1), pace, 12_000);
    lively(&seen);
    assert!(seen.occupancies > 12 && seen.swaps > 0, "{seen:?}");
}

#[test]
fn placements_and_transports_of_all_configurations_agree() {
    for (name, change) in CASES {
        println!("{name}");
        let design = small(3, 2, change);
        for seed in [7, 8] {
            match compare(&design, LIVELY, 8000, seed) {
                Ok(seen) => lively(&seen),
                Err(e) => println!("XXX {name}, {seed}: {e}"),
            }
        }
    }
}

/// A configuration by what it does otherwise.
type Case = (&'static str, fn(&mut Config));

const CASES: [Case; 17] = [
    ("cent", |c| (c.takv.placement, c.mare.enable) = (PlacementKind::Hub, false)),
    ("hub in the middle", |c| {
        c.takv.placement = PlacementKind::Hub;
        (c.takv.hub_x, c.takv.hub_y) = (1, 1);
    }),
    ("shared", |c| (c.takv.placement, c.mare.enable) = (PlacementKind::RoundRobin, false)),
    ("takv", |c| c.mare.enable = false),
    ("meshkv", |_| {}),
    ("no TaKV", |c| c.takv.placement = PlacementKind::RoundRobin),
    ("column stride", |c| c.takv.column_stride = 1),
    ("no multicast", |c| c.mare.multicast = false),
    ("no dedup", |c| c.mare.dedup = false),
    ("no window", |c| c.mare.coalesce_window = 0),
    ("neither window nor dedup", |c| (c.mare.coalesce_window, c.mare.dedup) = (0, false)),
    ("no swaps", |c| c.takv.swap_epoch = 0),
    ("no PaD", |c| c.pad.enable = false),
    ("one channel of VN0, four of VN1", |c| (c.noc.vn0_vcs, c.noc.vn1_vcs) = (1, 4)),
    ("small tables", |c| {
        (c.mare.request_entries, c.mare.tag_entries, c.mare.bloom_bits, c.mare.bloom_refresh) = (2, 1, 16, 5);
    }),
    ("shallow", |c| (c.noc.vc_depth, c.pad.fifo_depth, c.noc.vn1_vcs) = (2, 7, 3)),
    ("short segments, wide flits", |c| {
        (c.kv.segment_tokens, c.noc.flit_width, c.kv.uram_per_tile, c.pe.head_dim) = (5, 256, 4, 64);
    }),
];
