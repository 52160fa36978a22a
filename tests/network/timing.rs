//! The verilated fabric meets the specification, to the cycle where it names cycles.

use crate::support::verilated::{
    self, clean, design, emitted, fabric, mixed, multicast, packet, replay, under, unicast, Noted, PHASES,
};
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::network::COUNTERS_PER_PORT;
use meshkv::cosim::traffic::generator::VirtualNetworks;
use meshkv::cosim::traffic::pattern::PatternKind;
use meshkv::cosim::traffic::trace;
use meshkv::cosim::workloads::network::measure::RunError;
use meshkv::design::{Class, Design, Mesh, NodeId, Port};
use std::collections::BTreeSet;

const PATTERNS: [PatternKind; 8] = [
    PatternKind::Uniform,
    PatternKind::Transpose,
    PatternKind::BitComplement,
    PatternKind::BitReverse,
    PatternKind::Shuffle,
    PatternKind::Tornado,
    PatternKind::Neighbour,
    PatternKind::Hotspot,
];

/// A mesh with unequal sides and a router in the middle with all five ports.
fn oblong() -> Design {
    design(4, 3, |_| {})
}

/// Cycles from the source queue to the ejection in an empty network. A router, the source's own included, passes a
/// flit along its row in one cycle, and into a column, along it and into a tile in two. A link between two SLRs has
/// one more register.
fn unloaded(design: &Design, a: NodeId, b: NodeId) -> u64 {
    let ((ax, ay), (bx, by)) = (design.mesh.coords(a), design.mesh.coords(b));
    u64::from(ax.abs_diff(bx) + 2 * ay.abs_diff(by) + design.crossed(ay, by) + 2)
}

/// Directed links of the XY path from `a` to `b`, each by its sending router and output.
fn path(mesh: Mesh, a: NodeId, b: NodeId) -> Vec<(NodeId, Port)> {
    let (bx, by) = mesh.coords(b);
    let mut links = Vec::new();
    let mut at = a;
    loop {
        let (x, y) = mesh.coords(at);
        let port = match (bx.cmp(&x), by.cmp(&y)) {
            (std::cmp::Ordering::Greater, _) => Port::East,
            (std::cmp::Ordering::Less, _) => Port::West,
            (_, std::cmp::Ordering::Greater) => Port::North,
            (_, std::cmp::Ordering::Less) => Port::South,
            _ => return links,
        };
        links.push((at, port));
        at = mesh.neighbour(at, port).expect("the path stays inside");
    }
}

#[test]
fn a_flit_alone_takes_exactly_the_cycles_of_its_path() {
    let without = design(4, 3, |config| config.floorplan.slr_registers = false);
    assert_eq!((without.crossed(0, 2), oblong().crossed(0, 2)), (0, 2));
    for design in [oblong(), without] {
        alone(&design);
    }
}

/// Sends a flit of each class from every tile to every other, one at a time.
fn alone(design: &Design) {
    let mesh = design.mesh;
    let mut dut = fabric(design);
    let mut fabric = Noted { dut: &mut dut, ejections: Vec::new() };
    for class in Class::ALL {
        let pairs: Vec<_> = mesh.nodes().flat_map(|a| mesh.nodes().map(move |b| (a, b))).collect();
        let pairs: Vec<_> = pairs.into_iter().filter(|(a, b)| a != b).collect();
        let packets = pairs.iter().zip(0u64..).map(|(&(a, b), i)| packet(class, a, &[b], 1, 40 * i));
        replay(&mut fabric, design, packets.collect());
        let expected = pairs.iter().zip(0u64..).map(|(&(a, b), i)| (40 * i + unloaded(design, a, b), b));
        assert_eq!(fabric.ejections, expected.collect::<Vec<_>>(), "{class:?}");
    }
}

