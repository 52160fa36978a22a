//! Freedom from deadlock: builds the graph of waits in the fabric and looks for cycles.
//!
//! A vertex is a [`Resource`]. An edge means that the head of one may need the other before it can leave (the
//! channel dependency graph of Dally and Seitz, 1987, continued through the tiles as in Duato, 1993).
//! `docs/deadlock.md` has the argument and its other premises.
//!
//! The graph is built from the [`Design`] alone, by walking every route over the `TURNS` that the router's
//! template is rendered from. The behaviour of tiles is a set of [`Rules`], so that a test can change one and
//! see the cycle found.

mod graph;
mod resource;
mod routes;
mod rules;

pub use graph::Graph;
pub use resource::Resource;
pub use routes::RouteFault;
pub use rules::Rules;

use crate::design::{Class, Design, Mesh, NodeId, Port, Turns};
use std::collections::BTreeSet;

/// A set of waits that is independent of others, or all waits together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Buffers of one class.
    Class(Class),
    /// Buffers of all classes, and their dependencies inside the tiles.
    RequestReply,
}

/// Result for one scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The scope.
    pub scope: Scope,
    /// Resources.
    pub vertices: usize,
    /// Waits: pairs of resources.
    pub edges: usize,
    /// Resources on the longest chain of waits; none with a cycle.
    pub longest_chain: Option<usize>,
    /// A shortest cycle, each resource in words and waiting for the next, the last for the first.
    /// Empty if there is none.
    pub cycle: Vec<String>,
}

impl Scope {
    /// All scopes, in the order of a report.
    pub const ALL: [Scope; 4] = [
        Scope::Class(Class::Part),
        Scope::Class(Class::KvFetch),
        Scope::Class(Class::KvData),
        Scope::RequestReply,
    ];

    /// Virtual network and class, as in a report.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            Scope::Class(Class::Part) => ("VN0", Class::Part.name()),
            Scope::Class(class) => ("VN1", class.name()),
            Scope::RequestReply => ("both", "request-reply"),
        }
    }
}

/// Builds the graph of every scope and looks for cycles.
///
/// # Errors
/// When a route needs a turn that the routers do not have: then there is no graph.
pub fn check(design: &Design, rules: &Rules) -> Result<Vec<Verdict>, RouteFault> {
    let taken = routes::turns_taken(design.mesh, rules)?;
    Ok(Scope::ALL.map(|scope| verdict(design.mesh, rules, &taken, scope)).to_vec())
}

fn verdict(mesh: Mesh, rules: &Rules, taken: &[Turns], scope: Scope) -> Verdict {
    let graph = graph_of(mesh, rules, taken, scope);
    let longest_chain = graph.longest_chain();
    let cycle = match longest_chain {
        Some(_) => None,
        None => graph.shortest_cycle(),
    };
    Verdict {
        scope,
        vertices: graph.vertices(),
        edges: graph.edges(),
        longest_chain,
        cycle: cycle.unwrap_or_default().into_iter().map(|resource| resource.words(mesh, rules)).collect(),
    }
}

fn graph_of(mesh: Mesh, rules: &Rules, taken: &[Turns], scope: Scope) -> Graph<Resource> {
    let classes = match scope {
        Scope::Class(class) => vec![class],
        Scope::RequestReply => Class::ALL.to_vec(),
    };
    let mut waits = BTreeSet::new();
    let mut resources = BTreeSet::new();
    for class in classes {
        waits.extend(network_waits(mesh, rules, taken, class));
        resources.extend(buffers(mesh, rules, class));
    }
    if scope == Scope::RequestReply {
        waits.extend(mesh.nodes().flat_map(|tile| tile_waits(rules, tile)));
    }
    Graph::new(resources, &waits)
}

