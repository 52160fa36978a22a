//! Fetches on small fabrics, for tests: plans, and runs of a plan.

use crate::support::sources::source_mut;
use crate::support::verilated::{beside, emitted, library_of};
use meshkv::cosim::build::{BuildForm, Library};
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::dut::watched::power_up;
use meshkv::cosim::hash::mix;
use meshkv::cosim::workloads::fetch::{Bench, Command, FetchError, Fetched, Plan, Resident};
use meshkv::cosim::workloads::SliceId;
use meshkv::design::{Design, NodeId};
use meshkv::emit::{emit, SourceFile};

/// Cycles without movement after which a small fabric is stuck.
pub const WATCHDOG: u64 = 20_000;

/// The library of a design, its tile verilated once.
pub fn node_library(design: &Design) -> Library {
    library_of(BuildForm::TransportPieces, design, &emitted(design))
}

/// Runs a plan on a fabric of its own, in lockstep with the model.
pub fn run_on(library: &Library, design: &Design, plan: &Plan) -> Result<Fetched, FetchError> {
    let both = beside(library, 1, Bench::model(design), &Bench::ports(design), design);
    Bench::on(both.unwrap(), design).unwrap().run(plan, &mut |_, _| false)
}

/// Runs a plan that must end without a violation.
pub fn run_clean(design: &Design, plan: &Plan) -> Fetched {
    let done = run_on(&node_library(design), design, plan).unwrap();
    assert_eq!(done.violations, 0, "{:#?}", done.violation_list);
    done
}

/// Runs a plan on changed sources.
pub fn run_mutant(
    design: &Design,
    plan: &Plan,
    file: &str,
    from: &str,
    to: &str,
) -> Result<Fetched, FetchError> {
    let mut files: Vec<SourceFile> = emit(design).unwrap();
    let source = source_mut(&mut files, file);
    assert_eq!(source.text.matches(from).count(), 1, "{from:?} stands in {file} once");
    source.text = source.text.replace(from, to);
    let library = library_of(BuildForm::TransportPieces, design, &files);
    Bench::on(verilated(&library, power_up(plan.seed)).unwrap(), design).unwrap().run(plan, &mut |_, _| false)
}

/// Slice g of layer 0, segment 0, stream 0.
pub fn slice(g: u32) -> SliceId {
    SliceId { stream: 0, layer: 0, segment: 0, slice: g }
}

pub fn tile(design: &Design, index: usize) -> NodeId {
    design.mesh.nodes().nth(index).expect("a tile of the mesh")
}

/// A request of a tile for one chunk of slice g at its home.
pub fn chunk(design: &Design, cycle: u64, g: u32, home: usize, chunk: u32, mask: u64) -> Command {
    let flits = design.mare.chunk_flits;
    let (first, last) = (chunk * flits, (chunk + 1) * flits - 1);
    Command { cycle, slice: slice(g), home: tile(design, home), mask, first, last }
}

/// A plan that holds slices `0..slices`, slice g at tile g mod tiles, and no command yet.
pub fn plan(design: &Design, slices: u32) -> Plan {
    let tiles = design.mesh.tiles();
    let resident = |g: u32| Resident { slice: slice(g), home: tile(design, g as usize % tiles), cycle: 0 };
    Plan {
        residents: (0..slices).map(resident).collect(),
        commands: vec![Vec::new(); tiles],
        stall: 0,
        seed: 7,
        watchdog: WATCHDOG,
    }
}

/// A small generator of numbers.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = mix(self.0);
        (self.0 >> 16) % n
    }
}

/// A plan of random fetches: `count` commands a tile, `gap` cycles apart on average, from the first `slices` slices.
/// Heads request together, apart, and again.
pub fn random_plan(design: &Design, seed: u64, count: u32, gap: u64, slices: u32) -> Plan {
    let mut random = Random(seed);
    let mut made = plan(design, slices);
    let tiles = design.mesh.tiles();
    let chunks = u64::from(design.mare.slice_flits / design.mare.chunk_flits).min(4);
    let heads = 1_u64 << design.flit.mask_width();
    for commands in &mut made.commands {
        let mut cycle = 0;
        for _ in 0..count {
            cycle += random.below(2 * gap + 1);
            let g = random.below(u64::from(slices)) as u32;
            let mask = 1 + random.below(heads - 1);
            let c = chunk(design, cycle, g, g as usize % tiles, random.below(chunks) as u32, mask);
            commands.push(c);
            // Another head asks a moment later, and often after the data has come.
            if random.below(2) == 0 {
                cycle += random.below(60);
                commands.push(Command { cycle, mask: 1 + random.below(heads - 1), ..c });
            }
        }
    }
    made.seed = seed;
    made
}