#[test]
fn a_multicast_flit_alone_reaches_every_tile_as_soon_as_a_unicast_one() {
    let design = oblong();
    let mesh = design.mesh;
    let mut dut = fabric(&design);
    let mut fabric = Noted { dut: &mut dut, ejections: Vec::new() };
    for source in mesh.nodes() {
        let others: Vec<_> = mesh.nodes().filter(|&d| d != source).collect();
        replay(&mut fabric, &design, vec![packet(Class::KvData, source, &others, 1, 0)]);
        let mut expected: Vec<_> = others.iter().map(|&d| (unloaded(&design, source, d), d)).collect();
        expected.sort();
        assert_eq!(fabric.ejections, expected, "from {source:?}");
    }
}

#[test]
fn a_packet_alone_follows_its_head_flit_by_flit_without_a_gap() {
    let design = oblong();
    let mesh = design.mesh;
    let mut dut = fabric(&design);
    let mut fabric = Noted { dut: &mut dut, ejections: Vec::new() };
    let (a, b) = (mesh.node(0, 0).unwrap(), mesh.node(3, 0).unwrap());
    replay(&mut fabric, &design, vec![packet(Class::Part, a, &[b], 16, 0)]);
    let first = unloaded(&design, a, b);
    assert_eq!(fabric.ejections, (first..first + 16).map(|cycle| (cycle, b)).collect::<Vec<_>>());
}

#[test]
fn a_buffer_of_six_flits_keeps_a_link_between_two_slrs_busy() {
    // The way of a flit and of its credit is four cycles, and two more with a register each way.
    for (depth, cycles) in [(6, 29), (4, 7 * 6 + 1), (3, 9 * 6 + 2)] {
        let design = design(2, 3, |config| config.noc.vc_depth = depth);
        let (a, b) = (design.mesh.node(0, 0).unwrap(), design.mesh.node(0, 2).unwrap());
        let mut dut = fabric(&design);
        let mut fabric = Noted { dut: &mut dut, ejections: Vec::new() };
        replay(&mut fabric, &design, vec![packet(Class::Part, a, &[b], 30, 0)]);
        let first = unloaded(&design, a, b);
        let (came, last) = (fabric.ejections[0].0, fabric.ejections[29].0);
        assert_eq!((came, last), (first, first + cycles), "{depth} flits a virtual channel");
    }
}

#[test]
fn links_count_one_flit_on_each_branch_of_the_tree_and_none_elsewhere() {
    let design = oblong();
    let mesh = design.mesh;
    let mut dut = fabric(&design);
    // Every third tile, all tiles, one column: sets of different shape for each source.
    for (source, step) in mesh.nodes().flat_map(|s| [(s, 1), (s, 3), (s, 4)]) {
        let dests: Vec<_> = mesh.nodes().filter(|d| *d != source && d.index() % step == 0).collect();
        let measured = replay(&mut dut, &design, vec![packet(Class::KvData, source, &dests, 3, 0)]);
        let tree: BTreeSet<_> = dests.iter().flat_map(|&d| path(mesh, source, d)).collect();
        assert_eq!(measured.link_flits, 3 * tree.len() as u64);
        for (node, port) in mesh.nodes().flat_map(|n| Port::ALL.map(|p| (n, p))) {
            let expected = match port {
                Port::Local => dests.contains(&node),
                _ => tree.contains(&(node, port)),
            };
            let first = port.index() * COUNTERS_PER_PORT;
            let counted = &measured.counters[node.index()][first..first + 3];
            assert_eq!(counted, [0, 0, 3 * u32::from(expected)], "{node:?} {port:?} from {source:?}");
        }
    }
}

