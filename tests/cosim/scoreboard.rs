//! The scoreboard accepts an exact network and names each thing that a broken one does wrong.

use crate::support::ideal_network::{Fault, IdealNetwork};
use meshkv::config::Config;
use meshkv::cosim::checks::violation::ViolationKind;
use meshkv::cosim::traffic::generator::{Generator, Shape, Traffic, VirtualNetworks};
use meshkv::cosim::traffic::pattern::PatternKind;
use meshkv::cosim::traffic::trace;
use meshkv::cosim::workloads::network::measure::{run, Measured, RunError};
use meshkv::cosim::workloads::network::Phases;
use meshkv::design::Design;

/// The delivery that a fault hits: inside a packet of four or eight flits, not at its end.
const VICTIM: u64 = 397;

const PHASES: Phases = Phases { warmup: 300, measure: 1000, drain_limit: 5000, latency_limit: None };

fn design(multicast: bool, vn1_vcs: u32) -> Design {
    let mut config = Config::default();
    (config.mesh.cols, config.mesh.rows) = (4, 4);
    config.noc.vn1_vcs = vn1_vcs;
    config.mare.multicast = multicast;
    Design::from_config("test", &config).expect("legal")
}

fn over(design: &Design, fault: Fault, victim: u64, traffic: &Traffic) -> Result<Measured, RunError> {
    let generator = Generator::new(design, traffic).expect("traffic fits the design");
    run(&mut IdealNetwork::new(design, fault, victim), design, generator, &PHASES, &mut |_| false)
}

fn uniform(packet: u32, vn: VirtualNetworks) -> Traffic {
    let shape = Shape::Unicast { pattern: PatternKind::Uniform, hotspots: Vec::new(), vn };
    Traffic { shape, load: 0.3, packet, seed: 1 }
}

fn multicast(packet: u32) -> Traffic {
    Traffic { shape: Shape::Multicast { fanout: 5 }, load: 0.2, packet, seed: 1 }
}

/// The kinds of the first violations, each once, in the order in which they were found.
fn kinds(fault: Fault, traffic: &Traffic) -> Vec<ViolationKind> {
    let measured = over(&design(true, 2), fault, VICTIM, traffic).expect("the run ends");
    assert!(measured.violation_count > 0, "{fault:?} was not caught");
    let mut kinds: Vec<_> = measured.violations.iter().map(|v| v.kind).collect();
    kinds.dedup();
    kinds
}

#[test]
fn an_exact_network_has_no_violation_with_any_traffic() {
    let mixed = Traffic { shape: Shape::Mixed { fanout: 5 }, load: 0.3, packet: 4, seed: 1 };
    for traffic in [uniform(1, VirtualNetworks::Vn0), uniform(4, VirtualNetworks::Both), multicast(4), mixed]
    {
        for design in [design(true, 2), design(false, 2), design(true, 4)] {
            let measured = over(&design, Fault::None, 0, &traffic).expect("the run ends");
            assert_eq!(measured.violations, [], "{traffic:?}");
            assert!(measured.finished);
            assert_eq!(measured.run_link_flits, measured.run_tree_links);
        }
    }
}

#[test]
fn latency_is_exact_from_generation_to_ejection() {
    let mut traffic = uniform(1, VirtualNetworks::Vn0);
    traffic.load = 0.02;
    let measured = over(&design(true, 2), Fault::None, 0, &traffic).expect("the run ends");
    // Two cycles a hop and two for the local ports; the sources hardly ever have two flits at once.
    let unloaded = 2.0 * measured.hops_mean + 2.0;
    assert!((measured.network_latency.mean() - unloaded).abs() < 0.2, "{}", measured.network_latency.mean());
    assert!(measured.latency.mean() >= measured.network_latency.mean());
    assert_eq!(measured.last_delivery, measured.latency);
}

