//! The network: `meshkv_mesh`, all routers and the links between them, a cycle at a time.
//!
//! What is done in a period, in this order: the tiles look at [`RouterMesh::shown`] and
//! [`RouterMesh::credits_shown`], put flits on their links with [`RouterMesh::inject`] and give credits back with
//! [`RouterMesh::credit`], then [`RouterMesh::tick`] runs the edge that ends it. Nothing is allocated on the way once the
//! lists have grown to what the mesh can hold. Routers that neither hold nor receive a flit are not looked at.

use super::allocator::L;
use super::counters::Counters;
use super::flit::Flit;
use super::input::Phase;
use super::router::Router;
use super::shape::Shape;
use super::store::Store;
use super::wires::{Credits, Links, World};
use crate::design::{Design, Mesh, NodeId, Port};

pub use super::counters::{TOTALS, TOTALS_PER_PORT};

/// The inputs that neighbours lead to.
const SIDES: [Port; 4] = [Port::North, Port::South, Port::East, Port::West];

/// A flit that shows at a tile in this period.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// Where.
    pub tile: usize,
    /// On which virtual channel.
    pub vc: u32,
    /// What.
    pub flit: &'a Flit,
}

/// A change of one router's state that no traffic makes: for tests of what compares with this model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upset {
    /// An output forgets all credits it has.
    LoseCredits(Port),
    /// The arbiter of an output skips a turn.
    SkipTurn(Port),
}

/// All routers of a mesh.
#[derive(Debug)]
pub struct RouterMesh {
    mesh: Mesh,
    cycle: u64,
    routers: Vec<Router>,
    world: World,
}

impl RouterMesh {
    /// As after reset.
    pub fn new(design: &Design) -> RouterMesh {
        let (mesh, shape) = (design.mesh, Shape::new(design));
        let tiles = mesh.tiles();
        let slots = tiles * 5 * usize::from(shape.vcs) * usize::from(shape.depth);
        RouterMesh {
            mesh,
            cycle: 0,
            routers: mesh.nodes().map(|node| Router::new(mesh, node, &shape)).collect(),
            world: World {
                phase: Phase::default(),
                flits: Store::new(design),
                slots: vec![Default::default(); slots],
                links: Links::new(tiles, shape.crossings != 0),
                credits: Credits::default(),
                counters: Counters::new(tiles),
                shape,
            },
        }
    }

    /// Holds reset: everything is forgotten, the next period is 0.
    pub fn reset(&mut self) {
        let (mesh, world) = (self.mesh, &mut self.world);
        for (router, node) in self.routers.iter_mut().zip(mesh.nodes()) {
            *router = Router::new(mesh, node, &world.shape);
        }
        world.flits.clear();
        world.links = Links::new(mesh.tiles(), world.shape.crossings != 0);
        world.credits = Credits::default();
        world.counters.clear();
        world.phase = Phase::default();
        self.cycle = 0;
    }

    /// Periods since reset, which is the number of the present one.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Puts a flit on the link from a tile in this period; at most one a tile, and only with a credit.
    ///
    /// # Panics
    /// If the flit's destination is outside the mesh.
    pub fn inject(&mut self, tile: usize, vc: u32, flit: &Flit) {
        let flit = self.world.flits.insert(flit);
        self.world.links.inject(tile as u8, vc as u8, flit);
    }

    /// Gives back a credit for a slot at the tile, in this period.
    pub fn credit(&mut self, tile: usize, vc: u32) {
        // The router counts it at the edge, after all that it decides in this period.
        self.world.credits.given.push((tile as u8, vc as u8));
    }

