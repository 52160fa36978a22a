//! Cost of a second clock in co-simulation: cycles per second of the whole design at work, on a
//! small mesh.

use super::build;
use super::figure::{Figure, Goal};
use anyhow::{Context, Result};
use meshkv::config::Config;
use meshkv::cosim::build::{BuildForm, RunLength};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::memory::Behaviour;
use meshkv::cosim::workloads::attention::{Bench, Job};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::model::datapath::tensors::{synthetic, Logits, Synthetic};
use std::time::Instant;

/// Runs of each variant, in turns, so that a busy machine slows all; the fastest counts.
const TURNS: usize = 2;
/// Cycles between two calls of a run's `stop`.
const LOOK: f64 = 256.0;

pub fn measure() -> Result<Vec<Figure>> {
    let mut config = Config::default();
    (config.mesh.cols, config.mesh.rows, config.noc.flit_width, config.noc.vc_depth) = (4, 4, 64, 4);
    (config.kv.segment_tokens, config.kv.uram_per_tile, config.pe.head_dim) = (16, 1, 64);
    (config.model.layers, config.model.heads, config.model.kv_heads, config.model.max_tokens) =
        (1, 16, 4, 1024);
    let design = Design::from_config("clocks", &config)?;
    let tensors = synthetic(&Synthetic {
        seed: 5,
        heads: 16,
        kv_heads: 4,
        positions: 1,
        tokens: 1024,
        head_dim: 64,
        logits: Logits::Normal,
    });
    let job = Job::new(&design, &tensors, (0, 1), Mapping::RowAligned, Sharing::KvHead)?;
    let two = |noc_mhz, pe_mhz, jitter| Clocks { noc_mhz, pe_mhz, jitter, ..Clocks::IN_STEP };
    let ways = [
        ("one clock", BuildForm::CorePieces, Clocks::IN_STEP),
        (
            "two clocks of 250 MHz, edges up to 20 % late",
            BuildForm::CorePiecesTwoClocks,
            two(250.0, 250.0, 20),
        ),
        ("250 and 300 MHz", BuildForm::CorePiecesTwoClocks, two(250.0, 300.0, 0)),
        ("20 and 70 MHz", BuildForm::CorePiecesTwoClocks, two(20.0, 70.0, 0)),
    ];
    let mut best = [0_f64; 4];
    for _ in 0..TURNS {
        for ((_, form, clocks), best) in ways.iter().zip(&mut best) {
            let library = build::library(&design, *form, RunLength::Quick, None)?;
            let bench = Bench::on(verilated(&library, 1)?, &job, Behaviour::of(&design), *clocks)?;
            *best = best.max(speed(bench)?);
        }
    }
    let figure = |((name, ..), speed): (&(&str, BuildForm, Clocks), &f64)| Figure {
        what: format!("attention on 4 x 4 tiles, 64 bit: {name}"),
        value: format!("{speed:.0} cycles/s, {:.2} of one clock", speed / best[0]),
        goal: Goal::Stated,
        command: "make bench FIGURES=clocks".to_owned(),
    };
    Ok(ways.iter().zip(&best).map(figure).collect())
}

/// Network cycles per second, without the model of the datapath, which runs after the last call.
fn speed(bench: Bench) -> Result<f64> {
    let mut looks = Vec::new();
    bench.run(0, 0, &mut |_| {
        looks.push(Instant::now());
        false
    })?;
    let (first, last) = looks.first().zip(looks.last()).context("the run ended before it was looked at")?;
    Ok((looks.len() - 1) as f64 * LOOK / (*last - *first).as_secs_f64())
}
