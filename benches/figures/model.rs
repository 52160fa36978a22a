//! The cycle-exact model: its speed beside BookSim2 and Verilator, how it grows, and what it says of loads.

use super::figure::{Figure, Goal};
use super::program::REFERENCE;
use super::{at_least, at_most};
use anyhow::Result;
use meshkv::cosim::modelled::Modelled;
use meshkv::cosim::network::{Injection, Network};
use meshkv::cosim::packet::{FlitBits, Header, Packet};
use meshkv::cosim::pattern::PatternKind;
use meshkv::cosim::run::Phases;
use meshkv::cosim::traffic::{Generator, Shape, Traffic, VirtualNetworks};
use meshkv::design::Design;
use meshkv::eval::{self, Setup};
use std::path::Path;
use std::time::{Duration, Instant};

/// Load in flits a node and cycle, cycles a second of BookSim2 with 4 VCs there on a machine of this class, and
/// the cycles that are run for the figure. That at 0.2 lies between those that were measured.
const LOADS: [(f64, f64, u64); 3] =
    [(0.1, 15_700.0, 200_000), (0.2, 8_000.0, 100_000), (0.4, 3_340.0, 50_000)];

/// How many times BookSim2's speed is wanted.
const GOAL: f64 = 20.0;

/// Each figure is the fastest of so many turns: a busy machine slows some.
const TURNS: usize = 3;

const AGAIN: &str = "cargo bench --bench figures -- model";

pub fn measure() -> Result<Vec<Figure>> {
    let (design, _) = Design::load(Path::new(REFERENCE))?;
    let mut figures = Vec::new();
    for (load, anchor, cycles) in LOADS {
        let traffic = uniform(load);
        let mut model = Modelled::new(&design);
        let (mut checked, mut bare) = (0.0_f64, 0.0_f64);
        for _ in 0..TURNS {
            checked = checked.max(with_scoreboard(&mut model, &design, &traffic, cycles)?);
            bare = bare.max(without(&mut model, &design, &traffic, cycles)?);
        }
        figures.push(Figure {
            what: format!("model, 8x8, uniform {load}, scoreboard on"),
            value: format!("{checked:.0} cycles/s, {:.1} times BookSim2", checked / anchor),
            goal: at_least(checked / anchor, GOAL, format!("{GOAL} times")),
            command: AGAIN.to_owned(),
        });
        figures.push(Figure {
            what: format!("model, 8x8, uniform {load}, network alone"),
            value: format!("{bare:.0} cycles/s, {:.1} times BookSim2", bare / anchor),
            goal: Goal::Stated,
            command: AGAIN.to_owned(),
        });
    }
    Ok(figures)
}

fn uniform(load: f64) -> Traffic {
    let pattern = PatternKind::Uniform;
    let shape = Shape::Unicast { pattern, hotspots: Vec::new(), vn: VirtualNetworks::Both };
    Traffic { shape, load, packet: 1, seed: 1 }
}

/// Cycles a second of a measured run.
fn with_scoreboard(
    network: &mut dyn Network,
    design: &Design,
    traffic: &Traffic,
    cycles: u64,
) -> Result<f64> {
    network.reset()?;
    let phases = Phases { warmup: 0, measure: cycles, drain_limit: cycles, latency_limit: None };
    let row =
        eval::measure(network, &mut Setup { design, phases, observe: &mut |_, _| {} }, traffic, f64::MAX)?;
    anyhow::ensure!(row.violations == 0, "the fabric broke {} promises", row.violations);
    Ok(row.cycles_per_second)
}

/// Cycles a second of the same flits, queued batch by batch off the clock, with nothing checked.
fn without(network: &mut dyn Network, design: &Design, traffic: &Traffic, cycles: u64) -> Result<f64> {
    const BATCH: u64 = 1000;
    network.reset()?;
    let mut generator = Generator::new(design, traffic)?;
    let bits = FlitBits::new(design);
    let mut key = 0;
    let mut spent = Duration::ZERO;
    for start in (0..cycles).step_by(BATCH as usize) {
        let mut packets = Vec::new();
        generator.generate(start..start + BATCH, false, &mut |packet| packets.push(packet));
        for packet in &packets {
            inject(network, design, &bits, packet, key)?;
            key += 1;
        }
        let started = Instant::now();
        network.step(BATCH)?;
        spent += started.elapsed();
        network.take_entries(&mut |_| {});
        network.take_ejections(&mut |_| {});
    }
    Ok(cycles as f64 / spent.as_secs_f64())
}

fn inject(
    network: &mut dyn Network,
    design: &Design,
    bits: &FlitBits,
    packet: &Packet,
    key: u64,
) -> Result<()> {
    let (mut dest, mut head, mut data) = (Vec::new(), Vec::new(), Vec::new());
    let header = Header { class: packet.class, source: packet.source, tag: key, index: 0, flits: 1 };
    bits.write_dest(&packet.dests, &mut dest);
    bits.write_head(&header, &mut head);
    bits.write_data(key, &mut data);
    network.inject(&Injection {
        tile: packet.source,
        class: packet.class,
        vc_mask: design.router.vcs_of_class(packet.class).fold(0, |mask, vc| mask | 1 << vc),
        ready_cycle: packet.cycle,
        last: true,
        dest: &dest,
        head: &head,
        data: &data,
    })
}
