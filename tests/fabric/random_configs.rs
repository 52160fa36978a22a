//! Random legal configurations: each generates, passes every linter, and its fabric keeps its promises under load.
//!
//! A few cases from a fixed seed; `PROPTEST_CASES=100` and `PROPTEST_RNG_SEED=2` ask for more and for others.
//! A case that fails prints its configuration and its traffic.

use crate::support::verilated::{clean, fabric as fabric_of, mixed, multicast, unicast};
use meshkv::config::{Config, Spread};
use meshkv::cosim::traffic::generator::{Traffic, VirtualNetworks};
use meshkv::cosim::traffic::pattern::PatternKind;
use meshkv::design::Design;
use meshkv::emit::{emit, FABRIC};
use meshkv::synth::lint::passes::{lay_out, Depth, Linters};
use meshkv::tools::interrupt::Interrupt;
use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, RngSeed, TestRunner};
use std::fmt;

/// Number of cases; each builds a fabric, which takes ten seconds and more with many channels.
const CASES: u32 = 2;
/// The seed; it draws routers of both kinds, the narrowest and the widest flits, three and four channels.
const SEED: u64 = 5;

/// A configuration and the traffic of its fabric.
struct Case {
    design: Design,
    traffic: Vec<Traffic>,
}

/// The text of a case that fails.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let toml = toml::to_string(self.design.configuration()).expect("a configuration is TOML");
        self.traffic.iter().try_for_each(|traffic| write!(f, "\n# {traffic:?}"))?;
        write!(f, "\n{toml}")
    }
}

prop_compose! {
    fn network()(
        size in (2u32..=4, 2u32..=4),
        flit_width in prop::sample::select(vec![64u32, 128, 256]),
        // Few channels more often: they decide how long the compiler takes.
        vcs in (prop_oneof![3 => 1u32..=2, 1 => 3u32..=4], prop_oneof![3 => Just(2u32), 1 => 3u32..=4]),
        vc_depth in 2u32..=9,
    ) -> Config {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = size;
        config.noc.flit_width = flit_width;
        (config.noc.vn0_vcs, config.noc.vn1_vcs) = vcs;
        config.noc.vc_depth = vc_depth;
        config
    }
}

prop_compose! {
    /// Draws the remaining keys; the combination decides which are legal.
    fn configuration()(
        mut config in network(),
        mare in (any::<bool>(), prop::bool::weighted(0.75), any::<bool>(), 0u32..=255, 1u32..=16),
        filter in (prop::sample::select(vec![16u32, 64, 256, 4096]), 1u32..=64, 1u32..=4095),
        takv in (prop::option::of(1u32..=31), 0u32..4, prop::option::of(0u32..=65535), prop::bool::weighted(0.25)),
        pad in (any::<bool>(), prop::option::weighted(0.9, 2u32..=64)),
        kv in (1u32..=64, 1u32..=8, prop::sample::select(vec![2u32, 4, 8])),
        pe in (prop::sample::select(vec![32u32, 64, 128]), 1u32..=4),
    ) -> Config {
        let m = &mut config.mare;
        (m.enable, m.multicast, m.dedup, m.coalesce_window, m.tree_build_cycles) = mare;
        // Both kinds of routers are wanted, and `enable` alone makes half of them plain.
        m.enable |= m.multicast;
        (m.bloom_bits, m.tag_entries, m.bloom_refresh) = filter;
        (config.takv.a, config.takv.column_stride, config.takv.swap_epoch) = (takv.0, takv.1, takv.2);
        if takv.3 {
            (config.takv.spread, config.takv.swap_epoch) = (Spread::Slice, None);
        }
        (config.pad.enable, config.pad.fifo_depth) = pad;
        (config.kv.segment_tokens, config.kv.uram_per_tile, config.kv.banks) = kv;
        (config.pe.head_dim, config.pe.array_rows) = pe;
        config
    }
}

fn legal() -> impl Strategy<Value = Design> {
    configuration().prop_filter_map("not legal", |config| Design::from_config("test", &config).ok())
}

prop_compose! {
    fn case()(
        design in legal(),
        flits in (1u32..=6, 1u32..=6, 1u32..=6),
        // From hardly any to more than any mesh takes.
        load in (0.02f64..0.9, 0.02f64..0.5, 0.02f64..1.0),
        share in 0.0f64..1.0,
        seed in 1u64..1000,
    ) -> Case {
        let others = design.mesh.tiles() as u32 - 1;
        let fanout = 1 + (share * f64::from(others - 1)).round() as u32;
        let both = unicast(PatternKind::Uniform, VirtualNetworks::Both, load.2, flits.2);
        let traffic = [mixed(fanout, load.0, flits.0), multicast(fanout, load.1, flits.1), both];
        Case { design, traffic: traffic.map(|traffic| Traffic { seed, ..traffic }).to_vec() }
    }
}

/// The messages of all linters about a fabric; `pad::row` and `emit::lint_matrix` lint the arrays in every shape.
fn lint(design: &Design) -> Vec<String> {
    let linters = Linters::find().expect("lint needs its tools; run `meshkv doctor`");
    let dir = tempfile::tempdir().unwrap();
    let sources = lay_out(&emit(design).expect("every legal design is emitted"), dir.path()).unwrap();
    let passes = linters.passes(&sources, FABRIC, Depth::Places);
    let found = passes.iter().flat_map(|pass| {
        let said = pass.run(dir.path(), &Interrupt::default()).unwrap();
        said.into_iter().map(|m| format!("{} as {}: {}", pass.tool.name, pass.language, m.text))
    });
    found.collect()
}

#[test]
fn legal_configurations_lint_clean_and_keep_their_promises() {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let runs = Runs::default();
    let runs = Runs {
        cases: if asked { runs.cases } else { CASES },
        rng_seed: if runs.rng_seed == RngSeed::Random { RngSeed::Fixed(SEED) } else { runs.rng_seed },
        failure_persistence: None,
        // Every step would build another fabric; the case itself is small already.
        max_shrink_iters: 0,
        ..runs
    };
    let seed = runs.rng_seed;
    let mut runner = TestRunner::new(runs);
    let result = runner.run(&case(), |case| {
        let found = lint(&case.design);
        prop_assert!(found.is_empty(), "{}", found.join("\n"));
        let mut dut = fabric_of(&case.design);
        for traffic in &case.traffic {
            let measured = clean(&mut dut, &case.design, traffic);
            prop_assert!(measured.latency.count() > 0, "nothing was sent: {traffic:?}");
        }
        Ok(())
    });
    result.unwrap_or_else(|failed| panic!("PROPTEST_RNG_SEED={seed}: {failed}"));
}
