//! One verilated router, run once for each router of the mesh, equals the whole mesh in every cycle. A fault in the
//! wiring of the emitted mesh, which the router does not contain, shows as a difference.

use crate::support::sources::source_mut;
use crate::support::verilated::{design, library_of, mixed, multicast, open, unicast, PHASES};
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::network::{Ejection, Entry, Injection, Network, StepStatus, COUNTERS};
use meshkv::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use meshkv::cosim::traffic::generator::{Generator, Traffic, VirtualNetworks};
use meshkv::cosim::traffic::pattern::PatternKind;
use meshkv::cosim::workloads::network::measure::{run, RunError};
use meshkv::cosim::workloads::network::Phases;
use meshkv::design::{Design, NodeId, Port};
use meshkv::emit::{emit, SourceFile};

/// Cycle, tile, VC, head, data.
type Left = (u64, NodeId, u32, Vec<u32>, Vec<u32>);

/// The observable record of a run.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    ejections: Vec<Left>,
    entries: Vec<Entry>,
    /// Busy virtual channels after every cycle.
    busy: Vec<Vec<(NodeId, Port, u32)>>,
    counters: Vec<Vec<[u32; COUNTERS]>>,
}

/// A fabric that is stepped cycle by cycle and recorded.
struct Recorder {
    dut: VerilatedMesh,
    seen: Seen,
}

impl Network for Recorder {
    fn reset(&mut self) -> anyhow::Result<()> {
        Network::reset(&mut self.dut)
    }

    fn cycle(&self) -> u64 {
        self.dut.cycle()
    }

    fn stalls(&self) -> Vec<f64> {
        self.dut.stalls()
    }

    fn inject(&mut self, flit: &Injection<'_>) -> anyhow::Result<()> {
        Network::inject(&mut self.dut, flit)
    }

    fn step(&mut self, cycles: u64) -> anyhow::Result<StepStatus> {
        for _ in 0..cycles {
            if Network::step(&mut self.dut, 1)? == StepStatus::Stuck {
                return Ok(StepStatus::Stuck);
            }
            self.seen.busy.push(self.dut.busy_vcs());
            self.seen.counters.push(self.dut.counters());
        }
        Ok(StepStatus::Done)
    }

    fn take_entries(&mut self, receive: &mut dyn FnMut(Entry)) {
        let seen = &mut self.seen.entries;
        self.dut.take_entries(&mut |entry| {
            seen.push(entry);
            receive(entry);
        });
    }

