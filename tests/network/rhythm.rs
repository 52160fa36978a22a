//! Steady flows that meet in a rhythm: each keeps its share, and waits do not grow with the run.
//!
//! Random traffic shifts against every turn of an arbiter, so it cannot find turns that lock to the rhythm of returning
//! credits. Flows that repeat every few cycles do, and are judged one by one. All run on the cycle model; one test holds
//! it equal to the Verilog under such flows.

use crate::support::verilated::{design, library_of};
use meshkv::config::Config;
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::checks::lockstep::Lockstep;
use meshkv::cosim::dut::model_mesh::ModelMesh;
use meshkv::cosim::dut::network::{Ejection, Entry, Injection, Network, StepStatus, COUNTERS};
use meshkv::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use meshkv::cosim::hash::mix;
use meshkv::cosim::tile_set::TileSet;
use meshkv::cosim::traffic::generator::Generator;
use meshkv::cosim::traffic::packet::Packet;
use meshkv::cosim::workloads::network::measure::{run, Measured};
use meshkv::cosim::workloads::network::Phases;
use meshkv::design::{Class, Design, NodeId, Port, CLAIM_PERIOD, CLAIM_PERIODS};
use meshkv::emit::emit;
use std::collections::BTreeMap;
use std::path::Path;

/// Packets of one class from a tile to others, so many in a row in every period.
#[derive(Debug, Clone)]
struct Flow {
    source: usize,
    dests: Vec<usize>,
    class: Class,
    flits: u32,
    period: u64,
    burst: u64,
    from: u64,
}

impl Flow {
    /// One flit in each period, to one tile.
    fn single(class: Class, source: usize, dest: usize, period: u64, from: u64) -> Flow {
        Flow { source, dests: vec![dest], class, flits: 1, period, burst: 1, from }
    }

    /// Flits of so many cycles.
    fn offered(&self, cycles: u64) -> u64 {
        cycles * self.burst / self.period * u64::from(self.flits)
    }
}

fn packets(design: &Design, flows: &[Flow], cycles: u64) -> Vec<Packet> {
    let mut packets = Vec::new();
    for cycle in 0..cycles {
        for (flow, tag) in flows.iter().zip(1..) {
            if cycle < flow.from || (cycle - flow.from) % flow.period >= flow.burst {
                continue;
            }
            let mut dests = TileSet::default();
            flow.dests.iter().for_each(|&tile| assert!(dests.insert(tile)));
            let source = design.mesh.node_at(flow.source).expect("a tile");
            // KV_DATA of one flow stays on one channel.
            let tag = (flow.class == Class::KvData).then_some(tag);
            packets.push(Packet {
                source,
                dests,
                class: flow.class,
                flits: flow.flits,
                cycle,
                measured: false,
                tag,
            });
        }
    }
    packets
}

/// A network that counts what each source queue has sent by a cycle.
struct Counted<'a, N: Network> {
    inner: &'a mut N,
    until: u64,
    entered: BTreeMap<(usize, usize), u64>,
}

impl<N: Network> Network for Counted<'_, N> {
    fn reset(&mut self) -> anyhow::Result<()> {
        self.inner.reset()
    }
    fn cycle(&self) -> u64 {
        self.inner.cycle()
    }
    fn stalls(&self) -> Vec<f64> {
        self.inner.stalls()
    }
    fn inject(&mut self, flit: &Injection<'_>) -> anyhow::Result<()> {
        self.inner.inject(flit)
    }
    fn step(&mut self, cycles: u64) -> anyhow::Result<StepStatus> {
        self.inner.step(cycles)
    }
    fn take_entries(&mut self, receive: &mut dyn FnMut(Entry)) {
        let (until, entered) = (self.until, &mut self.entered);
        self.inner.take_entries(&mut |entry| {
            if entry.cycle < until {
                *entered.entry((entry.tile.index(), entry.class as usize)).or_default() += 1;
            }
            receive(entry);
        });
    }
    fn take_ejections(&mut self, receive: &mut dyn FnMut(Ejection<'_>)) {
        self.inner.take_ejections(receive);
    }
    fn counters(&self) -> Vec<[u32; COUNTERS]> {
        self.inner.counters()
    }
    fn busy_vcs(&self) -> Vec<(NodeId, Port, u32)> {
        self.inner.busy_vcs()
    }
    fn credits_home(&self) -> bool {
        self.inner.credits_home()
    }
}