    /// Flits that show at tiles in this period, by rising tile.
    pub fn shown(&self) -> impl ExactSizeIterator<Item = Shown<'_>> {
        let flits = &self.world.flits;
        self.world.links.shown().iter().map(|shown| Shown {
            tile: usize::from(shown.tile),
            vc: u32::from(shown.vc),
            flit: flits.flit(shown.flit),
        })
    }

    /// Credits for the tiles that show in this period: tile and virtual channel.
    pub fn credits_shown(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let local = self.world.credits.shown.iter().filter(|freed| usize::from(freed.port) == L);
        local.map(|freed| (usize::from(freed.tile), u32::from(freed.vc)))
    }

    /// Ends the period.
    pub fn tick(&mut self) {
        let world = &mut self.world;
        world.counters.scan(self.cycle + 1);
        for word in 0..4 {
            let mut active = world.links.active(word);
            while active != 0 {
                let tile = (word * 64) as u8 + active.trailing_zeros() as u8;
                active &= active - 1;
                if self.routers[usize::from(tile)].step(tile, world) {
                    world.links.keep_active(tile);
                }
            }
        }
        let Credits { shown, crossing, .. } = &mut world.credits;
        for freed in crossing.drain(..) {
            self.routers[usize::from(freed.sender)].outputs.credit(freed.output(), freed.vc);
        }
        for freed in shown.iter().filter(|freed| usize::from(freed.port) != L) {
            let sender = &mut self.routers[usize::from(freed.sender)];
            if sender.outputs.crosses(freed.output()) {
                crossing.push(*freed);
            } else {
                sender.outputs.credit(freed.output(), freed.vc);
            }
        }
        for &(tile, vc) in &world.credits.given {
            self.routers[usize::from(tile)].outputs.credit(L, vc);
        }
        // What has shown at a tile is the tile's now.
        for at in 0..world.links.shown().len() {
            let flit = world.links.shown()[at].flit;
            world.flits.copies(flit, 0, 1);
        }
        world.credits.advance();
        world.links.advance();
        world.phase = world.phase.next(&world.shape);
        self.cycle += 1;
    }

    /// Every flit that the sender of a link between two routers shows in this period: the tile and input that it leads
    /// to, the virtual channel, the flit.
    pub fn links(&self) -> impl Iterator<Item = (NodeId, Port, u32, &Flit)> {
        let (links, flits) = (&self.world.links, &self.world.flits);
        let inputs = self.mesh.nodes().flat_map(|node| SIDES.map(|input| (node, input)));
        inputs.filter_map(move |(node, input)| {
            let cross = self.routers[node.index()].outputs.crosses(input.index());
            let (flit, vc) = links.peek(node.index() as u8, input.index(), cross)?;
            Some((node, input, u32::from(vc), flits.flit(flit)))
        })
    }

    /// Every credit that shows in this period: the tile and input whose slot is free, and the virtual channel.
    pub fn all_credits(&self) -> impl Iterator<Item = (usize, Port, u32)> + '_ {
        let credits = self.world.credits.shown.iter();
        credits.map(|f| (usize::from(f.tile), Port::ALL[usize::from(f.port)], u32::from(f.vc)))
    }

    /// Virtual channels of a router's input that hold a flit, a bit each.
    pub fn busy(&self, tile: usize, input: Port) -> u32 {
        u32::from(self.routers[tile].occupied(input.index()))
    }

    /// Whether any buffer holds a flit.
    pub fn any_busy(&self) -> bool {
        self.routers.iter().any(Router::holds)
    }

    /// A total of a router as the scan has shown it up to this period; see [`TOTALS_PER_PORT`].
    pub fn counter(&self, tile: usize, total: usize) -> u32 {
        self.world.counters.read(tile, total, self.cycle)
    }

    /// Flits between the tiles' links, each counted once.
    pub fn flits(&self) -> usize {
        self.world.flits.len()
    }

    /// Changes the state of a router.
    pub fn upset(&mut self, tile: NodeId, upset: Upset) {
        let router = &mut self.routers[tile.index()];
        match upset {
            Upset::LoseCredits(port) => router.outputs.lose_credits(port.index()),
            Upset::SkipTurn(port) => router.allocator.skip_turn(port.index()),
        }
    }
}
