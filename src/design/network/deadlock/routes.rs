//! Walks every route of the mesh and collects the turns taken at each router.

use crate::design::network::deadlock::rules::Rules;
use crate::design::{Mesh, NodeId, Port, Turns};
use std::fmt;

/// A route that the routers cannot take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteFault {
    /// First tile of the route, x and y.
    pub source: (u32, u32),
    /// Last tile of the route.
    pub destination: (u32, u32),
    /// The router at which it fails.
    pub at: (u32, u32),
    /// The turn that is absent or leads nowhere.
    pub turn: (Port, Port),
    /// The fault.
    pub what: &'static str,
}

impl std::error::Error for RouteFault {}

impl fmt::Display for RouteFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (input, output) = (self.turn.0.name(), self.turn.1.name());
        write!(
            f,
            "the route from tile {:?} to tile {:?} turns from the {input} input to the {output} output of router {:?}, which {}",
            self.source, self.destination, self.at, self.what
        )
    }
}

/// The turns that routes take at each router, by tile index.
///
/// All pairs of tiles are walked. A multicast adds nothing: each branch of its tree is
/// the route to one of its destinations, and its copies at a router wait for what those wait for.
///
/// # Errors
/// The first turn that the routers do not have, or that does not lead to the destination.
pub(super) fn turns_taken(mesh: Mesh, rules: &Rules) -> Result<Vec<Turns>, RouteFault> {
    let mut taken = vec![Turns::NONE; mesh.tiles()];
    for source in mesh.nodes() {
        for destination in mesh.nodes().filter(|&d| d != source) {
            walk(mesh, rules, source, destination, &mut taken)?;
        }
    }
    Ok(taken)
}

fn walk(
    mesh: Mesh,
    rules: &Rules,
    source: NodeId,
    destination: NodeId,
    taken: &mut [Turns],
) -> Result<(), RouteFault> {
    let (mut at, mut input) = (source, Port::Local);
    loop {
        let output = (rules.route)(mesh, source, at, destination);
        let fault = |what| RouteFault {
            source: mesh.coords(source),
            destination: mesh.coords(destination),
            at: mesh.coords(at),
            turn: (input, output),
            what,
        };
        if !rules.turns.allows(input, output) {
            return Err(fault("is not built"));
        }
        taken[at.index()] = taken[at.index()].with(input, output);
        match mesh.neighbour(at, output) {
            // Every hop must come nearer, so that the walk ends.
            Some(next) if mesh.hops(next, destination) < mesh.hops(at, destination) => {
                (at, input) = (next, output.opposite());
            }
            None if output == Port::Local && at == destination => return Ok(()),
            _ => return Err(fault("does not lead to it")),
        }
    }
}