    fn take_ejections(&mut self, receive: &mut dyn FnMut(Ejection<'_>)) {
        let seen = &mut self.seen.ejections;
        self.dut.take_ejections(&mut |e| {
            seen.push((e.cycle, e.tile, e.vc, e.head.to_vec(), e.data.to_vec()));
            receive(e);
        });
    }

    fn counters(&self) -> Vec<[u32; COUNTERS]> {
        self.dut.counters()
    }

    fn busy_vcs(&self) -> Vec<(NodeId, Port, u32)> {
        self.dut.busy_vcs()
    }

    fn credits_home(&self) -> bool {
        self.dut.credits_home()
    }
}

/// A mesh with enough tiles for two threads, and no border between them at a word of a packed port.
fn four_by_three() -> Design {
    design(4, 3, |_| {})
}

/// The record of some traffic; two tiles accept flits slowly.
fn seen(form: BuildForm, design: &Design, files: &[SourceFile], traffic: &Traffic) -> Seen {
    let mut dut = open(&library_of(form, design, files), design);
    for (x, y, probability) in [(1, 1, 0.6), (3, 0, 0.3)] {
        let tile = design.mesh.node(x, y).expect("a tile of the mesh");
        dut.stall(tile, probability, 5);
    }
    let mut recorder = Recorder { dut, seen: Seen::default() };
    Network::reset(&mut recorder).expect("a fabric that has not stopped");
    let generator = Generator::new(design, traffic).expect("the traffic fits the mesh");
    let phases = Phases { warmup: 0, measure: 1200, ..PHASES };
    // What the scoreboard thinks of it is not asked here: a broken fabric may well not finish.
    let _ = run(&mut recorder, design, generator, &phases, &mut |_| false);
    recorder.seen
}

#[test]
fn tile_and_fabric_show_the_same_in_every_cycle() {
    let design = four_by_three();
    let files = emit(&design).expect("every legal design is emitted");
    for traffic in [
        mixed(3, 0.15, 4),
        multicast(5, 0.1, 2),
        unicast(PatternKind::Uniform, VirtualNetworks::Both, 0.6, 3),
    ] {
        let fabric = seen(BuildForm::WholeMesh, &design, &files, &traffic);
        let tile = seen(BuildForm::OneRouter, &design, &files, &traffic);
        assert!(
            fabric.ejections.len() > 1000 && fabric.entries.len() > 500,
            "{traffic:?}: hardly any traffic"
        );
        assert!(fabric.busy.iter().any(|busy| busy.len() > 4), "{traffic:?}: nothing ever waits");
        assert_eq!(fabric.entries, tile.entries, "{traffic:?}");
        assert_eq!(fabric.ejections, tile.ejections, "{traffic:?}");
        assert_eq!(fabric.busy, tile.busy, "{traffic:?}");
        assert_eq!(fabric.counters, tile.counters, "{traffic:?}");
    }
}

#[test]
fn swapped_links_of_the_mesh_are_a_difference() {
    let design = four_by_three();
    let mut files = emit(&design).expect("every legal design is emitted");
    let traffic = mixed(3, 0.15, 4);
    let tile = seen(BuildForm::OneRouter, &design, &files, &traffic);
    let mesh = source_mut(&mut files, "meshkv_mesh");
    // What the first two columns receive from the north, whole links, each from the other's neighbour.
    let (from, to) = ("gen_row[y+1].gen_col[x].", "gen_row[y+1].gen_col[x<2?1-x:x].");
    assert!(mesh.text.contains(from));
    mesh.text = mesh.text.replace(from, to);
    let fabric = seen(BuildForm::WholeMesh, &design, &files, &traffic);
    assert_ne!(fabric.ejections, tile.ejections);
    // And nothing but the wiring is another: the tile has no part in it.
    assert_eq!(seen(BuildForm::OneRouter, &design, &files, &traffic), tile);
}

#[test]
fn a_register_between_two_slrs_that_the_mesh_lacks_is_a_difference() {
    let design = four_by_three();
    let mut files = emit(&design).expect("every legal design is emitted");
    let traffic = mixed(3, 0.15, 4);
    let tile = seen(BuildForm::OneRouter, &design, &files, &traffic);
    let mesh = source_mut(&mut files, "meshkv_mesh");
    let (from, to) = ("16'b0000000000000011", "16'b0000000000000001");
    assert!(mesh.text.contains(from));
    mesh.text = mesh.text.replace(from, to);
    assert_ne!(seen(BuildForm::WholeMesh, &design, &files, &traffic).ejections, tile.ejections);
}

#[test]
fn a_check_that_fires_in_a_tile_names_its_place_in_the_mesh() {
    let design = four_by_three();
    let mut files = emit(&design).expect("every legal design is emitted");
    let port = source_mut(&mut files, "meshkv_output_credits");
    // A ring of eight slots where the receiver's buffer has four: it overflows.
    let (from, to) =
        ("(PTR_WIDTH),\n                .RING     (RING)", "(3),\n                .RING     (8'h2b)");
    assert!(port.text.contains(from));
    port.text = port.text.replace(from, to);
    let traffic = unicast(PatternKind::Uniform, VirtualNetworks::Both, 1.0, 1);
    let stopped = |form| {
        let mut dut = open(&library_of(form, &design, &files), &design);
        let generator = Generator::new(&design, &traffic).expect("the traffic fits the mesh");
        match run(&mut dut, &design, generator, &PHASES, &mut |_| false) {
            Err(RunError::Network(error)) => format!("{error:#}"),
            other => panic!("{other:?}"),
        }
    };
    let (fabric, tile) = (stopped(BuildForm::WholeMesh), stopped(BuildForm::OneRouter));
    assert!(tile.contains("$stop at src/rtl/network/meshkv_"), "{tile}");
    // The same cycle, check and message; the fabric says the path to it as well.
    let place = |text: &str| {
        let from = text.find("gen_row[").unwrap_or_else(|| panic!("no place: {text}"));
        text[from..].chars().take("gen_row[0].gen_col[0]".len()).collect::<String>()
    };
    assert_eq!(place(&fabric), place(&tile), "{fabric}\n{tile}");
    let before = |text: &str| text.split(" in ").take(2).collect::<Vec<_>>().join(" in ");
    assert_eq!(before(&fabric), before(&tile));
}

#[test]
fn the_watchdog_sees_a_tile_that_takes_nothing() {
    let design = four_by_three();
    let files = emit(&design).expect("every legal design is emitted");
    let stuck = |form| {
        let mut dut = open(&library_of(form, &design, &files), &design);
        dut.stall(design.mesh.node(2, 2).expect("a tile of the mesh"), 1.0, 0);
        let traffic = mixed(2, 0.1, 2);
        let generator = Generator::new(&design, &traffic).expect("the traffic fits the mesh");
        match run(&mut dut, &design, generator, &PHASES, &mut |_| false) {
            Err(RunError::Stalled { cycle, blocked }) => (cycle, blocked),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(stuck(BuildForm::WholeMesh), stuck(BuildForm::OneRouter));
}
