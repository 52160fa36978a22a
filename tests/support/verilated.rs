//! A verilated fabric for tests: small, narrow, built once and kept under target/.
//!
//! It builds, opens and loads fabrics; the assertions belong to the tests.

use meshkv::config::Config;
use meshkv::cosim::build::toolchain::Toolchain;
use meshkv::cosim::build::verilate::{build, BuildOptions};
use meshkv::cosim::build::{BuildForm, Library, RunLength};
use meshkv::cosim::checks::lockstep::PortLockstep;
use meshkv::cosim::dut::network::{Ejection, Entry, Injection, Network, StepStatus, COUNTERS};
use meshkv::cosim::dut::ports::DutPorts;
use meshkv::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::dut::watched::power_up;
use meshkv::cosim::dut::DutError;
use meshkv::cosim::tile_set::TileSet;
use meshkv::cosim::traffic::generator::{Generator, Shape, Traffic, VirtualNetworks};
use meshkv::cosim::traffic::packet::Packet;
use meshkv::cosim::traffic::pattern::PatternKind;
use meshkv::cosim::workloads::network::measure::{run, Measured, RunError};
use meshkv::cosim::workloads::network::Phases;
use meshkv::design::{Class, Design, NodeId, Port};
use meshkv::emit::{emit, ModuleSpec, SourceFile};
use meshkv::tools;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::OnceLock;

/// Cycles without movement after which a fabric is stuck; far beyond any wait in these meshes.
const WATCHDOG: u64 = 1000;

/// Windows are a multiple of the 25 cycles in which the counters are read out, so that they are exact.
pub const PHASES: Phases = Phases { warmup: 504, measure: 2500, drain_limit: 20_000, latency_limit: None };

/// A configuration of little logic, adapted by `change`.
pub fn design(cols: u32, rows: u32, change: impl FnOnce(&mut Config)) -> Design {
    let mut config = Config::default();
    (config.mesh.cols, config.mesh.rows) = (cols, rows);
    config.noc.flit_width = 64;
    config.noc.vc_depth = 4;
    config.kv.segment_tokens = 8;
    config.pe.head_dim = 32;
    config.model.layers = 4;
    config.model.max_tokens = 256;
    change(&mut config);
    Design::from_config("test", &config).expect("a legal configuration")
}

/// Builds emitted files, patched or not, or takes the library from the cache of these tests.
pub fn library_of(form: BuildForm, design: &Design, files: &[SourceFile]) -> Library {
    built(form, RunLength::Brief, design, files)
}

/// The same for a test that runs long enough for optimisation to pay.
pub fn lasting_library_of(form: BuildForm, design: &Design, files: &[SourceFile]) -> Library {
    built(form, RunLength::Quick, design, files)
}

fn built(form: BuildForm, run: RunLength, design: &Design, files: &[SourceFile]) -> Library {
    let toolchain = toolchain().clone();
    let options = BuildOptions { toolchain, form, run, cache_dir: Some(cache()) };
    build(files, design, &options, &mut |_| {}).expect("the fabric compiles")
}

/// The cache of built fabrics, for tests that neither damage nor inspect it.
pub fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("fabric")
}

/// Verilator and the compiler, probed once: a probe takes a tenth of a second, and fabrics are many.
pub fn toolchain() -> &'static Toolchain {
    static TOOLCHAIN: OnceLock<Toolchain> = OnceLock::new();
    TOOLCHAIN.get_or_init(|| {
        let verilator = tools::find(&tools::VERILATOR).expect("tests need Verilator; run `meshkv doctor`");
        Toolchain::probe(verilator.program(), Toolchain::default_cxx()).expect("a C++ compiler")
    })
}

/// An instance after reset, with all recording that a run needs.
pub fn open(library: &Library, design: &Design) -> VerilatedMesh {
    let mut dut = VerilatedMesh::open(library, design, power_up(design.mesh.tiles() as u64))
        .expect("the library is of this design");
    dut.record(true, true);
    dut.watchdog(WATCHDOG);
    dut
}

/// The emitted files of a design, kept until the next design: tests emit the same one many times.
pub fn emitted(design: &Design) -> Rc<[SourceFile]> {
    thread_local! {
        static LAST: RefCell<Option<(String, Rc<[SourceFile]>)>> = const { RefCell::new(None) };
    }
    let key =
        format!("{}\n{}", design.name, toml::to_string(design.configuration()).expect("it came from TOML"));
    LAST.with_borrow_mut(|last| match last {
        Some((of, files)) if *of == key => Rc::clone(files),
        _ => {
            let files: Rc<[SourceFile]> = emit(design).expect("every legal design is emitted").into();
            *last = Some((key, Rc::clone(&files)));
            files
        }
    })
}

