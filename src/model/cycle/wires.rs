//! What lies between routers: links, credits on their way, buffers by place.
//!
//! What a router sends in a cycle shows on the link in the next, so links are kept twice. A slot that is freed in
//! a cycle shows as a credit in the next, and is counted by the sender from the one after. Between two SLRs both take a
//! cycle more.

use super::allocator::{E, L, N, S, W};
use super::counters::Counters;
use super::input::{Held, Phase};
use super::shape::{Shape, MOST_TILES};
use super::store::Store;

/// The input of the neighbour that an output leads to.
const FACES: [usize; 5] = [S, N, W, E, L];

/// All that routers share.
#[derive(Debug)]
pub(super) struct World {
    pub(super) shape: Shape,
    pub(super) phase: Phase,
    pub(super) flits: Store,
    /// Buffers of all virtual channels.
    pub(super) slots: Vec<Held>,
    pub(super) links: Links,
    pub(super) credits: Credits,
    pub(super) counters: Counters,
}

impl World {
    /// The buffer of a virtual channel.
    #[inline(always)]
    pub(super) fn buffer(&mut self, tile: u8, port: usize, vc: u8) -> &mut [Held] {
        let depth = usize::from(self.shape.depth);
        let channel = (usize::from(tile) * 5 + port) * usize::from(self.shape.vcs) + usize::from(vc);
        &mut self.slots[channel * depth..][..depth]
    }
}

/// A flit that shows at a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) tile: u8,
    pub(super) vc: u8,
    pub(super) flit: u32,
}

/// One side of the links: what they show in one cycle.
#[derive(Debug, Clone)]
struct Side {
    /// By tile, inputs with a flit; by tile and input, flit and virtual channel.
    valid: Box<[u8; MOST_TILES]>,
    flits: Box<[[u32; 8]; MOST_TILES]>,
    /// Routers that have something to do, a bit each.
    active: [u64; 4],
    /// Flits at the tiles, in the order of tiles.
    shown: Vec<Shown>,
}

/// All links, in the cycle that is run and in the next.
#[derive(Debug)]
pub(super) struct Links {
    now: Side,
    next: Side,
    /// In the one after next, what crosses from one SLR to another; unused where nothing does.
    after_next: Side,
    crossings: bool,
}

impl Links {
    /// Between so many routers, with or without `crossings` from one SLR to another.
    pub(super) fn new(tiles: usize, crossings: bool) -> Links {
        let shown = Vec::with_capacity(tiles);
        let (valid, flits) = (Box::new([0; MOST_TILES]), Box::new([[0; 8]; MOST_TILES]));
        let side = Side { valid, flits, active: [0; 4], shown };
        Links { now: side.clone(), next: side.clone(), after_next: side, crossings }
    }

    /// Ends a cycle; what links showed in it has been taken.
    pub(super) fn advance(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
        let free = if self.crossings {
            std::mem::swap(&mut self.next, &mut self.after_next);
            &mut self.after_next
        } else {
            &mut self.next
        };
        free.active = [0; 4];
        free.shown.clear();
    }

    /// Puts a flit on the link from a tile to its router, in this cycle.
    pub(super) fn inject(&mut self, tile: u8, vc: u8, flit: u32) {
        self.now.set(tile, L, vc, flit);
    }

    /// Puts a flit on the link from `output` of a router to this tile, which may `cross` from one SLR to another.
    #[inline(always)]
    pub(super) fn put(&mut self, tile: u8, output: usize, vc: u8, flit: u32, cross: bool) {
        let side = if cross { &mut self.after_next } else { &mut self.next };
        side.set(tile, FACES[output], vc, flit);
    }

    /// Shows a flit to a tile.
    #[inline(always)]
    pub(super) fn show(&mut self, tile: u8, vc: u8, flit: u32) {
        self.next.shown.push(Shown { tile, vc, flit });
    }

    /// Has a router run in the next cycle.
    #[inline(always)]
    pub(super) fn keep_active(&mut self, tile: u8) {
        self.next.active[usize::from(tile >> 6)] |= 1 << (tile & 63);
    }

    /// A word of the routers that have something to do in this cycle.
    pub(super) fn active(&self, word: usize) -> u64 {
        self.now.active[word]
    }

    /// Inputs of a router with a flit; they are taken.
    #[inline(always)]
    pub(super) fn take(&mut self, tile: u8) -> u8 {
        std::mem::take(&mut self.now.valid[usize::from(tile)])
    }

    /// Flit and virtual channel on the link of an input.
    #[inline(always)]
    pub(super) fn flit(&self, tile: u8, port: usize) -> (u32, u8) {
        self.now.flit(tile, port)
    }

    /// What shows at the tiles in this cycle.
    pub(super) fn shown(&self) -> &[Shown] {
        &self.now.shown
    }

    /// What the sender of the link into an input shows in this cycle, before anything is put on links in it.
    pub(super) fn peek(&self, tile: u8, port: usize, cross: bool) -> Option<(u32, u8)> {
        let side = if cross { &self.next } else { &self.now };
        (side.valid[usize::from(tile)] >> port & 1 == 1).then(|| side.flit(tile, port))
    }
}

impl Side {
    #[inline(always)]
    fn flit(&self, tile: u8, port: usize) -> (u32, u8) {
        let word = self.flits[usize::from(tile)][port & 7];
        (word >> 8, word as u8)
    }

    #[inline(always)]
    fn set(&mut self, tile: u8, port: usize, vc: u8, flit: u32) {
        self.valid[usize::from(tile)] |= 1 << port;
        self.flits[usize::from(tile)][port & 7] = flit << 8 | u32::from(vc);
        self.active[usize::from(tile >> 6)] |= 1 << (tile & 63);
    }
}

/// A slot that was freed: of which input of which tile, and whose credit it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Freed {
    /// Tile of the sender.
    pub(super) sender: u8,
    pub(super) tile: u8,
    pub(super) port: u8,
    pub(super) vc: u8,
}

impl Freed {
    /// The sender's output.
    #[inline(always)]
    pub(super) fn output(self) -> usize {
        FACES[usize::from(self.port)]
    }
}

/// Credits on their way.
#[derive(Debug, Default)]
pub(super) struct Credits {
    /// Freed in the cycle that is run.
    fresh: Vec<Freed>,
    /// Freed in the one before: they show now.
    pub(super) shown: Vec<Freed>,
    /// Of those that showed in the cycle before, the ones that cross from one SLR to another.
    pub(super) crossing: Vec<Freed>,
    /// Given by the tiles in this cycle, with their virtual channels.
    pub(super) given: Vec<(u8, u8)>,
}

impl Credits {
    #[inline(always)]
    pub(super) fn freed(&mut self, sender: u8, tile: u8, port: usize, vc: u8) {
        self.fresh.push(Freed { sender, tile, port: port as u8, vc });
    }

    /// Ends a cycle; credits that showed in it have been counted.
    pub(super) fn advance(&mut self) {
        std::mem::swap(&mut self.fresh, &mut self.shown);
        self.fresh.clear();
        self.given.clear();
    }
}
