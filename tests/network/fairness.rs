//! Beyond saturation every source has its share, and no flit waits longer the longer the run is.
//!
//! All runs are on the cycle model at full load. Other tests hold it equal to the Verilog.

use crate::support::verilated::{mixed, multicast, unicast};
use meshkv::config::Config;
use meshkv::cosim::dut::model_mesh::ModelMesh;
use meshkv::cosim::traffic::generator::{Generator, Traffic, VirtualNetworks};
use meshkv::cosim::traffic::pattern::PatternKind;
use meshkv::cosim::workloads::network::measure::{run, Measured};
use meshkv::cosim::workloads::network::Phases;
use meshkv::design::Design;
use PatternKind::{AllToOne, BitComplement, BitReverse, Hotspot, Shuffle, Tornado, Transpose, Uniform};
use VirtualNetworks::{Both, Vn0, Vn1};

/// An 8x8 mesh without registers between dies.
fn design(change: impl FnOnce(&mut Config)) -> Design {
    let mut config = Config::default();
    config.floorplan.slr_registers = false;
    change(&mut config);
    Design::from_config("fairness", &config).expect("legal")
}

fn measure(design: &Design, traffic: &Traffic, cycles: u64) -> Measured {
    let generator = Generator::new(design, traffic).expect("traffic fits the design");
    let phases = Phases { warmup: 1000, measure: cycles, drain_limit: 500, latency_limit: None };
    let mut model = ModelMesh::new(design);
    let measured = run(&mut model, design, generator, &phases, &mut |_| false).expect("nothing stalls");
    assert_eq!(measured.violation_count, 0, "{:?}", measured.violations);
    measured
}

fn full(pattern: PatternKind, vn: VirtualNetworks, packet: u32) -> Traffic {
    unicast(pattern, vn, 1.0, packet)
}

#[test]
fn the_slowest_source_has_its_share_of_every_pattern() {
    let design = design(|_| {});
    for (traffic, least, accepted) in [
        (full(BitComplement, Vn0, 1), 0.98, 0.245),
        (full(BitComplement, Vn1, 1), 0.98, 0.245),
        (full(BitComplement, Both, 1), 0.98, 0.245),
        (full(BitComplement, Both, 4), 0.98, 0.245),
        (full(Transpose, Vn0, 1), 0.56, 0.21),
        (full(Transpose, Vn1, 1), 0.56, 0.21),
        (full(Transpose, Both, 1), 0.56, 0.21),
        (full(Transpose, Both, 4), 0.56, 0.21),
        (full(Uniform, Both, 1), 0.85, 0.43),
        (full(Tornado, Both, 1), 0.85, 0.30),
        (full(BitReverse, Both, 1), 0.70, 0.15),
        (full(Shuffle, Both, 1), 0.10, 0.35),
        (full(Hotspot, Both, 1), 0.75, 0.145),
        (full(AllToOne, Both, 1), 0.95, 0.0155),
    ] {
        let measured = measure(&design, &traffic, 20_000);
        let slowest = measured.slowest_source.expect("flits come");
        assert!(slowest >= least, "{traffic:?}: the slowest source has {slowest:.3} of the mean");
        assert!(measured.accepted >= accepted, "{traffic:?}: {:.4} accepted", measured.accepted);
    }
}

#[test]
fn the_longest_wait_does_not_grow_with_the_run() {
    let design = design(|_| {});
    for (traffic, bound) in [
        (full(Transpose, Vn0, 1), 500),
        (full(Transpose, Vn1, 1), 500),
        (full(BitComplement, Vn1, 1), 500),
        (full(Transpose, Both, 1), 1800),
        (full(BitComplement, Both, 1), 1800),
        (full(Uniform, Both, 1), 1000),
        (full(Tornado, Both, 1), 1800),
        (mixed(8, 1.0, 1), 2500),
        (full(Hotspot, Both, 1), 4500),
    ] {
        // The longest of few cycles is chance: three runs of them.
        let short = (1..=3).map(|seed| measure(&design, &Traffic { seed, ..traffic.clone() }, 3000).max_wait);
        let short = short.max().expect("three runs");
        let long = measure(&design, &traffic, 48_000).max_wait;
        assert!(long <= bound, "{traffic:?}: {long} cycles");
        assert!(long <= short + short / 5 + 100, "{traffic:?}: {short} cycles, then {long}");
    }
}

#[test]
fn no_flit_starves_whatever_the_number_of_channels() {
    for (vn0, vn1, depth) in [(1, 2, 2), (2, 3, 8), (3, 4, 5), (4, 2, 3)] {
        let design = design(|config| {
            (config.mesh.cols, config.mesh.rows) = (5, 4);
            (config.noc.vn0_vcs, config.noc.vn1_vcs, config.noc.vc_depth) = (vn0, vn1, depth);
        });
        for traffic in [full(Uniform, Vn1, 1), full(Tornado, Both, 3), mixed(4, 1.0, 2), multicast(4, 1.0, 1)]
        {
            let [short, long] = [3000, 24_000].map(|cycles| measure(&design, &traffic, cycles).max_wait);
            assert!(long <= 2 * short + 200, "{vn0} {vn1} {depth} {traffic:?}: {short} cycles, then {long}");
        }
    }
}
