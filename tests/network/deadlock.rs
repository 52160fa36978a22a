//! The graph of waits is acyclic for emitted fabrics and cyclic for wrongly built ones.

use crate::support::sources::source;
use assert_cmd::Command;
use meshkv::config::Config;
use meshkv::design::network::deadlock::{check, Rules, Scope, Verdict};
use meshkv::design::{Class, Design, Mesh, NodeId, Port, TURNS};
use meshkv::emit;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn design(change: impl Fn(&mut Config)) -> Design {
    let mut config = Config::default();
    change(&mut config);
    Design::from_config("test", &config).unwrap()
}

fn shape(cols: u32, rows: u32) -> Design {
    design(|c| (c.mesh.cols, c.mesh.rows) = (cols, rows))
}

/// The verdicts for a fabric with changed rules.
fn mutated(design: &Design, change: impl Fn(&mut Rules)) -> Vec<Verdict> {
    let mut rules = Rules::of(design);
    change(&mut rules);
    check(design, &rules).unwrap()
}

/// Scopes with a cycle.
fn cyclic(verdicts: &[Verdict]) -> Vec<Scope> {
    for v in verdicts {
        assert_eq!(v.cycle.is_empty(), v.longest_chain.is_some(), "{v:?}");
    }
    verdicts.iter().filter(|v| !v.cycle.is_empty()).map(|v| v.scope).collect()
}

fn cycle_of(verdicts: &[Verdict], scope: Scope) -> &[String] {
    &verdicts.iter().find(|v| v.scope == scope).unwrap().cycle
}

/// (vertices, edges, longest chain) of every scope.
fn numbers(verdicts: &[Verdict]) -> Vec<(usize, usize, Option<usize>)> {
    verdicts.iter().map(|v| (v.vertices, v.edges, v.longest_chain)).collect()
}

#[test]
fn every_named_configuration_is_acyclic() {
    let mut seen = 0;
    for entry in fs::read_dir("configs").unwrap() {
        let (design, _) = Design::load(&entry.unwrap().path()).unwrap();
        assert_eq!(cyclic(&mutated(&design, |_| {})), [], "{}", design.name);
        seen += 1;
    }
    assert!(seen >= 4);
}

#[test]
fn every_shape_and_number_of_virtual_channels_is_acyclic() {
    for (cols, rows) in [(2, 2), (2, 16), (16, 2), (3, 5), (16, 4)] {
        for (vn0_vcs, vn1_vcs) in [(1, 2), (4, 4)] {
            for multicast in [false, true] {
                let design = design(|c| {
                    (c.mesh.cols, c.mesh.rows) = (cols, rows);
                    (c.noc.vn0_vcs, c.noc.vn1_vcs) = (vn0_vcs, vn1_vcs);
                    c.mare.multicast = multicast;
                });
                let verdicts = mutated(&design, |_| {});
                assert_eq!(cyclic(&verdicts), [], "{cols}x{rows}, {vn0_vcs} and {vn1_vcs}");
                // Injected, then along a row, along a column, and into the tile.
                let chain = 1 + (cols - 1) + (rows - 1) + 1;
                assert_eq!(verdicts[2].longest_chain, Some(chain as usize));
            }
        }
    }
}

/// Counted by hand. A router of a 2x2 mesh has three inputs (row, column, tile) and one exit, and takes
/// five turns: tile to row, tile to column, row to column, row to tile, column to tile.
/// In a tile ten waits: room for fetch, for either virtual channel of PART; fetch register for
/// injection, for the table; arrived fetch for the table; table for the stream; staging for the
/// stream, for arrived fetches; stream for injection: 1 + 2 + 2 + 1 + 1 + 2 + 1.
#[test]
fn a_2x2_mesh_has_the_numbers_counted_by_hand() {
    let verdicts = mutated(&shape(2, 2), |_| {});
    let (part, one_vc) = ((4 * 4 * 2, 4 * 5 * 2 * 2, Some(4)), (4 * 4, 4 * 5, Some(4)));
    let tiles = 4 * 5;
    let all = (32 + 16 + 16 + tiles, 80 + 20 + 20 + 4 * 10, Some(5 + 7));
    assert_eq!(numbers(&verdicts), [part, one_vc, one_vc, all]);
}

