//! What there is to do in a cycle of all routers.

use super::fixed_list::FixedList;
use super::input_port::Ask;
use super::links::Moving;
use super::params::MOST_TILES;

/// A flit from a link, and outputs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Arrival {
    pub(super) moving: Moving,
    pub(super) outputs: u8,
    pub(super) last: bool,
}

/// An input that holds flits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Serving {
    pub(super) ask: Ask,
    pub(super) tile: u8,
    pub(super) port: u8,
    /// Virtual channels that held a flit.
    pub(super) occupied: u8,
    /// The one whose head left for some output, as a mask, and the same if its slot is free again.
    pub(super) left: u8,
    pub(super) freed: u8,
}

/// What meets in one router.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Meeting {
    /// By input: outputs that are asked, those asked for a copy of one flit, those granted.
    pub(super) wants: [u8; 8],
    pub(super) copies: [u8; 8],
    pub(super) granted: [u8; 8],
    /// By output, heads that owe it a copy.
    pub(super) owed: u64,
    /// Outputs that any head asks.
    pub(super) requested: u8,
    /// Outputs of the row that an arriving flit would go straight through.
    pub(super) through: u8,
    /// Outputs that arriving flits take at once.
    pub(super) flies: u8,
}

/// What there is to do in a cycle; nothing is kept in it from one to the next.
#[derive(Debug)]
pub(super) struct WorkLists {
    pub(super) servings: FixedList<Serving>,
    /// Positions of those that are granted an output.
    pub(super) granted: FixedList<u16>,
    /// Flits that take outputs at once, and those that are stored for others.
    pub(super) flying: FixedList<Arrival>,
    pub(super) stored: FixedList<Arrival>,
    /// Tiles whose inputs hold flits.
    pub(super) busy: FixedList<u8>,
    pub(super) meetings: Box<[Meeting; MOST_TILES]>,
}

impl WorkLists {
    pub(super) fn new() -> WorkLists {
        WorkLists {
            servings: FixedList::new(),
            granted: FixedList::new(),
            flying: FixedList::new(),
            stored: FixedList::new(),
            busy: FixedList::new(),
            meetings: Box::new([Meeting::default(); MOST_TILES]),
        }
    }
}