/// What a run gave, and the flits that each flow sent within its cycles.
fn send<N: Network>(network: &mut N, design: &Design, flows: &[Flow], cycles: u64) -> (Measured, Vec<u64>) {
    network.reset().expect("a network that has not stopped");
    let mut counted = Counted { inner: network, until: cycles, entered: BTreeMap::new() };
    let phases = Phases { warmup: 0, measure: cycles, drain_limit: 500, latency_limit: None };
    let generator = Generator::from_trace(design, packets(design, flows, cycles));
    let measured = run(&mut counted, design, generator, &phases, &mut |_| false).expect("nothing stalls");
    let of = |flow: &Flow| counted.entered.get(&(flow.source, flow.class as usize)).copied().unwrap_or(0);
    let sent = flows.iter().map(of).collect();
    (measured, sent)
}

/// Random numbers from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, count: u64) -> u64 {
        self.0 += 1;
        mix(self.0) % count
    }
}

/// Two to six flows whose ways meet at one router, each class of a tile at most once.
fn drawn(design: &Design, seed: u64) -> Vec<Flow> {
    let mut draw = Draw(mix(seed) >> 8);
    let (mesh, tiles) = (design.mesh, design.mesh.tiles() as u64);
    let meeting = mesh.node_at(draw.below(tiles) as usize).expect("a tile");
    let (count, mut flows) = (2 + draw.below(5) as usize, Vec::<Flow>::new());
    while flows.len() < count {
        let [source, dest] = [0; 2].map(|_| draw.below(tiles) as usize);
        let class =
            [Class::Part, Class::Part, Class::KvFetch, Class::KvData, Class::KvData][draw.below(5) as usize];
        let (burst, several) = ([1, 1, 2, 5][draw.below(4) as usize], draw.below(4) == 0);
        let [from, to] = [source, dest].map(|tile| mesh.node_at(tile).expect("a tile"));
        let known = flows.iter().any(|flow| flow.source == source && flow.class == class);
        if source == dest || known || mesh.hops(from, meeting) + mesh.hops(meeting, to) > mesh.hops(from, to)
        {
            continue;
        }
        // Of the shortest ways the one along the row first is taken.
        let ((x, y), (_, from_y), (to_x, _)) = (mesh.coords(meeting), mesh.coords(from), mesh.coords(to));
        if y != from_y && x != to_x {
            continue;
        }
        let mut dests = vec![dest];
        let other = draw.below(tiles) as usize;
        if class == Class::KvData && several && other != source && other != dest {
            dests.push(other);
        }
        let period = burst * (1 + draw.below(4));
        let flits = if class == Class::Part { 1 + draw.below(3) as u32 } else { 1 };
        flows.push(Flow { source, dests, class, flits, period, burst, from: 50 + draw.below(period) });
    }
    flows
}

/// Cycles of a run, and of one that must have no longer waits.
const SHORT: u64 = 6000;
const LONG: u64 = 24_000;

/// Cycles after which a head that waits at a router claims.
const CLAIMS_FROM: u64 = (CLAIM_PERIOD * (CLAIM_PERIODS + 1)) as u64;

/// Judges flows one by one.
fn judge(design: &Design, flows: &[Flow], long: bool) {
    let mut model = ModelMesh::new(design);
    let (measured, sent) = send(&mut model, design, flows, SHORT);
    assert_eq!(measured.violations, [], "{flows:?}");
    // Every tile of a class has a part of the narrowest output, and classes take turns there.
    let share = SHORT / (3 * design.mesh.tiles() as u64);
    for (flow, sent) in flows.iter().zip(sent) {
        let least = flow.offered(SHORT - flow.from).min(share) / 2;
        assert!(sent >= least, "{} stages: {sent} flits of {flow:?} among {flows:?}", design.router.stages);
    }
    if long {
        let (later, _) = send(&mut model, design, flows, LONG);
        assert_eq!(later.violations, [], "{flows:?}");
        // Chance decides waits that are shorter than those for two claims.
        let most = (measured.max_wait + measured.max_wait / 5).max(2 * CLAIMS_FROM);
        assert!(later.max_wait <= most, "{} cycles, then {}: {flows:?}", measured.max_wait, later.max_wait);
    }
}

