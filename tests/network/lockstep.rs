//! Model and Verilog in lockstep agree on every link in every cycle, on small meshes with all shapes of network.
//!
//! A difference that lockstep missed would go unnoticed; so a fault on either side must be found and named.

use crate::support::sources::source_mut;
use crate::support::verilated::{self, clean, design, library_of, mixed, multicast, under, unicast};
use meshkv::config::Config;
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::checks::lockstep::{Difference, Lockstep};
use meshkv::cosim::checks::violation::ViolationKind;
use meshkv::cosim::dut::model_mesh::ModelMesh;
use meshkv::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use meshkv::cosim::traffic::generator::{Shape, Traffic, VirtualNetworks};
use meshkv::cosim::traffic::pattern::{Hotspot, PatternKind};
use meshkv::cosim::workloads::network::measure::RunError;
use meshkv::design::{Design, Port};
use meshkv::emit::{emit, SourceFile};
use meshkv::model::cycle::network::Upset;
use std::collections::BTreeMap;
use std::path::Path;

/// The difference of one network from another.
type Change = fn(&mut Config);

fn both_of(design: &Design, files: &[SourceFile]) -> Lockstep {
    let library = library_of(BuildForm::OneRouter, design, files);
    let mut both = Lockstep::new(VerilatedMesh::open(&library, design, 1).unwrap(), design).unwrap();
    both.watchdog(1000);
    both
}

fn both(design: &Design) -> Lockstep {
    both_of(design, &emit(design).unwrap())
}

/// Uniform, multicast, mixed and hotspot traffic, from almost none to beyond saturation.
fn traffics(design: &Design) -> Vec<Traffic> {
    let fanout = design.mesh.tiles() as u32 / 2;
    let spot = Hotspot { x: design.mesh.cols() - 1, y: 0, share: 0.4 };
    let hotspot =
        Shape::Unicast { pattern: PatternKind::Hotspot, hotspots: vec![spot], vn: VirtualNetworks::Both };
    vec![
        unicast(PatternKind::Uniform, VirtualNetworks::Both, 0.05, 1),
        unicast(PatternKind::Uniform, VirtualNetworks::Both, 0.45, 1),
        unicast(PatternKind::Uniform, VirtualNetworks::Vn0, 0.9, 5),
        multicast(fanout, 0.15, 3),
        mixed(fanout, 1.0, 4),
        Traffic { shape: hotspot, load: 0.3, packet: 2, seed: 1 },
    ]
}

/// Runs all traffic through a design in lockstep, the second half with tiles that hold received flits.
fn agree(design: &Design) {
    let mut both = both(design);
    for (i, traffic) in traffics(design).into_iter().enumerate() {
        if i == 3 {
            for node in design.mesh.nodes().filter(|node| node.index() % 2 == 1) {
                both.stall(node, 0.7, node.index() as u64);
            }
        }
        let router = design.router;
        let measured =
            under(&mut both, design, &traffic).unwrap_or_else(|e| panic!("{router:?}, {traffic:?}: {e}"));
        // Tiles that still hold what they received have credits to give back; both are compared in that.
        let wrong = |kind| kind != ViolationKind::Credits || i < 3;
        assert!(!measured.violations.iter().any(|v| wrong(v.kind)), "{traffic:?}: {:?}", measured.violations);
    }
    assert!(both.router_cycles() > 50_000, "{} router-cycles", both.router_cycles());
}

#[test]
fn every_named_network_agrees_on_a_small_mesh() {
    let small = |tiles: u32| match tiles {
        0..=3 => tiles,
        4..=8 => 3,
        _ => 4,
    };
    let mut shapes = BTreeMap::new();
    for entry in Path::new("configs").read_dir().unwrap() {
        let path = entry.unwrap().path();
        let named = Design::load(&path).unwrap_or_else(|report| panic!("{report}")).0.configuration().clone();
        let (cols, rows) = (small(named.mesh.cols), small(named.mesh.rows));
        let multicast = named.mare.enable && named.mare.multicast;
        let noc = &named.noc;
        let key = (cols, rows, multicast, noc.vn0_vcs, noc.vn1_vcs, noc.vc_depth, noc.router_stages);
        shapes.insert(key, named);
    }
    assert!(shapes.len() >= 4, "{:?}", shapes.keys());
    for ((cols, rows, ..), named) in shapes {
        agree(&design(cols, rows, |config| {
            config.mare = named.mare.clone();
            config.noc = meshkv::config::Noc { flit_width: 64, ..named.noc.clone() };
        }));
    }
}

#[test]
fn every_number_of_channels_and_depth_agrees() {
    let variations: [(u32, u32, Change); 7] = [
        (3, 2, |c| (c.noc.vn0_vcs, c.noc.vn1_vcs, c.noc.vc_depth) = (1, 2, 2)),
        (2, 3, |c| (c.noc.vn0_vcs, c.noc.vn1_vcs, c.noc.vc_depth) = (4, 4, 3)),
        (4, 2, |c| {
            (c.noc.vn0_vcs, c.noc.vn1_vcs, c.noc.vc_depth) = (3, 3, 7);
            c.floorplan.slr_registers = false;
        }),
        (2, 5, |c| (c.noc.vn0_vcs, c.noc.vc_depth) = (1, 6)),
        (2, 2, |c| (c.noc.vn0_vcs, c.noc.vn1_vcs, c.mare.multicast) = (1, 4, false)),
        (5, 2, |c| (c.noc.flit_width, c.noc.vc_depth) = (128, 64)),
        (3, 3, |c| (c.noc.vn1_vcs, c.noc.vc_depth, c.mare.enable) = (3, 5, false)),
    ];
    for stages in [2, 3] {
        for (cols, rows, change) in variations {
            agree(&design(cols, rows, |config| {
                change(config);
                config.noc.router_stages = stages;
            }));
        }
    }
}

