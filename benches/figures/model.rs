//! The cycle-exact model: its speed against BookSim2 and Verilator, its growth, and its latencies.

use super::figure::{Figure, Goal};
use super::pace::{self, Pace};
use super::program::{json, number, PLAIN, REFERENCE, WITH_REGISTERS};
use super::{at_least, at_most, build};
use anyhow::{Context, Result};
use meshkv::config::Config;
use meshkv::cosim::build::{BuildForm, RunLength};
use meshkv::cosim::dut::model_mesh::ModelMesh;
use meshkv::cosim::dut::network::Network;
use meshkv::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use meshkv::cosim::traffic::generator::{Shape, Traffic, VirtualNetworks};
use meshkv::cosim::traffic::pattern::PatternKind;
use meshkv::design::Design;
use std::path::Path;

/// Load in flits per node and cycle, cycles per second of BookSim2 with 4 VCs on a machine of this
/// class, and cycles of the run. BookSim2's value at 0.2 is interpolated.
const LOADS: [(f64, f64, u64); 3] =
    [(0.1, 15_700.0, 100_000), (0.2, 8_000.0, 50_000), (0.4, 3_340.0, 25_000)];

/// Goal: the model's speed in multiples of BookSim2's.
const GOAL: f64 = 20.0;

/// Turns of each figure, of which the fastest counts: a busy machine slows some. The model alone is
/// timed by its thread's core time. Other programs still slow the core.
const TURNS: usize = 5;

const AGAIN: &str = "cargo bench --bench figures -- model";

pub fn measure() -> Result<Vec<Figure>> {
    let mut figures = speeds()?;
    figures.extend(growth()?);
    figures.extend(memory()?);
    figures.extend(latencies()?);
    Ok(figures)
}

fn figure(what: String, value: String, goal: Goal) -> Figure {
    Figure { what, value, goal, command: AGAIN.to_owned() }
}

fn traffic(pattern: PatternKind, load: f64) -> Traffic {
    let shape = Shape::Unicast { pattern, hotspots: Vec::new(), vn: VirtualNetworks::Both };
    Traffic { shape, load, packet: 1, seed: 1 }
}

/// Speed against BookSim2, and against one verilated tile in the same turns.
fn speeds() -> Result<Vec<Figure>> {
    let (design, _) = Design::load(Path::new(REFERENCE))?;
    let library = build::library(&design, BuildForm::OneRouter, RunLength::Long, None)?;
    let mut dut = VerilatedMesh::open(&library, &design, 1)?;
    dut.record(true, true);
    let mut model = ModelMesh::with_numbers(&design);
    let mut figures = Vec::new();
    for (load, anchor, cycles) in LOADS {
        let traffic = traffic(PatternKind::Uniform, load);
        let (mut checked, mut bare, mut rtl) = Default::default();
        for _ in 0..TURNS {
            checked = pace::checked(&mut model, &design, &traffic, cycles)?.or(checked);
            bare = pace::bare(&mut model, &design, &traffic, cycles)?.or(bare);
            rtl = pace::checked(&mut dut, &design, &traffic, 10_000)?.or(rtl);
        }
        let times = |pace: Pace| {
            let Pace { wall, core } = pace;
            format!("{core:.0} cycles/CPU-s ({wall:.0}/s), {:.1} times BookSim2", core / anchor)
        };
        figures.extend([
            figure(
                format!("model, 8x8 uniform {load}, network and sources"),
                times(bare),
                at_least(bare.core / anchor, GOAL, format!("{GOAL} times")),
            ),
            figure("the same with traffic and scoreboard".to_owned(), times(checked), Goal::Stated),
            figure(
                format!("model over verilated tile at {load}, both with scoreboard"),
                format!("{:.1} ({:.0} cycles/s on two threads)", checked.wall / rtl.wall, rtl.wall),
                Goal::Stated,
            ),
        ]);
    }
    Ok(figures)
}

/// A mesh with the reference's network.
fn mesh(side: u32) -> Result<Design> {
    let mut config = Config::default();
    (config.mesh.cols, config.mesh.rows) = (side, side);
    // A tile's slices must fit its memory; the network does not depend on them.
    (config.model.layers, config.model.max_tokens, config.pad.fifo_depth) = (4, 1024, Some(64));
    Ok(Design::from_config("mesh", &config)?)
}

/// Load of the traffic for which work is counted.
const NEAR_LOAD: f64 = 0.1;

/// Mean number of routers that a flit of neighbour traffic passes: one hop in each dimension, and
/// all the way back for those at the edge.
fn routers_passed(side: u32) -> f64 {
    let side = f64::from(side);
    4.0 * (side - 1.0) / side + 1.0
}