/// Both routers, with any number of channels for KV.
fn judge_all(seeds: std::ops::Range<u64>, long: bool) {
    for stages in [2, 3] {
        for vn1_vcs in [2, 3, 4] {
            let design = design(3, 3, |config: &mut Config| {
                (config.noc.router_stages, config.noc.vn1_vcs, config.noc.vc_depth) = (stages, vn1_vcs, 8);
            });
            seeds.clone().for_each(|seed| judge(&design, &drawn(&design, seed), long));
        }
    }
}

#[test]
fn flows_that_meet_in_a_rhythm_keep_their_shares() {
    judge_all(0..25, false);
}

#[test]
fn no_rhythm_of_flows_that_meet_locks_one_of_them_out() {
    judge_all(0..400, true);
}

/// PART from two tiles of a column to its end, while the nearer one also sends KV_DATA the other way, and another stream
/// of KV_DATA comes to the end.
fn column(cols: usize, [period, phase, other, shift]: [u64; 4]) -> Vec<Flow> {
    vec![
        Flow::single(Class::KvData, cols, 2 * cols, 2, 50 + other),
        Flow::single(Class::Part, cols, 0, period, 50 + phase),
        Flow::single(Class::Part, 2 * cols, 0, 1, 54 + shift),
        Flow::single(Class::KvData, 1, 0, 1, 51),
    ]
}

/// All phases of those flows.
fn phases() -> impl Iterator<Item = [u64; 4]> {
    (1..=4).flat_map(|period| {
        let shifts = (0..period).flat_map(move |phase| (0..6).map(move |shift| (phase, shift)));
        shifts.flat_map(move |(phase, shift)| [0, 1].map(|other| [period, phase, other, shift]))
    })
}

#[test]
fn a_column_shared_by_both_networks_serves_each_in_every_phase() {
    let load = |stages| {
        let (named, _) = Design::load(Path::new("configs/u280_4x8.toml")).unwrap_or_else(|e| panic!("{e}"));
        let mut config = named.configuration().clone();
        config.noc.router_stages = stages;
        Design::from_config("column", &config).expect("legal")
    };
    let [two, three] = [2, 3].map(load);
    let [mut before, mut model] = [&two, &three].map(ModelMesh::new);
    for phase in phases() {
        let flows = column(4, phase);
        let (with_two, of_two) = send(&mut before, &two, &flows, SHORT);
        let (measured, sent) = send(&mut model, &three, &flows, SHORT);
        for measured in [with_two, measured] {
            assert_eq!(measured.violations, [], "{phase:?}");
            assert!(measured.max_wait <= 600, "{phase:?}: {} cycles", measured.max_wait);
            assert!(measured.wait_bound <= 2000, "{phase:?}: a bound of {}", measured.wait_bound);
        }
        for ((flow, sent), before) in flows.iter().zip(sent).zip(of_two) {
            assert!(2 * sent >= before, "{phase:?}: {sent} of {before} flits of {flow:?}");
        }
    }
}

#[test]
fn the_model_is_the_verilog_when_flows_meet_in_a_rhythm() {
    for (stages, vn1_vcs, depth) in [(3, 2, 8), (3, 3, 16), (2, 3, 4)] {
        let design = design(2, 3, |config| {
            (config.noc.router_stages, config.noc.vn1_vcs, config.noc.vc_depth) = (stages, vn1_vcs, depth);
        });
        let library = library_of(BuildForm::OneRouter, &design, &emit(&design).unwrap());
        let mut both = Lockstep::new(VerilatedMesh::open(&library, &design, 1).unwrap(), &design).unwrap();
        let columns = phases().step_by(5).map(|phase| column(2, phase));
        for flows in columns.chain((0..12).map(|seed| drawn(&design, seed))) {
            let (measured, _) = send(&mut both, &design, &flows, 3000);
            assert_eq!(measured.violations, [], "{flows:?}");
        }
    }
}