#[test]
fn every_output_is_idle_in_exactly_the_cycles_in_which_it_sends_nothing() {
    let design = oblong();
    let mut dut = fabric(&design);
    for traffic in
        [mixed(3, 0.3, 2), mixed(5, 1.0, 4), unicast(PatternKind::Hotspot, VirtualNetworks::Vn0, 1.0, 1)]
    {
        let measured = clean(&mut dut, &design, &traffic);
        for (node, port) in design.mesh.nodes().flat_map(|n| Port::ALL.map(|p| (n, p))) {
            let first = port.index() * COUNTERS_PER_PORT;
            let [part, fetch, data, blocked, idle] =
                measured.counters[node.index()][first..first + COUNTERS_PER_PORT].try_into().unwrap();
            let flits = part + fetch + data;
            // A total is up to 25 cycles old when it is read, those of one output not equally so.
            let accounted = u64::from(flits + idle);
            assert!(accounted.abs_diff(PHASES.measure) <= 30, "{node:?} {port:?} {traffic:?}: {accounted}");
            assert!(blocked <= idle + 30, "{node:?} {port:?}: a sending output is not blocked");
            if port != Port::Local && design.mesh.neighbour(node, port).is_none() {
                assert_eq!((flits, blocked), (0, 0), "the mesh ends there");
            }
        }
    }
}

#[test]
fn a_head_and_an_express_flit_of_one_input_may_leave_together() {
    // Gave one packet two output channels once: "was sent flits on two VCs at once".
    let design = design(3, 2, |_| {});
    let mut dut = fabric(&design);
    for (load, length) in [(0.2, 3), (0.5, 3), (1.0, 7)] {
        for fanout in [2, 5] {
            clean(&mut dut, &design, &mixed(fanout, load, length));
        }
    }
}

#[test]
fn every_pattern_is_delivered_on_both_networks_at_any_load() {
    // 4x4 is square and a power of two, which some patterns need.
    let design = design(4, 4, |_| {});
    let mut dut = fabric(&design);
    for (pattern, number) in PATTERNS.into_iter().zip(1u32..) {
        for load in [0.1, 1.0] {
            let measured = clean(&mut dut, &design, &unicast(pattern, VirtualNetworks::Both, load, number));
            assert!(measured.accepted > 0.04, "{pattern:?} at {load}: {}", measured.accepted);
        }
    }
}

#[test]
fn multicast_to_all_tiles_is_delivered_at_any_load() {
    for (cols, rows) in [(2, 2), (4, 3)] {
        let design = design(cols, rows, |_| {});
        let mut dut = fabric(&design);
        let others = cols * rows - 1;
        for (load, length) in [(0.02, 1), (1.0, 1), (1.0, 9)] {
            let measured = clean(&mut dut, &design, &multicast(others, load, length));
            if load == 1.0 {
                // Every tile is the destination of every flit: ejection is what limits it.
                assert!(measured.accepted > 0.6, "{cols}x{rows}: {}", measured.accepted);
            }
        }
    }
}

#[test]
fn tiles_that_take_flits_slowly_hold_the_fabric_up_and_lose_nothing() {
    let design = oblong();
    let free = clean(&mut fabric(&design), &design, &mixed(3, 0.3, 4));
    let mut dut = fabric(&design);
    for tile in design.mesh.nodes() {
        dut.stall(tile, 0.6, tile.index() as u64 + 1);
    }
    let slow = clean(&mut dut, &design, &mixed(3, 0.3, 4));
    assert!(slow.accepted < 0.41 && slow.accepted > 0.3, "one flit in 2.5 cycles: {}", slow.accepted);
    assert!(slow.network_latency.mean() > 2.0 * free.network_latency.mean());
}

