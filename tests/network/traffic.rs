//! Traffic over the emitted fabric: a sound fabric breaks no promise, and a deliberately broken router is caught.

use crate::support::sources::source_mut;
use crate::support::verilated;
use meshkv::config::Config;
use meshkv::cosim::build::{BuildForm, Library};
use meshkv::cosim::checks::violation::ViolationKind;
use meshkv::cosim::dut::network::Network;
use meshkv::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use meshkv::cosim::traffic::generator::{Generator, Shape, Traffic, VirtualNetworks};
use meshkv::cosim::traffic::pattern::PatternKind;
use meshkv::cosim::workloads::network::measure::{run, Measured, RunError};
use meshkv::cosim::workloads::network::Phases;
use meshkv::design::Design;
use meshkv::emit::emit;
use std::sync::OnceLock;

const PHASES: Phases = Phases { warmup: 100, measure: 500, drain_limit: 2000, latency_limit: None };

fn design(cols: u32, rows: u32) -> Design {
    let mut config = Config::default();
    (config.mesh.cols, config.mesh.rows) = (cols, rows);
    config.noc.flit_width = 64;
    Design::from_config("traffic", &config).expect("legal")
}

fn open(library: &Library, design: &Design) -> VerilatedMesh {
    let mut dut = VerilatedMesh::open(library, design, 1).expect("the library fits the design");
    dut.record(true, true);
    dut.watchdog(1000);
    dut
}

/// The emitted 4x2 fabric, on which all patterns but transpose exist.
fn sound() -> (Design, VerilatedMesh) {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    let design = design(4, 2);
    let emitted = || emit(&design).expect("the design can be emitted");
    let library =
        LIBRARY.get_or_init(|| verilated::lasting_library_of(BuildForm::WholeMesh, &design, &emitted()));
    let dut = open(library, &design);
    (design, dut)
}

fn over(dut: &mut VerilatedMesh, design: &Design, traffic: &Traffic) -> Result<Measured, RunError> {
    Network::reset(dut)?;
    let generator = Generator::new(design, traffic).expect("the traffic fits the design");
    run(dut, design, generator, &PHASES, &mut |_| false)
}

fn unicast(pattern: PatternKind, vn: VirtualNetworks) -> Shape {
    Shape::Unicast { pattern, hotspots: Vec::new(), vn }
}

fn all_shapes() -> Vec<Shape> {
    use PatternKind::*;
    let mut shapes =
        vec![Shape::Multicast { fanout: 3 }, Shape::Multicast { fanout: 7 }, Shape::Mixed { fanout: 3 }];
    for pattern in [Uniform, BitComplement, BitReverse, Shuffle, Tornado, Neighbour, Hotspot, AllToOne] {
        for vn in [VirtualNetworks::Vn0, VirtualNetworks::Vn1, VirtualNetworks::Both] {
            shapes.push(unicast(pattern, vn));
        }
    }
    shapes
}

#[test]
fn the_fabric_keeps_its_promises_with_all_traffic_and_counts_its_links() {
    let (design, mut dut) = sound();
    for shape in all_shapes() {
        for (load, packet) in [(0.05, 1), (0.4, 1), (0.4, 5)] {
            let traffic = Traffic { shape: shape.clone(), load, packet, seed: 3 };
            let found = over(&mut dut, &design, &traffic).unwrap_or_else(|e| panic!("{traffic:?}: {e}"));
            assert_eq!(found.violations, [], "{traffic:?}");
            assert_eq!(found.run_link_flits, found.run_tree_links, "{traffic:?}");
            assert!(found.latency.count() > 0);
        }
    }
}

#[test]
fn the_fabric_empties_after_overload_and_starves_nobody() {
    let (design, mut dut) = sound();
    for shape in all_shapes() {
        let traffic = Traffic { shape, load: 1.0, packet: 3, seed: 3 };
        let found = over(&mut dut, &design, &traffic).unwrap_or_else(|e| panic!("{traffic:?}: {e}"));
        assert_eq!(found.violations, [], "{traffic:?}");
        assert!(found.max_wait < 1000, "{traffic:?}: a flit waited {} cycles", found.max_wait);
    }
}

#[test]
fn the_same_seed_gives_the_same_figures_on_a_used_fabric() {
    let (design, mut dut) = sound();
    let traffic = Traffic { shape: Shape::Mixed { fanout: 3 }, load: 0.3, packet: 4, seed: 7 };
    let first = over(&mut dut, &design, &traffic).expect("the run ends");
    assert_eq!(over(&mut dut, &design, &traffic).expect("the run ends"), first);
    let other = over(&mut dut, &design, &Traffic { seed: 8, ..traffic }).expect("the run ends");
    assert_ne!(other.latency, first.latency);
}