/// The emitted fabric of a design in the form of one router, which builds in a third of the time.
/// `network/one_router_form.rs` tests that it equals the whole in every cycle.
pub fn fabric(design: &Design) -> VerilatedMesh {
    open(&library_of(BuildForm::OneRouter, design, &emitted(design)), design)
}

/// Resets the fabric and runs traffic through it.
pub fn under(network: &mut dyn Network, design: &Design, traffic: &Traffic) -> Result<Measured, RunError> {
    network.reset()?;
    let generator = Generator::new(design, traffic).expect("the traffic fits the mesh");
    run(network, design, generator, &PHASES, &mut |_| false)
}

/// The same for traffic that must run without a violation.
pub fn clean(network: &mut dyn Network, design: &Design, traffic: &Traffic) -> Measured {
    let measured = under(network, design, traffic).unwrap_or_else(|e| panic!("{traffic:?}: {e}"));
    assert_eq!(measured.violations, [], "{traffic:?}");
    assert_eq!(measured.run_link_flits, measured.run_tree_links, "{traffic:?}");
    measured
}

/// Resets the fabric and replays packets in it, all of them measured.
pub fn replay(network: &mut dyn Network, design: &Design, packets: Vec<Packet>) -> Measured {
    network.reset().expect("a fabric that has not stopped");
    // Long enough for the last packet, and a multiple of the read-out.
    let last = packets.last().map_or(0, |p| p.cycle);
    let phases = Phases { warmup: 0, measure: (last / 100 + 2) * 100, ..PHASES };
    let generator = Generator::from_trace(design, packets);
    let measured = run(network, design, generator, &phases, &mut |_| false).expect("the run ends");
    assert_eq!(measured.violations, []);
    measured
}

/// A pattern for single destinations.
pub fn unicast(pattern: PatternKind, vn: VirtualNetworks, load: f64, packet: u32) -> Traffic {
    Traffic { shape: Shape::Unicast { pattern, hotspots: Vec::new(), vn }, load, packet, seed: 1 }
}

/// Random sets of `fanout` tiles.
pub fn multicast(fanout: u32, load: f64, packet: u32) -> Traffic {
    Traffic { shape: Shape::Multicast { fanout }, load, packet, seed: 1 }
}

/// All three classes at once.
pub fn mixed(fanout: u32, load: f64, packet: u32) -> Traffic {
    Traffic { shape: Shape::Mixed { fanout }, load, packet, seed: 1 }
}

/// One packet from `source` to some tiles.
pub fn packet(class: Class, source: NodeId, dests: &[NodeId], flits: u32, cycle: u64) -> Packet {
    let mut set = TileSet::default();
    dests.iter().for_each(|d| assert!(set.insert(d.index()), "a tile named twice"));
    Packet { source, dests: set, class, flits, cycle, measured: false, tag: None }
}

/// A fabric that also records the cycle and tile of each ejection.
pub struct Noted<'a> {
    /// The fabric itself.
    pub dut: &'a mut VerilatedMesh,
    /// Cycle and tile of every ejection since the last reset, in order.
    pub ejections: Vec<(u64, NodeId)>,
}

impl Network for Noted<'_> {
    fn reset(&mut self) -> anyhow::Result<()> {
        self.ejections.clear();
        Network::reset(self.dut)
    }

    fn cycle(&self) -> u64 {
        self.dut.cycle()
    }

    fn stalls(&self) -> Vec<f64> {
        self.dut.stalls()
    }

    fn inject(&mut self, flit: &Injection<'_>) -> anyhow::Result<()> {
        Network::inject(self.dut, flit)
    }

    fn step(&mut self, cycles: u64) -> anyhow::Result<StepStatus> {
        Network::step(self.dut, cycles)
    }

    fn take_entries(&mut self, receive: &mut dyn FnMut(Entry)) {
        self.dut.take_entries(receive);
    }

    fn take_ejections(&mut self, receive: &mut dyn FnMut(Ejection<'_>)) {
        let notes = &mut self.ejections;
        self.dut.take_ejections(&mut |e| {
            notes.push((e.cycle, e.tile));
            receive(e);
        });
    }

    fn counters(&self) -> Vec<[u32; COUNTERS]> {
        Network::counters(self.dut)
    }

    fn busy_vcs(&self) -> Vec<(NodeId, Port, u32)> {
        self.dut.busy_vcs()
    }

    fn credits_home(&self) -> bool {
        self.dut.credits_home()
    }
}

/// Verilog beside its model, compared at every port of `top` in every period.
pub fn beside(
    library: &Library,
    seed: u64,
    model: Box<dyn DutPorts>,
    top: &ModuleSpec,
    design: &Design,
) -> Result<Box<dyn DutPorts>, DutError> {
    Ok(Box::new(PortLockstep::beside(verilated(library, seed)?, model, top, design)?))
}