#[test]
fn a_tile_that_takes_nothing_ends_in_a_stall_that_names_its_router() {
    let design = design(2, 2, |_| {});
    let mut dut = fabric(&design);
    dut.stall(design.mesh.node(1, 1).unwrap(), 1.0, 1);
    let error = under(&mut dut, &design, &unicast(PatternKind::Uniform, VirtualNetworks::Vn0, 0.5, 1));
    match error {
        Err(RunError::Stalled { blocked, .. }) => assert!(blocked.contains("router (1, 1)"), "{blocked}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_flit_starves_under_overload() {
    let design = oblong();
    let mut dut = fabric(&design);
    for traffic in [
        unicast(PatternKind::Uniform, VirtualNetworks::Vn0, 1.0, 1),
        unicast(PatternKind::Uniform, VirtualNetworks::Both, 1.0, 5),
        unicast(PatternKind::Hotspot, VirtualNetworks::Vn0, 1.0, 1),
        multicast(11, 1.0, 1),
        multicast(4, 1.0, 4),
        mixed(4, 1.0, 4),
    ] {
        let measured = clean(&mut dut, &design, &traffic);
        assert!(measured.max_wait < 1000, "{traffic:?}: {} cycles", measured.max_wait);
        let (least, most) =
            (measured.delivered.iter().min().unwrap(), measured.delivered.iter().max().unwrap());
        assert!(*least * 10 > *most, "{traffic:?}: {:?}", measured.delivered);
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let design = oblong();
    let traffic = mixed(3, 0.4, 3);
    let mut dut = fabric(&design);
    let first = clean(&mut dut, &design, &traffic);
    assert_eq!(clean(&mut dut, &design, &traffic), first, "after a reset");
    assert_eq!(clean(&mut fabric(&design), &design, &traffic), first, "in a new instance");
    let mut other = traffic.clone();
    other.seed = 2;
    assert_ne!(clean(&mut dut, &design, &other).latency, first.latency);
}

#[test]
fn what_registers_held_before_the_reset_changes_nothing() {
    let design = design(2, 2, |_| {});
    let library = verilated::library_of(BuildForm::OneRouter, &design, &emitted(&design));
    let runs = [1, 2, 0xffff_ffff_ffff_fffe].map(|seed| {
        let mut dut =
            meshkv::cosim::dut::verilated::verilated_mesh::VerilatedMesh::open(&library, &design, seed)
                .unwrap();
        dut.record(true, true);
        clean(&mut dut, &design, &mixed(2, 0.6, 3))
    });
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
}

#[test]
fn a_trace_is_replayed_flit_for_flit() {
    let design = design(3, 2, |_| {});
    let mut dut = fabric(&design);
    let text = "0,0,5,PART,4\n0,1,0;2;3;4;5,KV_DATA,8,7\n3,5,0,KV_FETCH,1\n3,1,0;2,KV_DATA,2,7\n";
    let packets = trace::parse("t.csv", text, design.mesh).unwrap();
    let measured = replay(&mut dut, &design, packets);
    assert_eq!(measured.delivered.iter().sum::<u64>(), 4 + 5 * 8 + 1 + 2 * 2);
    assert_eq!(measured.run_tree_links, 4 * 3 + 8 * 5 + 3 + 2 * 2);
}

#[test]
fn any_number_of_channels_and_any_depth_deliver_everything() {
    for (vn0, vn1, depth) in [(1, 3, 2), (4, 2, 3), (2, 4, 5), (2, 2, 64)] {
        let design = design(2, 2, |config| {
            (config.noc.vn0_vcs, config.noc.vn1_vcs, config.noc.vc_depth) = (vn0, vn1, depth);
        });
        let mut dut = fabric(&design);
        for traffic in
            [mixed(2, 0.2, 3), mixed(3, 1.0, 6), unicast(PatternKind::Uniform, VirtualNetworks::Vn0, 1.0, 1)]
        {
            clean(&mut dut, &design, &traffic);
        }
    }
}

#[test]
fn routers_without_multicast_deliver_copies_one_by_one() {
    let design = design(3, 2, |config| {
        config.mare.multicast = false;
    });
    let mut dut = fabric(&design);
    for traffic in
        [multicast(5, 0.5, 2), mixed(3, 1.0, 4), unicast(PatternKind::Uniform, VirtualNetworks::Both, 1.0, 3)]
    {
        clean(&mut dut, &design, &traffic);
    }
    let mesh = design.mesh;
    let mut fabric = Noted { dut: &mut dut, ejections: Vec::new() };
    let (a, b) = (mesh.node(2, 0).unwrap(), mesh.node(0, 1).unwrap());
    replay(&mut fabric, &design, vec![packet(Class::KvData, a, &[b], 1, 0)]);
    assert_eq!(fabric.ejections, [(unloaded(&design, a, b), b)]);
}
