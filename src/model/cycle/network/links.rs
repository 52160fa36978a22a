//! What lies between routers: flits on links, credits on their way.
//!
//! What a router sends in a cycle shows on the link in the next. A slot that is freed in a cycle shows as a credit in
//! the next, and is counted by the sender from the one after. Between two SLRs both take a cycle more. Each is kept as
//! lists of what is on its way, one for every time it takes, so that a cycle is a run through lists.

use super::fixed_list::FixedList;
use super::params::MOST_TILES;
use super::switch_allocator::{E, L, N, S, W};
use crate::design::Port;

/// The input of the neighbour that an output leads to.
const FACES: [u8; 5] = [S as u8, N as u8, W as u8, E as u8, L as u8];

/// Where a port leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Along the row.
    Row = 0,
    /// Along the column, within an SLR.
    Column = 1,
    /// Along the column, into another SLR.
    Far = 2,
    /// To the tile.
    Tile = 3,
}

/// As many as there are of [`Way`].
const WAYS: usize = 4;

/// A virtual channel of an input, or of a tile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place(u32);

impl Place {
    #[inline(always)]
    pub(super) fn new(tile: u8, port: u8, vc: u8) -> Place {
        Place(u32::from(tile) << 16 | u32::from(port) << 8 | u32::from(vc))
    }
    #[inline(always)]
    pub(super) fn tile(self) -> u8 {
        (self.0 >> 16) as u8
    }
    #[inline(always)]
    pub(super) fn port(self) -> u8 {
        (self.0 >> 8) as u8
    }
    #[inline(always)]
    pub(super) fn vc(self) -> u8 {
        self.0 as u8
    }
    /// Another virtual channel of an input, of which this is the first.
    #[inline(always)]
    pub(super) fn of(self, vc: u8) -> Place {
        Place(self.0 | u32::from(vc))
    }
    /// What an output leads to: the first virtual channel there.
    pub(super) fn beyond(neighbour: u8, output: Port) -> Place {
        Place::new(neighbour, FACES[output.index()], 0)
    }
}

/// A flit, and the input that it comes into or the tile where it shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moving {
    pub(super) flit: u32,
    pub(super) to: Place,
}

/// All links.
#[derive(Debug)]
pub(super) struct Links {
    /// What shows in the cycle that is run on those of rows and tiles, and on those of columns.
    row: FixedList<Moving>,
    column: FixedList<Moving>,
    /// What was sent in it, by way: it shows in the next cycle, or in the one after that in another SLR.
    sent: [FixedList<Moving>; WAYS],
    /// What shows at the tiles in the cycle that is run, by rising tile.
    shown: FixedList<Moving>,
    /// By tile, what is about to show there.
    at_tile: Box<[Moving; MOST_TILES]>,
}

impl Links {
    pub(super) fn new() -> Links {
        let list = FixedList::new;
        Links {
            row: list(),
            column: list(),
            sent: [list(), list(), list(), list()],
            shown: list(),
            at_tile: Box::new([Moving::default(); MOST_TILES]),
        }
    }

    /// Ends a cycle; what links showed in it has been taken.
    pub(super) fn advance(&mut self) {
        let [row, column, far, tile] = &mut self.sent;
        std::mem::swap(&mut self.row, row);
        row.clear();
        std::mem::swap(&mut self.column, column);
        column.clear();
        std::mem::swap(column, far);
        let mut at = [0_u64; MOST_TILES / 64];
        for moving in tile.items() {
            at[usize::from(moving.to.tile() >> 6)] |= 1 << (moving.to.tile() & 63);
            self.at_tile[usize::from(moving.to.tile())] = *moving;
        }
        tile.clear();
        self.shown.clear();
        for (word, mut tiles) in at.into_iter().enumerate() {
            while tiles != 0 {
                self.shown.push(self.at_tile[word * 64 + tiles.trailing_zeros() as usize]);
                tiles &= tiles - 1;
            }
        }
    }

    /// Puts a flit on the link from a tile to its router, in this cycle.
    pub(super) fn inject(&mut self, tile: u8, vc: u8, flit: u32) {
        self.row.push(Moving { flit, to: Place::new(tile, L as u8, vc) });
    }

    /// Sends a flit on its way.
    #[inline(always)]
    pub(super) fn send(&mut self, flit: u32, to: Place, way: Way) {
        self.sent[way as usize].push(Moving { flit, to });
    }

    /// What links into inputs east, west and local show in this cycle.
    #[inline(always)]
    pub(super) fn row(&self) -> &[Moving] {
        self.row.items()
    }

    /// What links into inputs north and south show in this cycle.
    #[inline(always)]
    pub(super) fn column(&self) -> &[Moving] {
        self.column.items()
    }

    /// What shows at the tiles in this cycle.
    #[inline(always)]
    pub(super) fn shown(&self) -> &[Moving] {
        self.shown.items()
    }

    /// What crosses from one SLR to another and has yet to be kept for a cycle, before anything is sent in this one.
    pub(super) fn crossing(&self) -> &[Moving] {
        self.sent[Way::Column as usize].items()
    }
}

/// A slot that was freed, and whose credit it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Freed {
    /// Where it is.
    pub(super) at: Place,
    /// Which virtual channel of which output counts it.
    pub(super) of: Place,
}

/// Credits on their way.
#[derive(Debug)]
pub(super) struct Credits {
    /// Of slots that were freed in the cycle that is run, by way.
    fresh: [FixedList<Freed>; WAYS],
    /// Of those freed in the one before: they show now.
    shown: [FixedList<Freed>; WAYS],
    /// Of those that showed in the cycle before, the ones that cross from one SLR to another.
    late: FixedList<Freed>,
    /// Given by the tiles in this cycle, with their virtual channels.
    pub(super) given: Vec<(u8, u8)>,
}

impl Credits {
    pub(super) fn new() -> Credits {
        let list = FixedList::new;
        let lists = || [list(), list(), list(), list()];
        Credits { fresh: lists(), shown: lists(), late: list(), given: Vec::new() }
    }

    /// Notes a slot if it was freed, for the sender behind its port.
    #[inline(always)]
    pub(super) fn free_if(&mut self, at: Place, beyond: Place, way: Way, done: bool) {
        self.fresh[way as usize].push_if(Freed { at, of: beyond.of(at.vc()) }, done);
    }

    /// Those that show at the tiles.
    #[inline(always)]
    pub(super) fn at_tiles(&self) -> &[Freed] {
        self.shown[Way::Tile as usize].items()
    }

    /// All that show.
    pub(super) fn shown(&self) -> impl Iterator<Item = &Freed> {
        self.shown.iter().flat_map(|list| list.items())
    }

    /// Those that routers count at the end of this cycle.
    #[inline(always)]
    pub(super) fn counted(&self) -> [&[Freed]; 3] {
        let [row, column, ..] = &self.shown;
        [row.items(), column.items(), self.late.items()]
    }

    /// Ends a cycle; credits that showed in it have been counted.
    pub(super) fn advance(&mut self) {
        std::mem::swap(&mut self.late, &mut self.shown[Way::Far as usize]);
        std::mem::swap(&mut self.fresh, &mut self.shown);
        self.fresh.iter_mut().for_each(FixedList::clear);
        self.given.clear();
    }
}
