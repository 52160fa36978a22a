//! The network beside its model, under traffic that fills it.

use super::bed::{Bed, Check};
use crate::cosim::build::BuildForm;
use crate::cosim::checks::lockstep::Lockstep;
use crate::cosim::checks::violation::ViolationKind;
use crate::cosim::dut::network::Network;
use crate::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use crate::cosim::traffic::generator::{Generator, Shape, Traffic, VirtualNetworks};
use crate::cosim::traffic::pattern::PatternKind;
use crate::cosim::workloads::network::measure::run;
use crate::cosim::workloads::network::Phases;

/// The checks.
pub(super) const CHECKS: [Check; 2] = [
    Check { name: "network", form: BuildForm::OneRouter, run: |bed| traffic(bed, 400, &[(0.5, 3, false)]) },
    Check {
        name: "busy network",
        form: BuildForm::OneRouter,
        run: |bed| traffic(bed, 2_000, &[(0.2, 1, false), (1.0, 2, true), (0.6, 5, true), (0.9, 9, false)]),
    },
];

/// Cycles without movement after which it is stuck.
const STILL: u64 = 5_000;

/// Runs of traffic: load, flits of a packet, and whether some tiles are slow to take flits.
fn traffic(bed: &Bed, measure: u64, runs: &[(f64, u32, bool)]) -> Result<(), String> {
    let design = bed.design;
    let say = |why: &dyn ToString| why.to_string();
    let rtl = VerilatedMesh::open(bed.library, design, bed.noise()).map_err(|why| say(&why))?;
    let mut both = Lockstep::new(rtl, design).map_err(|why| say(&why))?;
    both.watchdog(STILL);
    bed.begins();
    let fanouts = [1, 2, design.mesh.tiles() as u32 - 1];
    for (at, &(load, packet, slow)) in (0..).zip(runs) {
        for node in design.mesh.nodes() {
            let share = if slow && node.index() % 2 == at % 2 { 0.5 } else { 0.0 };
            both.stall(node, share, 17 + node.index() as u64);
        }
        let shape = match at % 3 {
            2 => Shape::Unicast {
                pattern: PatternKind::Uniform,
                hotspots: Vec::new(),
                vn: VirtualNetworks::All,
            },
            _ => Shape::Mixed { fanout: fanouts[at % fanouts.len()] },
        };
        let traffic = Traffic { shape, load, packet, seed: at as u64 };
        let phases = Phases { warmup: 100, measure, drain_limit: 3_000, latency_limit: None };
        both.reset().map_err(|why| say(&why))?;
        let generator = Generator::new(design, &traffic).map_err(|why| say(&why))?;
        let measured = run(&mut both, design, generator, &phases, &mut |_| false).map_err(|why| say(&why))?;
        // A slow tile may still owe credits: lockstep has compared them.
        let wrong = measured.violations.iter().find(|violation| violation.kind != ViolationKind::Credits);
        if let Some(violation) = wrong {
            return Err(violation.message.clone());
        }
    }
    Ok(())
}