/// Every buffer of a class in the hardware, used by a route or not. An input at the mesh edge has none.
fn buffers(mesh: Mesh, rules: &Rules, class: Class) -> Vec<Resource> {
    let linked = |tile, input| input == Port::Local || mesh.neighbour(tile, input).is_some();
    let inputs = mesh.nodes().flat_map(|tile| Port::ALL.map(|input| (tile, input)));
    let mut buffers = Vec::new();
    for (tile, input) in inputs.filter(|&(tile, input)| linked(tile, input)) {
        buffers.extend(rules.vcs(class).map(|vc| Resource::Buffer { tile, input, vc }));
    }
    for tile in mesh.nodes() {
        buffers.extend(rules.vcs(class).map(|vc| Resource::Exit { tile, vc }));
    }
    buffers
}

/// Waits between the buffers of a class: from each input to the resource behind each output that a route
/// takes from there.
fn network_waits(mesh: Mesh, rules: &Rules, taken: &[Turns], class: Class) -> Vec<(Resource, Resource)> {
    let mut waits = Vec::new();
    for tile in mesh.nodes() {
        for (input, output) in taken[tile.index()].pairs() {
            for vc in rules.vcs(class) {
                // A packet of PART gets any free virtual channel at every hop. A flit of VN1 keeps its
                // channel number.
                let next_vcs = if class == Class::Part { rules.vcs(class) } else { vc..vc + 1 };
                let from = Resource::Buffer { tile, input, vc };
                waits.extend(next_vcs.map(|vc| (from, behind(mesh, tile, output, vc))));
            }
        }
    }
    waits
}

/// The slots that a flit needs which leaves `tile` by `output`.
fn behind(mesh: Mesh, tile: NodeId, output: Port, vc: u32) -> Resource {
    match mesh.neighbour(tile, output) {
        Some(tile) => Resource::Buffer { tile, input: output.opposite(), vc },
        None => Resource::Exit { tile, vc },
    }
}

/// Waits inside a tile, from one class to the next.
///
/// KV_DATA that arrives, or stays in its own tile, has no waits: it goes into reserved room or is dropped as
/// a duplicate.
fn tile_waits(rules: &Rules, tile: NodeId) -> Vec<(Resource, Resource)> {
    use Resource::{Buffer, Exit, Fetch, Room, Staging, Stream, Table};
    let injected = |class| rules.vcs(class).map(move |vc| Buffer { tile, input: Port::Local, vc });
    let arrived = |class| rules.vcs(class).map(move |vc| Exit { tile, vc });

    // Room becomes free when the reserved flits have arrived, so the fetch must leave. It also needs PaD to
    // consume them, which may first have to send a PART.
    let mut waits = vec![(Room(tile), Fetch(tile))];
    waits.extend(injected(Class::Part).map(|part| (Room(tile), part)));
    // A fetch goes to the network, or to the home of its own tile.
    waits.extend(injected(Class::KvFetch).map(|fetch| (Fetch(tile), fetch)));
    waits.push((Fetch(tile), Table(tile)));
    // A fetch stays in the home's FIFO while the table is full; a fetch of an absent slice is parked. An
    // entry waits for the stream. A slice's slot is released when all expected requesters have fetched it and
    // nothing of it is left to stream.
    waits.extend(arrived(Class::KvFetch).map(|fetch| (fetch, Table(tile))));
    waits.extend([(Table(tile), Stream(tile)), (Staging(tile), Stream(tile))]);
    waits.extend(arrived(Class::KvFetch).map(|fetch| (Staging(tile), fetch)));
    waits.extend(injected(Class::KvData).map(|data| (Stream(tile), data)));

    if !rules.requester_reserves {
        waits.extend(arrived(Class::KvData).map(|data| (data, Room(tile))));
        waits.push((Stream(tile), Room(tile)));
    }
    if !rules.root_consumes {
        for part in arrived(Class::Part) {
            waits.extend(injected(Class::Part).map(|sent| (part, sent)));
        }
    }
    if !rules.parking_has_room {
        waits.extend(arrived(Class::KvFetch).map(|fetch| (fetch, Staging(tile))));
    }
    waits
}
