//! Random networks and traffic for lockstep: a case is determined by its seed.

use super::Draw;
use crate::config::Config;
use crate::cosim::dut::network::Network;
use crate::cosim::hash::mix;
use crate::cosim::traffic::generator::{Generator, Shape, Traffic, VirtualNetworks};
use crate::cosim::traffic::pattern::{Hotspot, PatternKind};
use crate::cosim::workloads::network::measure::{run, Measured, RunError, Stop};
use crate::cosim::workloads::network::Phases;
use crate::design::{Design, NodeId};

/// Runs of a case: a fabric takes seconds to build, and each run a fraction of one.
const RUNS: usize = 8;

/// A fabric, and its runs.
#[derive(Debug, Clone)]
pub struct SoakCase {
    /// Seed of the case.
    pub seed: u64,
    /// The fabric.
    pub design: Design,
    /// The runs, one after the other, each after a reset.
    pub runs: Vec<SoakRun>,
}

/// Traffic, and tiles that stall.
#[derive(Debug, Clone)]
pub struct SoakRun {
    /// The traffic.
    pub traffic: Traffic,
    /// By tile, the probability that it frees no slot in a cycle. 0 for tiles that take everything
    /// at once, or that must stop stalling.
    pub stalls: Vec<(NodeId, f64)>,
    /// Lengths of the phases.
    pub phases: Phases,
}

impl SoakCase {
    /// The case of a seed.
    ///
    /// # Panics
    /// Never: every configuration that is drawn is legal.
    pub fn of(seed: u64) -> SoakCase {
        SoakCase::of_length(seed, 1)
    }

    /// The same with so many times as many runs; the first are those of the case.
    ///
    /// # Panics
    /// As [`SoakCase::of`].
    pub fn of_length(seed: u64, length: usize) -> SoakCase {
        let mut draw = Draw::new(seed);
        let config = config(&mut draw);
        let design = Design::from_config("soak", &config).expect("what is drawn is legal");
        let mut stalled: Vec<NodeId> = Vec::new();
        let runs = (0..RUNS * length).map(|_| soak_run(&mut draw, &design, &mut stalled)).collect();
        SoakCase { seed, design, runs }
    }

    /// Seed of a tile's stalls: tiles must not stall in step.
    pub fn stall_seed(&self, node: NodeId) -> u64 {
        mix(self.seed ^ (node.index() as u64) << 32)
    }

    /// The fabric in a few words.
    pub fn title(&self) -> String {
        let (mesh, router) = (self.design.mesh, self.design.router);
        let transport = if router.multicast { "multicast" } else { "unicast" };
        let (vn0, vn1, depth) = (router.vn0_vcs, router.vn1_vcs, router.vc_depth);
        let crossings = if self.design.crossings() == 0 { "" } else { ", SLR registers" };
        let (cols, rows, stages) = (mesh.cols(), mesh.rows(), router.stages);
        format!("{cols} x {rows}, {vn0} + {vn1} VCs x {depth}, {stages} stages, {transport}{crossings}")
    }
}

/// A network of any legal shape; settings that do not affect the network are as small as possible.
fn config(draw: &mut Draw) -> Config {
    let mut config = Config::default();
    // Large meshes are slow to verilate and to run, and have nothing that a smaller one has not.
    let most = if draw.one_in(8) { 16 } else { 6 };
    (config.mesh.cols, config.mesh.rows) = (draw.from(2, most), draw.from(2, most));
    config.noc.flit_width = draw.of(&[64, 64, 64, 128]);
    (config.noc.vn0_vcs, config.noc.vn1_vcs) = (draw.from(1, 4), draw.from(2, 4));
    config.noc.vc_depth = if draw.one_in(6) { draw.from(2, 64) } else { draw.from(2, 9) };
    config.noc.router_stages = draw.of(&[2, 3]);
    config.mare.multicast = !draw.one_in(4);
    config.floorplan.slr_registers = !draw.one_in(3);
    config.kv.segment_tokens = 8;
    config.pe.head_dim = 32;
    config.model.layers = draw.from(1, 4);
    config.model.max_tokens = 256;
    config.noc.parity = draw.one_in(4);
    config
}