#[test]
fn accepted_equals_offered_while_nothing_saturates() {
    let measured = over(&design(true, 2), Fault::None, 0, &multicast(1)).expect("the run ends");
    assert!((measured.offered - 0.2).abs() < 0.01, "{}", measured.offered);
    assert!((measured.offered_deliveries / measured.offered - 5.0).abs() < 1e-9);
    assert!((measured.accepted - measured.offered_deliveries).abs() < 0.03);
    let delivered: u64 = measured.delivered.iter().sum();
    assert_eq!(delivered as f64, (measured.accepted * 16.0 * 1000.0).round());
}

#[test]
fn a_lost_flit_is_caught() {
    assert_eq!(kinds(Fault::Lose, &uniform(1, VirtualNetworks::Vn0)), [ViolationKind::Lost]);
    assert_eq!(kinds(Fault::Lose, &multicast(1)), [ViolationKind::Lost]);
    // Inside a PART packet its successor shows the gap before the end does.
    let in_packet = kinds(Fault::Lose, &uniform(4, VirtualNetworks::Vn0));
    assert!(in_packet.contains(&ViolationKind::Lost), "{in_packet:?}");
}

#[test]
fn a_duplicated_flit_is_caught_soon_and_late() {
    for fault in [Fault::Duplicate, Fault::DuplicateLate] {
        for traffic in [uniform(1, VirtualNetworks::Vn0), uniform(4, VirtualNetworks::Vn1), multicast(1)] {
            assert_eq!(kinds(fault, &traffic), [ViolationKind::Duplicate], "{fault:?} {traffic:?}");
        }
    }
}

#[test]
fn every_inverted_bit_of_payload_and_head_is_caught() {
    let traffic = Traffic { load: 0.05, ..uniform(2, VirtualNetworks::Both) };
    for bit in [0, 63, 64, 100, 511] {
        assert_eq!(kinds(Fault::InvertPayload(bit), &traffic)[0], ViolationKind::Corrupt, "bit {bit}");
    }
    for bit in 0..design(true, 2).flit.head_width as usize {
        assert_eq!(kinds(Fault::InvertHead(bit), &traffic), [ViolationKind::Corrupt], "bit {bit}");
    }
}

#[test]
fn a_flit_at_another_tile_is_caught_there_and_missed_at_its_own() {
    let found = kinds(Fault::Misroute, &uniform(1, VirtualNetworks::Vn0));
    assert_eq!(found, [ViolationKind::WrongTile, ViolationKind::Lost]);
}

#[test]
fn a_flit_on_a_channel_of_another_class_is_caught() {
    let found = kinds(Fault::WrongVc, &uniform(1, VirtualNetworks::Vn0));
    assert_eq!(found, [ViolationKind::WrongVc]);
}

#[test]
fn overtaking_is_caught_in_packets_and_tags() {
    for traffic in [uniform(8, VirtualNetworks::Vn0), uniform(8, VirtualNetworks::Vn1), multicast(8)] {
        let found = kinds(Fault::Delay, &traffic);
        assert!(found.contains(&ViolationKind::OutOfOrder), "{found:?} with {traffic:?}");
    }
}

#[test]
fn a_wait_beyond_the_bound_is_caught_with_place_and_age() {
    let (design, traffic) = (design(true, 2), uniform(1, VirtualNetworks::Vn0));
    let run = |fault| over(&design, fault, VICTIM, &traffic).expect("the run ends");
    let bound = run(Fault::None).wait_bound;
    // Each source has a bound of its own, by what is sent before; none is so short.
    let within = run(Fault::Late(200));
    assert_eq!((within.violation_count, within.wait_bound), (0, bound));
    let found = run(Fault::Late(bound));
    let kinds: Vec<_> = found.violations.iter().map(|v| v.kind).collect();
    assert_eq!(kinds, [ViolationKind::Overdue]);
    let message = &found.violations[0].message;
    for part in ["tile (", "PART flit 0x", "waited ", "no flit may wait more than "] {
        assert!(message.contains(part), "{message}");
    }
    let named = message.rsplit(' ').next().and_then(|word| word.parse::<u64>().ok());
    assert!(named.is_some_and(|named| named > 200 && named <= bound), "{message} of {bound}");
    assert!(found.max_wait > bound);
}

