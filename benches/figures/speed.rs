//! Speed of the co-simulation: with scoreboard, and of the bare Verilator loop in the same process.

use super::build;
use super::figure::{Figure, Goal};
use super::program::REFERENCE;
use super::{at_least, at_most};
use anyhow::{ensure, Result};
use meshkv::cosim::dut::{Dut, Injection};
use meshkv::cosim::packet::{FlitBits, Header};
use meshkv::cosim::pattern::PatternKind;
use meshkv::cosim::run::Phases;
use meshkv::cosim::traffic::{Generator, Shape, Traffic, VirtualNetworks};
use meshkv::cosim::verilate::RunLength;
use meshkv::design::Design;
use meshkv::eval::{self, Setup};
use std::path::Path;
use std::time::Instant;

const CYCLES: u64 = 20_000;

/// Each way is run so often, in turns, so that a busy machine slows both; the fastest counts.
const TURNS: usize = 3;

pub fn measure() -> Result<Vec<Figure>> {
    let (design, _) = Design::load(Path::new(REFERENCE))?;
    let library = build::library(&design, RunLength::Long, None)?;
    let mut dut = Dut::open(&library, &design, 1)?;
    let pattern = PatternKind::Uniform;
    let shape = Shape::Unicast { pattern, hotspots: Vec::new(), vn: VirtualNetworks::Vn0 };
    let traffic = Traffic { shape, load: 0.2, packet: 1, seed: 1 };
    let (mut checked, mut bare) = (0.0_f64, 0.0_f64);
    for _ in 0..TURNS {
        checked = checked.max(with_scoreboard(&mut dut, &design, &traffic)?);
        bare = bare.max(without(&mut dut, &design, &traffic)?);
    }
    let ratio = bare / checked;
    let command =
        format!("meshkv cosim {REFERENCE} --traffic uniform --load 0.2 --packet 1 --cycles {CYCLES}");
    let again = "cargo bench --bench figures -- speed".to_owned();
    Ok(vec![
        Figure {
            what: "co-simulation, 8x8, 512 bit, uniform 0.2, scoreboard on".to_owned(),
            value: format!("{checked:.0} cycles/s"),
            goal: at_least(checked, 25_000.0, "25000"),
            command,
        },
        Figure {
            what: "the bare Verilator loop, same flits, nothing recorded".to_owned(),
            value: format!("{bare:.0} cycles/s"),
            goal: Goal::Stated,
            command: again.clone(),
        },
        Figure {
            what: "bare loop over scoreboard on".to_owned(),
            value: format!("{ratio:.2}"),
            goal: at_most(ratio, 1.3, "1.3"),
            command: again,
        },
    ])
}

/// Cycles a second of a measured run.
fn with_scoreboard(dut: &mut Dut, design: &Design, traffic: &Traffic) -> Result<f64> {
    dut.record(true, true);
    dut.reset()?;
    let phases = Phases { warmup: 0, measure: CYCLES, drain_limit: CYCLES, latency_limit: None };
    let row = eval::measure(dut, &mut Setup { design, phases, observe: &mut |_, _| {} }, traffic, f64::MAX)?;
    ensure!(row.violations == 0, "the fabric broke {} promises", row.violations);
    Ok(row.cycles_per_second)
}

/// Cycles a second of the same flits, all queued beforehand, with nothing recorded or checked.
fn without(dut: &mut Dut, design: &Design, traffic: &Traffic) -> Result<f64> {
    dut.record(false, false);
    dut.reset()?;
    let mut packets = Vec::new();
    Generator::new(design, traffic)?.generate(0..CYCLES, false, &mut |packet| packets.push(packet));
    let bits = FlitBits::new(design);
    let (mut dest, mut head, mut data) = (Vec::new(), Vec::new(), Vec::new());
    for (key, packet) in packets.iter().enumerate() {
        let header =
            Header { class: packet.class, source: packet.source, tag: key as u64, index: 0, flits: 1 };
        bits.write_dest(&packet.dests, &mut dest);
        bits.write_head(&header, &mut head);
        bits.write_data(key as u64, &mut data);
        dut.inject(&Injection {
            tile: packet.source,
            class: packet.class,
            vc_mask: design.router.vcs_of_class(packet.class).fold(0, |mask, vc| mask | 1 << vc),
            ready_cycle: packet.cycle,
            last: true,
            dest: &dest,
            head: &head,
            data: &data,
        })?;
    }
    let started = Instant::now();
    dut.step(CYCLES)?;
    Ok(CYCLES as f64 / started.elapsed().as_secs_f64())
}