/// Three by two: the columns at the sides have two inputs from links, the one between has three.
#[test]
fn a_3x2_mesh_has_the_numbers_counted_by_hand() {
    let verdicts = mutated(&shape(3, 2), |_| {});
    // Inputs: 6 from tiles, 8 along rows, 6 along columns. Exits: 6.
    let vertices = 6 + 8 + 6 + 6;
    // Tile to row 8, tile to column 6, row to row 4, row to column 8, row to tile 8, column to tile 6.
    let edges = 8 + 6 + 4 + 8 + 8 + 6;
    assert_eq!(numbers(&verdicts)[2], (vertices, edges, Some(5)));
    assert_eq!(numbers(&verdicts)[0], (2 * vertices, 4 * edges, Some(5)));
}

#[test]
fn no_turn_is_built_in_vain() {
    let design = shape(3, 3);
    for (input, output) in TURNS.pairs() {
        let mut rules = Rules::of(&design);
        let others = TURNS.pairs().filter(|&turn| turn != (input, output));
        rules.turns = others.fold(meshkv::design::Turns::NONE, |turns, (i, o)| turns.with(i, o));
        let fault = check(&design, &rules).unwrap_err();
        assert_eq!(fault.turn, (input, output));
    }
}

/// Row first from every second tile, column first from the others.
fn mixed_route(mesh: Mesh, source: NodeId, at: NodeId, destination: NodeId) -> Port {
    let ((x, y), (to_x, to_y)) = (mesh.coords(at), mesh.coords(destination));
    let corner = mesh.node(x, to_y).unwrap();
    if source.index().is_multiple_of(2) || y == to_y || x == to_x {
        mesh.xy_port(at, destination)
    } else {
        mesh.xy_port(at, corner)
    }
}

#[test]
fn a_route_that_needs_a_turn_from_column_to_row_is_refused() {
    let design = shape(3, 3);
    let mut rules = Rules::of(&design);
    rules.route = mixed_route;
    let fault = check(&design, &rules).unwrap_err();
    assert_eq!(fault.what, "is not built");
    assert!(matches!(fault.turn, (Port::North | Port::South, Port::East | Port::West)), "{fault}");
}

#[test]
fn mixing_both_orders_of_dimensions_is_a_cycle_in_every_class() {
    let columns_to_rows = [
        (Port::North, Port::East),
        (Port::North, Port::West),
        (Port::South, Port::East),
        (Port::South, Port::West),
    ];
    let verdicts = mutated(&shape(3, 3), |rules| {
        rules.turns = columns_to_rows.iter().fold(TURNS, |turns, &(i, o)| turns.with(i, o));
        rules.route = mixed_route;
    });
    assert_eq!(cyclic(&verdicts), Scope::ALL);
    // Once round a square of four routers, all on links between them.
    let cycle = cycle_of(&verdicts, Scope::Class(Class::KvData));
    assert_eq!(cycle.len(), 4, "{cycle:#?}");
    assert!(cycle.iter().all(|resource| resource.starts_with("router ") && !resource.contains("local")));
}

#[test]
fn a_route_that_does_not_arrive_is_refused() {
    let design = shape(3, 3);
    for route in [
        |_: Mesh, _: NodeId, _: NodeId, _: NodeId| Port::East,
        |mesh: Mesh, source, at, destination| match at == source {
            true => mesh.xy_port(at, destination),
            false => Port::Local,
        },
    ] {
        let mut rules = Rules::of(&design);
        rules.route = route;
        assert_eq!(check(&design, &rules).unwrap_err().what, "does not lead to it");
    }
}

#[test]
fn requests_and_replies_on_one_virtual_channel_are_a_cycle() {
    let verdicts = mutated(&shape(2, 2), |rules| {
        rules.vcs[Class::KvFetch as usize] = rules.vcs[Class::KvData as usize].clone();
    });
    // Neither class alone has it: it closes at the home.
    assert_eq!(cyclic(&verdicts), [Scope::RequestReply]);
    let cycle = cycle_of(&verdicts, Scope::RequestReply);
    assert!(cycle.iter().any(|resource| resource.contains("request table")), "{cycle:#?}");
    assert!(cycle.iter().any(|resource| resource.contains("KV_FETCH and KV_DATA")), "{cycle:#?}");
}