#[test]
fn the_model_alone_gives_the_figures_of_the_verilog() {
    let design = design(3, 3, |_| {});
    let library = library_of(BuildForm::OneRouter, &design, &emit(&design).unwrap());
    let (mut dut, mut model) = (verilated::open(&library, &design), ModelMesh::new(&design));
    model.watchdog(1000);
    for traffic in traffics(&design) {
        assert_eq!(clean(&mut model, &design, &traffic), clean(&mut dut, &design, &traffic));
    }
}

#[test]
fn memory_of_the_model_does_not_grow_over_a_run() {
    let design = design(4, 4, |_| {});
    let mut model = ModelMesh::new(&design);
    let traffic = mixed(3, 1.0, 4);
    clean(&mut model, &design, &traffic);
    // Twice the traffic needs no more records at a time.
    assert_eq!(model.routers().flits(), 0);
    let records = model.records();
    clean(&mut model, &design, &Traffic { seed: 2, ..traffic });
    assert!(model.records() <= records + records / 10, "{} after {records}", model.records());
}

/// The difference that lockstep finds under this traffic, if any.
fn find(both: &mut Lockstep, design: &Design, traffic: &Traffic) -> Option<Difference> {
    match under(both, design, traffic) {
        Err(RunError::Network(error)) => {
            Some(error.downcast().unwrap_or_else(|e| panic!("another error: {e:#}")))
        }
        Err(other) => panic!("another error: {other}"),
        Ok(_) => None,
    }
}

fn found(both: &mut Lockstep, design: &Design, traffic: &Traffic) -> Difference {
    find(both, design, traffic).expect("it is found")
}

fn load() -> Traffic {
    unicast(PatternKind::Uniform, VirtualNetworks::Both, 0.4, 2)
}

/// Changes one emitted module within router (1, 1), and runs traffic through it.
fn mutant(module: &str, from: &str, to: &str, traffic: &Traffic) -> Difference {
    let design = design(3, 3, |_| {});
    let mut files = emit(&design).unwrap();
    let file = source_mut(&mut files, module);
    assert!(file.text.contains(from), "{module} has no `{from}` to break");
    file.text = file.text.replace(from, to);
    found(&mut both_of(&design, &files), &design, traffic)
}

#[test]
fn a_broken_router_is_named_with_port_and_field() {
    let here = "(x == 1 && y == 1)";
    // A bit of the header, of what the tile sends east.
    let from = "wire [ROW_OUT_WIDTH-1:0] l_on_east  = {";
    let to = format!("wire [ROW_OUT_WIDTH-1:0] l_on_east = {{{{ROW_OUT_WIDTH-1{{1'b0}}}}, {here}}} ^ {{");
    let broken = mutant("meshkv_router", from, &to, &load());
    assert_eq!((broken.router, broken.field.as_str()), (Some(((1, 1), Port::East)), "head"), "{broken}");

    // Whether an express flit goes on.
    let (from, to) =
        ("({e_ahead_w, e_dest, rx_e_head})", format!("({{e_ahead_w ^ {here}, e_dest, rx_e_head}})"));
    let broken = mutant("meshkv_router", from, &to, &load());
    assert_eq!((broken.router, broken.field.as_str()), (Some(((1, 1), Port::West)), "ahead"), "{broken}");

    // A cycle that was blocked is not counted: nothing on any link shows it.
    let (from, to) = ("= {blocked_q[2],", format!("= {{blocked_q[2] & ~{here},"));
    let broken =
        mutant("meshkv_router", from, &to, &unicast(PatternKind::Uniform, VirtualNetworks::Vn0, 1.0, 4));
    let expected = (Some(((1, 1), Port::East)), "counter of blocked cycles");
    assert_eq!((broken.router, broken.field.as_str()), expected, "{broken}");
}

#[test]
fn a_turn_that_is_taken_otherwise_is_found() {
    // A correct allocator, but not this one: no scoreboard can tell.
    let (from, to) = ("turn_q <= turn_d;", "turn_q <= 1'b0;");
    let broken = mutant("meshkv_wrr_sides", from, to, &load());
    assert!(broken.router.is_some() && broken.rtl != broken.model, "{broken}");
}

#[test]
fn a_model_that_is_upset_is_found_where_it_was() {
    let design = design(3, 3, |_| {});
    let mut both = both(&design);
    let node = design.mesh.node(1, 1).unwrap();
    for port in [Port::East, Port::Local] {
        both.upset_at(400, node, Upset::LoseCredits(port));
        let found = found(&mut both, &design, &load());
        assert_eq!((found.router, found.field.as_str()), (Some(((1, 1), port)), "valid"), "{found}");
        assert!((400..480).contains(&found.cycle), "{found}");
    }
    // A turn that is skipped matters only if two ask then, so some cycles are tried.
    let full = unicast(PatternKind::Uniform, VirtualNetworks::Both, 1.0, 2);
    let skipped = (400..500).find_map(|cycle| {
        both.upset_at(cycle, node, Upset::SkipTurn(Port::West));
        find(&mut both, &design, &full).map(|found| (found.cycle - cycle, found))
    });
    let (after, found) = skipped.expect("one of a hundred turns matters");
    assert_eq!(found.router.map(|(place, _)| place), Some((1, 1)), "{found}");
    assert!(after < 10, "{found}");
}
