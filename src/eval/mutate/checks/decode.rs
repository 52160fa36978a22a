//! Decode steps of the fabric beside its model, with arrays that are slow, and with memory in error.

use super::bed::{none, patience, Bed, Check};
use crate::cosim::build::BuildForm;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::pins::Pins;
use crate::cosim::dut::DutError;
use crate::cosim::memory::{Fault, FaultKind};
use crate::cosim::workloads::decode::{step, Bench, DecodeError, Pace as ArrayPace, Plan, Workload};
use crate::cosim::workloads::random::{Pace, RandomFabric, LIVELY};
use crate::cosim::workloads::TileErrorKind;
use crate::design::{Design, Mapping, Sharing};
use crate::emit::ModuleSpec;

/// The checks.
pub(super) const CHECKS: [Check; 4] = [
    Check { name: "decode", form: BuildForm::WholeFabric, run: |bed| decode(bed, 0) },
    Check {
        name: "decode steps",
        form: BuildForm::WholeFabric,
        run: |bed| [1, 2, 3, OVERLAPPING].into_iter().try_for_each(|number| decode(bed, number)),
    },
    Check { name: "random fabric", form: BuildForm::WholeFabric, run: random },
    Check { name: "errors of memory", form: BuildForm::WholeFabric, run: faults },
];

const LOOKS: u32 = 3_000;

/// Number of the workload whose layers are sent one after the other at once. It has one step: in a second one a slice could be
/// named again before it was served, which no driver may do.
const OVERLAPPING: u32 = 5;

fn plan(bed: &Bed, number: u32) -> Result<Plan, String> {
    let design = bed.design;
    let tokens = design.model.max_tokens.min(8 * design.placement.segment_tokens + 3 * number);
    let load = Workload {
        tokens,
        batch: design.model.max_streams,
        prefix: if number.is_multiple_of(2) { 0 } else { tokens / 2 },
        mapping: [Mapping::RowAligned, Mapping::HeadTile, Mapping::StreamStriped][number as usize % 3],
        sharing: if number == 2 { Sharing::Segment } else { Sharing::KvHead },
        segments: None,
        layers: design.model.layers.min(if number == OVERLAPPING { 4 } else { 2 }),
        stride: 1,
        append: design.append.is_some() && number.is_multiple_of(2),
    };
    let made = step(design, &load).map_err(|why| why.to_string())?;
    Ok(Plan::new(design, made.descriptors, u64::from(number) + 3))
}

fn decode(bed: &Bed, number: u32) -> Result<(), String> {
    let design = bed.design;
    let made = plan(bed, number)?;
    let pace = [(1, 0), (3, 90), (1, 20), (2, 0)][number as usize % 4];
    let (steps, overlap) = if number == OVERLAPPING { (1, true) } else { (1 + number, false) };
    let memory = if number.is_multiple_of(2) { made.memory.clone() } else { made.memory.clone().unruly(4) };
    let pace = ArrayPace { flit_cycles: pace.0, stall: pace.1 };
    let made = Plan { steps, pace, memory, overlap, ..made };
    let both = bed.beside(Bench::model(design), &Bench::ports(design))?;
    let bench = Bench::on(both, design).map_err(|why| why.to_string())?;
    bed.begins();
    let mut impatient = patience(LOOKS);
    let done = bench.run(&made, &mut |_| impatient()).map_err(|why| why.to_string())?;
    none(&done.violation_list.iter().map(|violation| violation.message.clone()).collect::<Vec<_>>())
}

/// Periods of random stimulus.
const PERIODS: u64 = 6_000;
/// Periods by which the Verilog may see an illegal descriptor before the model.
const EARLIER: u64 = 8;

/// Random descriptors, arrays and partial results, a memory with errors; then steps of a segment each, after which
/// homes swap, with a memory that has none.
fn random(bed: &Bed) -> Result<(), String> {
    let design = bed.design;
    let quick = Pace { segments: 1, step: 2, queries: 128, errors: 0, ..LIVELY };
    let slow = Pace { takes: 2, parts: 40, latency: 400, ..LIVELY };
    for (pace, seed) in [(LIVELY, 7), (quick, 8), (slow, 9)] {
        let top = Bench::ports(design);
        let periods = legal(design, &top, pace, seed)?;
        let both = [("the Verilog", bed.alone()?), ("the model", Bench::model(design))];
        let fabric = RandomFabric::both(both, &top, design, pace, seed);
        let mut fabric = fabric.map_err(|why| why.to_string())?;
        bed.begins();
        fabric.run(periods)?;
    }
    Ok(())
}

/// Periods before a descriptor at random says what no driver must, at which both would stop: found on the model alone.
fn legal(design: &Design, top: &ModuleSpec, pace: Pace, seed: u64) -> Result<u64, String> {
    let say = |why: DutError| why.to_string();
    let pins = Pins::clocked(Bench::model(design), &Clocks::IN_STEP).map_err(say)?;
    let mut alone = RandomFabric::of(pins, top, design, pace, seed).map_err(say)?;
    let stops = (0..PERIODS).find(|_| alone.run(1).is_err());
    // The Verilog may see it some periods earlier.
    Ok(stops.map_or(PERIODS, |period| period.saturating_sub(EARLIER)))
}

/// Each kind of fault, at one used port after the other: all homes that are named read there, and one is named.
fn faults(bed: &Bed) -> Result<(), String> {
    let design = bed.design;
    // Not every port has slices of a short context.
    let whole = Bench::on_model(design).run(&plan(bed, 1)?, &mut |_| false).map_err(|why| why.to_string())?;
    let used: Vec<usize> = (0..whole.ports.len()).filter(|port| whole.ports[*port].requests > 1).collect();
    let kinds = [FaultKind::SlaveError, FaultKind::DecodeError, FaultKind::Mute, FaultKind::Deaf];
    for (at, kind) in kinds.into_iter().enumerate() {
        let port = *used.get(at % used.len().max(1)).ok_or("no port of memory is used")?;
        let mut made = plan(bed, 1)?;
        made.memory.faults = vec![Fault::of_port(port, kind).after(at as u64 % 2)];
        let bench = Bench::on(bed.alone()?, design).map_err(|why| why.to_string())?;
        bed.begins();
        let mut impatient = patience(LOOKS);
        let named = match bench.run(&made, &mut |_| impatient()) {
            Err(DecodeError::Reported { all, .. }) => all,
            Ok(_) => return Err(format!("{kind:?} at port {port} was not reported")),
            Err(other) => return Err(format!("{kind:?} at port {port}: {other}")),
        };
        let silent = matches!(kind, FaultKind::Mute | FaultKind::Deaf);
        let kind_of = if silent { TileErrorKind::Timeout } else { TileErrorKind::Memory };
        let wrong = named.iter().find(|error| {
            design.memory.port(error.tile.0, error.tile.1) as usize != port || error.kind != kind_of
        });
        if let Some(wrong) = wrong {
            return Err(format!("{kind:?} at port {port} was reported as {wrong:?}"));
        }
    }
    Ok(())
}