fn soak_run(draw: &mut Draw, design: &Design, stalled: &mut Vec<NodeId>) -> SoakRun {
    let shape = shape(draw, design);
    let load = f64::from(draw.of(&[2, 5, 10, 20, 30, 40, 60, 100])) / 100.0;
    let packet = draw.of(&[1, 1, 2, 3, 4, 5, 9, 20]);
    let traffic = Traffic { shape, load, packet, seed: u64::from(draw.from(0, u32::MAX - 1)) };
    // A tile that stalled in the run before must stop.
    let mut stalls: Vec<(NodeId, f64)> = stalled.drain(..).map(|node| (node, 0.0)).collect();
    if draw.one_in(3) {
        let share = draw.of(&[1, 2, 5]);
        for node in design.mesh.nodes() {
            if draw.one_in(share) {
                stalls.push((node, f64::from(draw.from(10, 75)) / 100.0));
                stalled.push(node);
            }
        }
    }
    // Large meshes run slowly, and much happens in each cycle.
    let measure = u64::from(draw.from(500, 1500)) * 36 / (design.mesh.tiles() as u64).max(36);
    let phases = Phases { warmup: 100, measure, drain_limit: 3000, latency_limit: None };
    SoakRun { traffic, stalls, phases }
}

fn shape(draw: &mut Draw, design: &Design) -> Shape {
    use PatternKind::{
        BitComplement, BitReverse, Hotspot as Spot, Neighbour, Shuffle, Tornado, Transpose, Uniform,
    };
    let tiles = design.mesh.tiles() as u32;
    // Most of a large mesh at once takes long to deliver, so it is rare.
    let most = if tiles > 64 && !draw.one_in(8) { 8 } else { tiles - 1 };
    let fanout = draw.from(1, most);
    match draw.from(0, 5) {
        0 => Shape::Multicast { fanout },
        1 | 2 => Shape::Mixed { fanout: if draw.one_in(2) { fanout } else { fanout.min(4) } },
        _ => {
            let vn = draw.of(&[
                VirtualNetworks::Vn0,
                VirtualNetworks::Vn1,
                VirtualNetworks::Both,
                VirtualNetworks::All,
            ]);
            let (x, y) = (draw.from(0, design.mesh.cols() - 1), draw.from(0, design.mesh.rows() - 1));
            let spot = Hotspot { x, y, share: f64::from(draw.from(5, 60)) / 100.0 };
            let wanted = draw.of(&[
                Uniform,
                Uniform,
                Spot,
                Spot,
                Tornado,
                Neighbour,
                Transpose,
                BitComplement,
                BitReverse,
                Shuffle,
            ]);
            let of = |pattern| {
                let hotspots = if pattern == Spot { vec![spot] } else { Vec::new() };
                Shape::Unicast { pattern, hotspots, vn }
            };
            // Not every mesh can have every pattern.
            let probe = Traffic { shape: of(wanted), load: 0.1, packet: 1, seed: 1 };
            match Generator::new(design, &probe) {
                Ok(_) => probe.shape,
                Err(_) => of(Uniform),
            }
        }
    }
}

/// Takes one run through a network with the run's stalls.
///
/// # Errors
/// If the network finds an error of its own, or the run does not end or is stopped.
pub fn take(
    run_of: &SoakRun,
    design: &Design,
    network: &mut dyn Network,
    stop: Stop<'_>,
) -> Result<Measured, RunError> {
    network.reset()?;
    let generator = Generator::new(design, &run_of.traffic).map_err(anyhow::Error::from)?;
    run(network, design, generator, &run_of.phases, stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_follow_from_their_seed_and_reach_all_corners() {
        let cases: Vec<_> = (0..400).map(SoakCase::of).collect();
        assert_eq!(format!("{:?}", cases[7]), format!("{:?}", SoakCase::of(7)));
        let seen = |what: &dyn Fn(&SoakCase) -> bool| cases.iter().filter(|case| what(case)).count();
        type Corner<'a> = (usize, &'a dyn Fn(&SoakCase) -> bool);
        let corners: [Corner<'_>; 9] = [
            (20, &|case| case.design.mesh.tiles() > 64),
            (50, &|case| !case.design.router.multicast),
            (50, &|case| case.design.crossings() == 0),
            (20, &|case| case.design.router.vc_depth == 2),
            (20, &|case| case.design.router.vc_depth > 16),
            (5, &|case| (case.design.router.vn0_vcs, case.design.router.vn1_vcs) == (4, 4)),
            (5, &|case| (case.design.router.vn0_vcs, case.design.router.vn1_vcs) == (1, 2)),
            (200, &|case| case.runs.iter().any(|run| !run.stalls.is_empty())),
            (100, &|case| case.runs.iter().any(|run| run.traffic.load == 1.0)),
        ];
        for (least, what) in corners {
            assert!(seen(what) >= least, "{} of at least {least}", seen(what));
        }
        for case in cases {
            for run in &case.runs {
                Generator::new(&case.design, &run.traffic).expect("traffic that the mesh has");
            }
        }
    }
}
