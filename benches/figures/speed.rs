//! Speed of the co-simulation in both forms: with scoreboard, and of the bare loop in the same process.

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
use meshkv::cosim::verilate::{Form, RunLength};
use meshkv::design::Design;
use meshkv::eval::{self, Setup};
use std::path::Path;
use std::time::Instant;

const CYCLES: u64 = 20_000;

/// Each way is run so often, in turns, so that a busy machine slows both; the fastest counts.
const TURNS: usize = 3;

pub fn measure() -> Result<Vec<Figure>> {
    let (design, _) = Design::load(Path::new(REFERENCE))?;
    let pattern = PatternKind::Uniform;
    let shape = Shape::Unicast { pattern, hotspots: Vec::new(), vn: VirtualNetworks::Vn0 };
    let traffic = Traffic { shape, load: 0.2, packet: 1, seed: 1 };
    let mut ways = Vec::new();
    for form in [Form::Tile, Form::Mesh] {
        let library = build::library(&design, form, RunLength::Long, None)?;
        ways.push(Way { dut: Dut::open(&library, &design, 1)?, form, checked: 0.0, bare: 0.0 });
    }
    for _ in 0..TURNS {
        for way in &mut ways {
            way.checked = way.checked.max(with_scoreboard(&mut way.dut, &design, &traffic)?);
            way.bare = way.bare.max(without(&mut way.dut, &design, &traffic)?);
        }
    }
    Ok(ways.iter().flat_map(figures).collect())
}

/// One way to build the device under test, with the best cycles a second of its turns.
struct Way {
    dut: Dut,
    form: Form,
    checked: f64,
    bare: f64,
}

/// The goals are for what a user gets who asks for nothing; the whole mesh is stated beside it.
fn figures(way: &Way) -> [Figure; 3] {
    let Way { form, checked, bare, .. } = way;
    let (name, ratio) = (form.name(), bare / checked);
    let goal = |goal: Goal| if *form == Form::Tile { goal } else { Goal::Stated };
    let command = format!(
        "meshkv cosim {REFERENCE} --traffic uniform --load 0.2 --packet 1 --cycles {CYCLES} --dut {name}"
    );
    let again = "cargo bench --bench figures -- speed".to_owned();
    [
        Figure {
            what: format!("co-simulation, 8x8, 512 bit, uniform 0.2, scoreboard on, {name} verilated"),
            value: format!("{checked:.0} cycles/s"),
            goal: goal(at_least(*checked, 25_000.0, "25000")),
            command,
        },
        Figure {
            what: format!("the bare loop, same flits, nothing recorded, {name} verilated"),
            value: format!("{bare:.0} cycles/s"),
            goal: Goal::Stated,
            command: again.clone(),
        },
        Figure {
            what: format!("bare loop over scoreboard on, {name} verilated"),
            value: format!("{ratio:.2}"),
            goal: goal(at_most(ratio, 1.3, "1.3")),
            command: again,
        },
    ]
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
