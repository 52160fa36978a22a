//! Speed of the co-simulation in both forms: with the scoreboard, and of the bare loop in the same
//! process.

use super::build;
use super::figure::{Figure, Goal};
use super::pace;
use super::program::REFERENCE;
use super::{at_least, at_most};
use anyhow::Result;
use meshkv::cosim::build::{BuildForm, RunLength};
use meshkv::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use meshkv::cosim::traffic::generator::{Shape, Traffic, VirtualNetworks};
use meshkv::cosim::traffic::pattern::PatternKind;
use meshkv::design::Design;
use std::path::Path;

const CYCLES: u64 = 20_000;

/// Runs of each variant, in turns, so that a busy machine slows both; the fastest counts.
const TURNS: usize = 3;

pub fn measure() -> Result<Vec<Figure>> {
    let (design, _) = Design::load(Path::new(REFERENCE))?;
    let pattern = PatternKind::Uniform;
    let shape = Shape::Unicast { pattern, hotspots: Vec::new(), vn: VirtualNetworks::Vn0 };
    let traffic = Traffic { shape, load: 0.2, packet: 1, seed: 1 };
    let mut ways = Vec::new();
    for form in [BuildForm::OneRouter, BuildForm::WholeMesh] {
        let library = build::library(&design, form, RunLength::Long, None)?;
        ways.push(Way { dut: VerilatedMesh::open(&library, &design, 1)?, form, checked: 0.0, bare: 0.0 });
    }
    for _ in 0..TURNS {
        for way in &mut ways {
            way.dut.record(true, true);
            way.checked = way.checked.max(pace::checked(&mut way.dut, &design, &traffic, CYCLES)?.wall);
            way.dut.record(false, false);
            way.bare = way.bare.max(pace::bare(&mut way.dut, &design, &traffic, CYCLES)?.wall);
        }
    }
    Ok(ways.iter().flat_map(figures).collect())
}

/// One form of the device under test, with the best speed of its turns in cycles per second.
struct Way {
    dut: VerilatedMesh,
    form: BuildForm,
    checked: f64,
    bare: f64,
}

/// The goals are for the default form; the whole mesh is listed next to it.
fn figures(way: &Way) -> [Figure; 3] {
    let Way { form, checked, bare, .. } = way;
    let (name, ratio) = (form.name(), bare / checked);
    let goal = |goal: Goal| if *form == BuildForm::OneRouter { goal } else { Goal::Stated };
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