#[test]
fn packets_that_share_a_channel_flit_by_flit_are_caught() {
    let found = kinds(Fault::Interleave, &uniform(4, VirtualNetworks::Vn0));
    assert!(found.contains(&ViolationKind::Interleaved), "{found:?}");
}

#[test]
fn a_kept_credit_a_kept_flit_and_a_miscounted_link_are_caught() {
    let traffic = uniform(1, VirtualNetworks::Vn0);
    assert_eq!(kinds(Fault::KeepCredit, &traffic), [ViolationKind::Credits]);
    assert_eq!(kinds(Fault::KeepFlit, &traffic), [ViolationKind::Stuck]);
    assert_eq!(kinds(Fault::CountTwice, &traffic), [ViolationKind::Links]);
}

#[test]
fn a_violation_names_flit_tile_channel_and_cycle() {
    let measured = over(&design(true, 2), Fault::Duplicate, VICTIM, &multicast(1)).expect("the run ends");
    let message = &measured.violations[0].message;
    for part in ["cycle ", "tile (", "VC 3", "KV_DATA flit 0x", "1 of 1 of packet ", "came a second time"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn violations_are_counted_beyond_those_that_are_kept() {
    let measured = over(&design(true, 2), Fault::Interleave, 0, &uniform(4, VirtualNetworks::Vn0));
    let measured = measured.expect("the run ends");
    assert_eq!(measured.violations.len(), 16);
    assert!(measured.violation_count > 100);
}

#[test]
fn a_stall_ends_the_run_and_names_router_port_and_channel() {
    let traffic = uniform(1, VirtualNetworks::Vn0);
    let error = over(&design(true, 2), Fault::Stall, VICTIM, &traffic).expect_err("it stalls").to_string();
    assert!(error.contains("none moves any more; blocked: router (1, 0) west VC 1"), "{error}");
}

#[test]
fn overload_is_measured_without_its_backlog() {
    let traffic = Traffic { load: 1.0, ..multicast(1) };
    let design = design(false, 2);
    let phases = Phases { drain_limit: 300, ..PHASES };
    // Five copies each, one at a time: a load of 1.0 is just what a source can send, so it queues up.
    let generator = Generator::new(&design, &traffic).expect("traffic fits the design");
    let measured =
        run(&mut IdealNetwork::new(&design, Fault::None, 0), &design, generator, &phases, &mut |_| false)
            .expect("ends");
    assert_eq!(measured.violation_count, 0);
    assert!(measured.accepted > 0.9 && measured.accepted <= 1.0, "{}", measured.accepted);
    assert!(measured.latency.mean() > measured.network_latency.mean() + 5.0);
}

#[test]
fn the_latency_limit_ends_a_run_that_cannot_keep_it() {
    let phases = Phases { latency_limit: Some(3.0), ..PHASES };
    let design = design(true, 2);
    let generator = Generator::new(&design, &uniform(1, VirtualNetworks::Vn0)).expect("fits");
    let measured =
        run(&mut IdealNetwork::new(&design, Fault::None, 0), &design, generator, &phases, &mut |_| false)
            .expect("ends");
    assert!(!measured.finished);
    assert!(measured.latency.mean() > 3.0);
}

#[test]
fn packets_of_one_trace_tag_must_keep_their_order() {
    let design = design(true, 4);
    let text = "0,0,15;3,KV_DATA,1,7\n1,0,15,KV_DATA,1,7\n2,0,15,KV_DATA,1,8\n";
    let phases = Phases { warmup: 0, measure: 3, drain_limit: 1000, latency_limit: None };
    let found = |fault| {
        let packets = trace::parse("t.csv", text, design.mesh).expect("legal trace");
        let generator = Generator::from_trace(&design, packets);
        let measured =
            run(&mut IdealNetwork::new(&design, fault, 2), &design, generator, &phases, &mut |_| false);
        measured.expect("the run ends").violations.iter().map(|v| v.kind).collect::<Vec<_>>()
    };
    assert_eq!(found(Fault::None), []);
    assert_eq!(found(Fault::Delay), [ViolationKind::OutOfOrder]);
}
