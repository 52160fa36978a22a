//! Network: `meshkv_mesh`, all routers and the links between them, cycle by cycle.
//!
//! A period has this order. The tiles read [`RouterMesh::shown`] and [`RouterMesh::credits_shown`], inject
//! flits with [`RouterMesh::inject`] and return credits with [`RouterMesh::credit`]. Then
//! [`RouterMesh::tick`] runs the clock edge. Nothing is allocated once the lists have grown to what the mesh
//! can hold. Inputs that neither hold nor receive a flit cost no work.

use super::links::Way;
use super::routers::Routers;
use crate::design::{Design, Mesh, NodeId, Port};
use crate::model::cycle::network::flits::flit::Flit;
use crate::model::cycle::network::flits::work_lists::WorkLists;

/// Stored flit that waits for injection; reset discards it.
#[derive(Debug, Clone, Copy)]
pub struct Kept(u32);

/// Flit at a tile in this period.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// Tile.
    pub tile: usize,
    /// Virtual channel.
    pub vc: u32,
    /// Flit.
    pub flit: &'a Flit,
}

/// Fault injected into one router, for tests of comparisons with this model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upset {
    /// An output loses all its credits.
    LoseCredits(Port),
    /// The arbiter of an output skips a turn.
    SkipTurn(Port),
}

/// All routers of a mesh.
#[derive(Debug)]
pub struct RouterMesh {
    mesh: Mesh,
    cycle: u64,
    state: Routers,
    work: WorkLists,
}

impl RouterMesh {
    /// Creates the mesh in its reset state.
    pub fn new(design: &Design) -> RouterMesh {
        RouterMesh { mesh: design.mesh, cycle: 0, state: Routers::new(design), work: WorkLists::new() }
    }

    /// Resets everything; the next period is 0.
    pub fn reset(&mut self) {
        self.state.reset(self.mesh);
        self.cycle = 0;
    }

    /// Periods since reset, and so the number of the current one.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Puts a flit on the link from a tile in this period: at most one a tile, and only with a credit.
    ///
    /// # Panics
    /// If the flit's destination is outside the mesh.
    pub fn inject(&mut self, tile: usize, vc: u32, flit: &Flit) {
        let kept = self.keep(flit);
        self.inject_kept(tile, vc, kept);
    }

    /// Stores a flit for one later injection.
    ///
    /// # Panics
    /// If the flit's destination is outside the mesh.
    pub fn keep(&mut self, flit: &Flit) -> Kept {
        Kept(self.state.flits.insert(flit))
    }

    /// Injects a stored flit, like [`RouterMesh::inject`].
    pub fn inject_kept(&mut self, tile: usize, vc: u32, Kept(flit): Kept) {
        self.state.links.inject(tile as u8, vc as u8, flit);
    }

    /// Returns a credit for a slot at the tile, in this period.
    pub fn credit(&mut self, tile: usize, vc: u32) {
        // The router counts it at the edge, after all its decisions in this period.
        self.state.credits.given.push((tile as u8, vc as u8));
    }

    /// Flits at tiles in this period, in order of tiles.
    pub fn shown(&self) -> impl ExactSizeIterator<Item = Shown<'_>> {
        let flits = &self.state.flits;
        self.state.links.shown().iter().map(|shown| Shown {
            tile: usize::from(shown.to.tile()),
            vc: u32::from(shown.to.vc()),
            flit: flits.flit(shown.flit),
        })
    }

    /// Credits to tiles in this period: tile and virtual channel.
    pub fn credits_shown(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let credits = self.state.credits.at_tiles();
        credits.iter().map(|freed| (usize::from(freed.at.tile()), u32::from(freed.at.vc())))
    }

    /// Ends the period.
    pub fn tick(&mut self) {
        self.state.counters.scan(self.cycle + 1);
        self.state.cycle(&mut self.work);
        self.cycle += 1;
    }

    /// Flits that routers drive to routers in this period: tile and input at the far end, virtual channel,
    /// flit. Valid before the tiles inject.
    pub fn links(&self) -> impl Iterator<Item = (NodeId, Port, u32, &Flit)> {
        let (links, routers, flits) = (&self.state.links, &self.state.routers, &self.state.flits);
        // A flit that arrives from another SLR left its sender one period ago.
        let near = links.column().iter().filter(|moving| {
            routers[usize::from(moving.to.tile())].ways[usize::from(moving.to.port())] == Way::Column
        });
        links.row().iter().chain(near).chain(links.crossing()).map(|moving| {
            let node =
                self.mesh.node_at(usize::from(moving.to.tile())).expect("links lead to tiles of the mesh");
            (
                node,
                Port::ALL[usize::from(moving.to.port())],
                u32::from(moving.to.vc()),
                flits.flit(moving.flit),
            )
        })
    }

    /// All credits on the wires in this period: tile and input of the freed slot, and the virtual channel.
    pub fn all_credits(&self) -> impl Iterator<Item = (usize, Port, u32)> + '_ {
        let credits = self.state.credits.shown();
        credits.map(|f| (usize::from(f.at.tile()), Port::ALL[usize::from(f.at.port())], u32::from(f.at.vc())))
    }

    /// Virtual channels of a router's input that hold a flit, a bit each.
    pub fn busy(&self, tile: usize, input: Port) -> u32 {
        u32::from(self.state.occupied(tile, input.index()))
    }

    /// Any buffer holds a flit.
    pub fn any_busy(&self) -> bool {
        self.state.holds()
    }

    /// Returns a total of a router as the scan has driven it up to this period; see
    /// [`TOTALS_PER_PORT`](super::TOTALS_PER_PORT).
    pub fn counter(&self, tile: usize, total: usize) -> u32 {
        self.counters(total)[tile]
    }

    /// The same of all routers, by tile.
    pub fn counters(&self, total: usize) -> &[u32] {
        self.state.counters.read(total, self.cycle)
    }

    /// Flits stored or inside the network, each counted once.
    pub fn flits(&self) -> usize {
        self.state.flits.len()
    }

    /// Injects a fault into a router.
    pub fn upset(&mut self, tile: NodeId, upset: Upset) {
        let router = &mut self.state.routers[tile.index()];
        match upset {
            Upset::LoseCredits(port) => router.outputs.lose_credits(port.index()),
            Upset::SkipTurn(port) => router.allocator.skip_turn(port.index()),
        }
    }
}