#[test]
fn latency_without_load_is_that_of_the_hops() {
    let (design, mut dut) = sound();
    // One packet a time, straight along the row: each router further costs the same.
    let latency = |to: u32| {
        let text = format!("0,0,{to},PART,1\n");
        let packets =
            meshkv::cosim::traffic::trace::parse("t.csv", &text, design.mesh).expect("a legal trace");
        let phases = Phases { warmup: 0, measure: 1, ..PHASES };
        (packets, phases)
    };
    let mut cycles = Vec::new();
    for to in [1, 2, 3] {
        let (packets, phases) = latency(to);
        Network::reset(&mut dut).expect("a sound fabric resets");
        let generator = Generator::from_trace(&design, packets);
        cycles.push(
            run(&mut dut, &design, generator, &phases, &mut |_| false).expect("the run ends").latency.max(),
        );
    }
    assert_eq!(cycles[1] - cycles[0], cycles[2] - cycles[1], "{cycles:?}");
    assert!(cycles[2] <= 2 * 4, "four routers at two cycles each at most: {cycles:?}");
}

/// The emitted 2x2 fabric with a piece of one module replaced.
fn broken(module: &str, pieces: &[(&str, &str)]) -> Result<Measured, RunError> {
    let design = design(2, 2);
    let mut files = emit(&design).expect("the design can be emitted");
    let file = source_mut(&mut files, module);
    for (sound, broken) in pieces {
        assert!(file.text.contains(sound), "{module} no longer says {sound:?}: break it another way");
        file.text = file.text.replacen(sound, broken, 1);
    }
    let mut dut = open(&verilated::library_of(BuildForm::OneRouter, &design, &files), &design);
    let shape = unicast(PatternKind::Uniform, VirtualNetworks::Both);
    over(&mut dut, &design, &Traffic { shape, load: 0.2, packet: 1, seed: 1 })
}

/// Counts what an output sends; the 38th flit is the victim.
const COUNT_SENT: &str = "    reg [7:0] sent_q;
    wire victim = sent_q == 8'd37;
    always @(posedge clk) begin
        if (|go_vc & ~&sent_q) sent_q <= sent_q + 8'd1;
        if (rst) sent_q <= 8'd0;
    end
    reg [VCS-1:0]        tx_valid_q;";

#[test]
fn a_router_that_loses_a_flit_is_caught() {
    let found = broken(
        "meshkv_output_port",
        &[
            ("    reg [VCS-1:0]        tx_valid_q;", COUNT_SENT),
            ("tx_valid_q <= go_vc;", "tx_valid_q <= victim ? {VCS{1'b0}} : go_vc;"),
        ],
    )
    .expect("a few flits fewer do not stop it");
    assert!(found.violations.iter().any(|v| v.kind == ViolationKind::Lost), "{:?}", found.violations);
}

#[test]
fn a_router_that_sends_a_flit_twice_is_caught() {
    // The copy takes a credit of its own, so that only its content gives it away: the output register is seen once more.
    let found = broken(
        "meshkv_router",
        &[
            (
                "    // Outputs: a multiplexer",
                "    reg [7:0] sent_q;
    reg       done_q;
    reg  [VCS-1:0] again_q;
    wire [VCS-1:0] sent_n;
    wire [VCS-1:0] again = (sent_q == 8'd38 & ~done_q & ~|send_vc_n) ? sent_n : {VCS{1'b0}};
    assign tx_n_valid = sent_n | again_q;
    always @(posedge clk) begin
        again_q <= again;
        if (|send_vc_n & ~&sent_q) sent_q <= sent_q + 8'd1;
        if (sent_q == 8'd38) done_q <= 1'b1;
        if (rst) {sent_q, done_q} <= 9'd0;
    end
    // Outputs: a multiplexer",
            ),
            (".tx_valid(tx_n_valid)", ".tx_valid(sent_n)"),
            (".send_vc  (send_vc_n)", ".send_vc  (send_vc_n | again)"),
        ],
    )
    .expect("a few flits more do not stop it");
    assert!(found.violations.iter().any(|v| v.kind == ViolationKind::Duplicate), "{:?}", found.violations);
}

#[test]
fn a_router_with_swapped_ports_is_caught() {
    // What comes from the south and has arrived goes on, and the other way round.
    let result = broken(
        "meshkv_router",
        &[("(s_to_n)", "(s_to_swap)"), ("(s_to_l)", "(s_to_n)"), ("(s_to_swap)", "(s_to_l)")],
    );
    match result {
        Ok(found) => assert!(found.violation_count > 0),
        Err(RunError::Stalled { blocked, .. }) => assert!(blocked.contains("router ("), "{blocked}"),
        Err(stopped) => assert!(stopped.to_string().contains("cycle"), "{stopped}"),
    }
}

#[test]
fn a_router_that_drops_credits_stalls_and_is_named() {
    let drop = "    reg [3:0] freed_q;
    always @(posedge clk) begin
        if (|tx_credit) freed_q <= freed_q + 4'd1;
        if (rst) freed_q <= 4'd0;
    end
    genvar v;";
    let result = broken(
        "meshkv_output_credits",
        &[("    genvar v;", drop), (".credit   (tx_credit[v])", ".credit   (tx_credit[v] & ~&freed_q[1:0])")],
    );
    match result {
        Err(RunError::Stalled { blocked, .. }) => assert!(blocked.contains(" VC "), "{blocked}"),
        other => panic!("it did not stall: {other:?}"),
    }
}
