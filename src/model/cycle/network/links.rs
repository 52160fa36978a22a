//! Links between routers, and credits in flight.
//!
//! A flit sent in a cycle is on the link in the next. A slot freed in a cycle returns as a credit in the
//! next, and the sender counts it one cycle later. Between two SLRs both take one cycle more. Flits and
//! credits are kept in one list per delay, so a cycle walks lists.

use super::params::MOST_TILES;
use super::switch_allocator::{E, L, N, S, W};
use crate::design::Port;
use crate::model::cycle::network::flits::fixed_list::FixedList;

/// Input of the neighbour at the other end of an output.
const FACES: [u8; 5] = [S as u8, N as u8, W as u8, E as u8, L as u8];

/// Destination of a port.
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

/// Number of variants of [`Way`].
const WAYS: usize = 4;

/// Virtual channel of an input, or of a tile.
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
    /// Returns channel `vc` of an input, given its first channel.
    #[inline(always)]
    pub(super) fn of(self, vc: u8) -> Place {
        Place(self.0 | u32::from(vc))
    }
    /// Returns the first virtual channel at the other end of an output.
    pub(super) fn beyond(neighbour: u8, output: Port) -> Place {
        Place::new(neighbour, FACES[output.index()], 0)
    }
}

/// Flit on a link, and the input or tile it leads to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moving {
    pub(super) flit: u32,
    pub(super) to: Place,
}

/// Flit that has been granted an output and reaches its register a cycle later.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Launch {
    pub(super) moving: Moving,
    pub(super) tile: u8,
    pub(super) output: u8,
}

/// All links.
#[derive(Debug)]
pub(super) struct Links {
    /// Flits on the links of rows and tiles in the current cycle, and on those of columns.
    row: FixedList<Moving>,
    column: FixedList<Moving>,
    /// Flits sent in the current cycle, by way. They are on the link in the next cycle, or one later into
    /// another SLR.
    sent: [FixedList<Moving>; WAYS],
    /// With routers of three stages, flits granted in the current cycle, and outputs by tile whose registers take a
    /// flit granted in the cycle before.
    granted: FixedList<Launch>,
    launching: Box<[u8; MOST_TILES]>,
    /// Flits at the tiles in the current cycle, in order of tiles.
    shown: FixedList<Moving>,
    /// By tile, the flit that reaches it next.
    at_tile: Box<[Moving; MOST_TILES]>,
}

impl Links {
    pub(super) fn new() -> Links {
        let list = FixedList::new;
        Links {
            row: list(),
            column: list(),
            sent: [list(), list(), list(), list()],
            granted: FixedList::new(),
            launching: Box::new([0; MOST_TILES]),
            shown: list(),
            at_tile: Box::new([Moving::default(); MOST_TILES]),
        }
    }

    /// Ends a cycle. The caller has taken all flits on links.
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

    /// Puts a flit on the link from a tile to its router in this cycle.
    pub(super) fn inject(&mut self, tile: u8, vc: u8, flit: u32) {
        self.row.push(Moving { flit, to: Place::new(tile, L as u8, vc) });
    }

    /// Sends a flit.
    #[inline(always)]
    pub(super) fn send(&mut self, moving: Moving, way: Way) {
        self.sent[way as usize].push(moving);
    }

    /// Grants a flit an output, whose register it reaches in the next cycle.
    #[inline(always)]
    pub(super) fn grant(&mut self, launch: Launch) {
        self.granted.push(launch);
    }

    /// Begins a cycle: sends the flits granted in the cycle before, whose ways and numbers of channels `each` tells.
    pub(super) fn launch(&mut self, mut each: impl FnMut(&Launch) -> Way) {
        self.launching.fill(0);
        for launch in self.granted.items() {
            self.launching[usize::from(launch.tile)] |= 1 << launch.output;
            self.sent[each(launch) as usize].push(launch.moving);
        }
        self.granted.clear();
    }

    /// Outputs of a tile's router whose registers take a flit granted in the cycle before.
    #[inline(always)]
    pub(super) fn launching(&self, tile: u8) -> u8 {
        self.launching[usize::from(tile)]
    }

    /// Flits on the links into inputs east, west and local in this cycle.
    #[inline(always)]
    pub(super) fn row(&self) -> &[Moving] {
        self.row.items()
    }

    /// Flits on the links into inputs north and south in this cycle.
    #[inline(always)]
    pub(super) fn column(&self) -> &[Moving] {
        self.column.items()
    }

    /// Flits at the tiles in this cycle.
    #[inline(always)]
    pub(super) fn shown(&self) -> &[Moving] {
        self.shown.items()
    }

    /// Flits between SLRs that need one more cycle. Valid before anything is sent in this one.
    pub(super) fn crossing(&self) -> &[Moving] {
        self.sent[Way::Column as usize].items()
    }
}

/// Freed slot, and the counter of its credit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Freed {
    /// Slot.
    pub(super) at: Place,
    /// Virtual channel and output that count the credit.
    pub(super) of: Place,
}

/// Credits in flight.
#[derive(Debug)]
pub(super) struct Credits {
    /// Credits of slots freed in the current cycle, by way.
    fresh: [FixedList<Freed>; WAYS],
    /// Credits of slots freed in the cycle before, which are on the wires now.
    shown: [FixedList<Freed>; WAYS],
    /// Credits between SLRs that were on the wires in the cycle before.
    late: FixedList<Freed>,
    /// Tile and virtual channel of credits that tiles return in this cycle.
    pub(super) given: Vec<(u8, u8)>,
}

impl Credits {
    pub(super) fn new() -> Credits {
        let list = FixedList::new;
        let lists = || [list(), list(), list(), list()];
        Credits { fresh: lists(), shown: lists(), late: list(), given: Vec::new() }
    }

    /// Returns a slot to the sender behind its port, if `done`.
    #[inline(always)]
    pub(super) fn free_if(&mut self, at: Place, beyond: Place, way: Way, done: bool) {
        self.fresh[way as usize].push_if(Freed { at, of: beyond.of(at.vc()) }, done);
    }

    /// Credits on the wires to the tiles.
    #[inline(always)]
    pub(super) fn at_tiles(&self) -> &[Freed] {
        self.shown[Way::Tile as usize].items()
    }

    /// All credits on the wires.
    pub(super) fn shown(&self) -> impl Iterator<Item = &Freed> {
        self.shown.iter().flat_map(|list| list.items())
    }

    /// Credits that routers count at the end of this cycle.
    #[inline(always)]
    pub(super) fn counted(&self) -> [&[Freed]; 3] {
        let [row, column, ..] = &self.shown;
        [row.items(), column.items(), self.late.items()]
    }

    /// Ends a cycle. The caller has counted all credits on the wires.
    pub(super) fn advance(&mut self) {
        std::mem::swap(&mut self.late, &mut self.shown[Way::Far as usize]);
        std::mem::swap(&mut self.fresh, &mut self.shown);
        self.fresh.iter_mut().for_each(FixedList::clear);
        self.given.clear();
    }
}