#[test]
fn a_requester_that_does_not_reserve_is_a_cycle() {
    let verdicts = mutated(&shape(2, 2), |rules| rules.requester_reserves = false);
    assert_eq!(cyclic(&verdicts), [Scope::RequestReply]);
    // The shortest stays in a tile that fetches from itself.
    let told: Vec<_> = ["room in the requester's FIFO", "the requester's fetch register"]
        .into_iter()
        .chain(["the home's request table", "the home's stream"])
        .map(|resource| format!("tile (0, 0), {resource}"))
        .collect();
    assert_eq!(cycle_of(&verdicts, Scope::RequestReply), told);
    // What comes from other homes finds no room either: arrival and stream wait for it in every tile.
    let built = mutated(&shape(2, 2), |_| {});
    assert_eq!(verdicts[3].edges, built[3].edges + 4 * 2);
}

#[test]
fn a_reduce_root_that_sends_before_it_takes_is_a_cycle() {
    let verdicts = mutated(&shape(2, 2), |rules| rules.root_consumes = false);
    assert_eq!(cyclic(&verdicts), [Scope::RequestReply]);
    let cycle = cycle_of(&verdicts, Scope::RequestReply);
    assert!(cycle.iter().all(|resource| resource.contains("PART")), "{cycle:#?}");
}

#[test]
fn a_home_without_room_to_park_fetches_is_a_cycle() {
    let verdicts = mutated(&shape(2, 2), |rules| rules.parking_has_room = false);
    assert_eq!(cyclic(&verdicts), [Scope::RequestReply]);
}

/// The connection of `.name` in a port list, without its brackets.
fn connection<'a>(text: &'a str, name: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!(".{name} ")).unwrap();
    let (inside, _) = rest.split_once('\n').unwrap();
    inside.trim_start_matches([' ', '(']).trim_end_matches([',', ')'])
}

/// Elements of a concatenation of single bits, the highest first; a constant as as many `0`.
fn bits(concatenation: &str) -> Vec<&str> {
    let inside = concatenation.trim_start_matches('{').split('}').next().unwrap();
    let bit = |element: &str| match element.split_once("'b") {
        Some((_, zeros)) => zeros.len(),
        None => 1,
    };
    inside.split(", ").flat_map(|element| vec![element; bit(element)]).collect()
}

#[test]
fn the_emitted_router_has_exactly_these_turns() {
    for multicast in [false, true] {
        let design = design(|c| c.mare.multicast = multicast);
        let files = emit::emit(&design).unwrap();
        let router = source(&files, "meshkv_router");
        let mut seen = BTreeSet::new();
        for part in router.text.split("meshkv_input_port #(").skip(1) {
            let (part, _) = part.split_once(");").unwrap();
            let (_, name) = part.split_once(") u_input_").unwrap();
            let input = Port::ALL.into_iter().find(|p| name.starts_with(p.letter())).unwrap();

            let mask = connection(part, "OUTPUTS").strip_prefix("5'b").unwrap().to_owned();
            assert_eq!(u8::from_str_radix(&mask, 2).unwrap(), TURNS.mask(input), "{input:?}: {mask}");

            // What is never set in the route is what the mask leaves out.
            let route = connection(part, "rx_route");
            let routed: String =
                bits(route).iter().map(|bit| if bit.contains('\'') { '0' } else { '1' }).collect();
            assert_eq!(routed, mask, "{input:?}: {route}");
            seen.insert(input);
        }
        assert_eq!(seen.len(), 5);
    }
}

#[test]
fn the_command_prints_the_table_and_ends_with_0() {
    let run = |args: &[&str]| {
        let output = Command::cargo_bin("meshkv").unwrap().args(args).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = run(&["check", "configs/tiny.toml", "--deadlock"]);
    assert_eq!((code, text.matches("acyclic").count()), (Some(0), 4), "{text}");
    let (code, plain) = run(&["check", "configs/tiny.toml"]);
    assert_eq!((code, plain.contains("acyclic")), (Some(0), false));
    assert!(text.starts_with(&plain));

    let (_, text) = run(&["check", "configs/tiny.toml", "--deadlock", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&value["name"], &value["deadlock"]["acyclic"]), (&"tiny".into(), &true.into()));
    for class in ["PART", "KV_FETCH", "KV_DATA", "request_reply"] {
        let verdict = &value["deadlock"][class];
        assert_eq!(verdict["acyclic"], true, "{class}");
        assert!(["vertices", "edges", "longest_chain"].iter().all(|key| verdict[key].is_u64()), "{class}");
    }
    assert_eq!(run(&["check", "tests/config/rejected/unknown_key.toml", "--deadlock"]).0, Some(2));
    assert!(Path::new("docs/deadlock.md").is_file(), "the table points there");
}