/// Time of a flit in a router, from 4x4 to 16x16.
fn growth() -> Result<Vec<Figure>> {
    let mut times = Vec::new();
    for side in [4, 8, 16] {
        let design = mesh(side)?;
        let mut model = ModelMesh::new(&design);
        let tiles = f64::from(side * side);
        let mut pace_of = |pattern, load| -> Result<f64> {
            let mut best = 0.0_f64;
            for _ in 0..TURNS {
                let cycles = 2_000_000 / u64::from(side * side) / 1000 * 1000;
                best = best.max(pace::bare(&mut model, &design, &traffic(pattern, load), cycles)?.core);
            }
            Ok(best)
        };
        let near = pace_of(PatternKind::Neighbour, NEAR_LOAD)?;
        let uniform = pace_of(PatternKind::Uniform, 0.05)?;
        times.push((side, 1e9 / near / (tiles * NEAR_LOAD * routers_passed(side)), uniform));
    }
    let shown = |what: &dyn Fn(&(u32, f64, f64)) -> String| {
        times.iter().map(|t| format!("{}x{}: {}", t.0, t.0, what(t))).collect::<Vec<_>>().join(", ")
    };
    let ratio = times[2].1 / times[0].1;
    Ok(vec![
        figure(
            format!("model, time of a flit in a router, neighbour {NEAR_LOAD}, 16x16 over 4x4"),
            format!("{ratio:.2} ({})", shown(&|t| format!("{:.1} ns", t.1))),
            at_most(ratio, 1.2, "1.2: linear in tiles"),
        ),
        figure(
            "model, uniform 0.05, network and sources".to_owned(),
            shown(&|t| format!("{:.0} cycles/CPU-s", t.2)),
            Goal::Stated,
        ),
    ])
}

/// Resident memory of this process in MB.
fn resident() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages: f64 = text.split(' ').nth(1).context("resident pages")?.parse()?;
    Ok(pages * 4096.0 / 1e6)
}

/// Memory of a 16x16 mesh under load: after one run and after a long one.
fn memory() -> Result<Vec<Figure>> {
    let design = mesh(16)?;
    let before = resident()?;
    let mut model = ModelMesh::new(&design);
    let traffic = traffic(PatternKind::Uniform, 0.1);
    pace::bare(&mut model, &design, &traffic, 5_000)?;
    let early = resident()?;
    pace::bare(&mut model, &design, &traffic, 50_000)?;
    let grown = resident()? - early;
    let busy = model.busy_vcs().len();
    Ok(vec![
        figure(
            "model, memory at 16x16, uniform 0.1, 5000 cycles".to_owned(),
            format!("{:.1} MB, {busy} virtual channels busy", early - before),
            Goal::Stated,
        ),
        figure(
            "the same, what ten times as many cycles add".to_owned(),
            format!("{grown:.2} MB"),
            at_most(grown, 1.0, "1 MB"),
        ),
    ])
}

/// Latency over load against BookSim2, and the saturation of patterns.
fn latencies() -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let mut add = |what: String, value: String, args: String| {
        let command = format!("meshkv sim {PLAIN} {args}");
        figures.push(Figure { what, value, goal: Goal::Stated, command });
    };
    let single = "--vn both --packet 1";
    for (load, peer) in [(0.1, 21.1), (0.2, 21.8), (0.3, 23.6), (0.4, 35.6)] {
        let args = format!("--traffic uniform --load {load} {single}");
        let latency = |config| number(&json(&format!("sim {config} {args}"))?, "latency_mean");
        let (plain, crossing) = (latency(PLAIN)?, latency(REFERENCE)?);
        add(
            format!("latency at {load}, 8x8 uniform"),
            format!("{plain:.2} cycles (BookSim2 {peer}); {WITH_REGISTERS} {crossing:.2}"),
            args,
        );
    }
    for (traffic, peer) in [("uniform", 0.416), ("transpose", 0.144), ("hotspot --hotspot 3,3:0.1", 0.122)] {
        let args = format!("--traffic {traffic} --sweep-load 0.05:1.0 {single}");
        let saturation = |config| number(&json(&format!("sim {config} {args}"))?, "saturation");
        let (plain, crossing) = (saturation(PLAIN)?, saturation(REFERENCE)?);
        add(
            format!("saturation, 8x8 {}", traffic.split(' ').next().unwrap_or(traffic)),
            format!("{plain:.3} flits/node/cycle (BookSim2 {peer}); {WITH_REGISTERS} {crossing:.3}"),
            args,
        );
    }
    Ok(figures)
}
