//! Fetches by all tiles beside the model: storms, duplicates of every cause, slices that come late.

use super::bed::{none, patience, Bed, Check};
use crate::cosim::build::BuildForm;
use crate::cosim::workloads::fetch::scenario::{plan, Cause, Workload};
use crate::cosim::workloads::fetch::{Bench, Plan};

/// The checks.
pub(super) const CHECKS: [Check; 3] = [
    Check { name: "fetch", form: BuildForm::TransportPieces, run: |bed| random(bed, 40, 4, 0, 1) },
    Check { name: "duplicates", form: BuildForm::TransportPieces, run: duplicates },
    Check { name: "fetch storm", form: BuildForm::TransportPieces, run: storm },
];

const LOOKS: u32 = 1_000;

fn run(bed: &Bed, plan: &Plan) -> Result<(), String> {
    let design = bed.design;
    let both = bed.beside(Bench::model(design), &Bench::ports(design))?;
    let bench = Bench::on(both, design).map_err(|why| why.to_string())?;
    bed.begins();
    let mut impatient = patience(LOOKS);
    let done = bench.run(plan, &mut |_, _| impatient()).map_err(|why| why.to_string())?;
    none(&done.violation_list.iter().map(|violation| violation.message.clone()).collect::<Vec<_>>())
}

/// Commands of each tile at random, so many cycles apart on average.
fn random(bed: &Bed, commands: u32, gap: u32, stall: u8, seed: u64) -> Result<(), String> {
    let slices = bed.design.placement.segments.min(8);
    let workload = Workload::Random { commands, gap, slices };
    let made = plan(bed.design, &workload, seed).map_err(|why| why.to_string())?;
    run(bed, &Plan { stall, ..made })
}

fn storm(bed: &Bed) -> Result<(), String> {
    for (commands, gap, stall, seed) in [(200, 0, 0, 2), (150, 12, 90, 3), (100, 60, 180, 4), (200, 3, 20, 5)]
    {
        random(bed, commands, gap, stall, seed)?;
    }
    late(bed)
}

/// Slices that become resident one after the other while all ask for them.
fn late(bed: &Bed) -> Result<(), String> {
    let slices = bed.design.placement.segments.min(8);
    for (gap, step) in [(4, 40), (0, 700), (30, 3_000)] {
        let workload = Workload::Random { commands: 60, gap, slices };
        let mut made = plan(bed.design, &workload, 11).map_err(|why| why.to_string())?;
        for (at, resident) in (0..).zip(&mut made.residents) {
            resident.cycle = at * step;
        }
        made.watchdog += 8 * step;
        run(bed, &made)?;
    }
    Ok(())
}

fn duplicates(bed: &Bed) -> Result<(), String> {
    for cause in [Cause::Heads, Cause::Trees, Cause::Retries] {
        // Tiles of a column or a row alone have no near one.
        let workload = Workload::Duplicates { cause, rounds: 12 };
        let made = plan(bed.design, &workload, 1).map_err(|why| why.to_string())?;
        run(bed, &made)?;
    }
    Ok(())
}
