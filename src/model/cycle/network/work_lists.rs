//! Work lists of one cycle of all routers.

use super::claims::Claim;
use super::fixed_list::FixedList;
use super::input_port::Ask;
use super::links::Moving;
use super::params::MOST_TILES;
use super::switch_allocator::{each, KINDS};

/// Flit from a link, and its outputs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Arrival {
    pub(super) moving: Moving,
    pub(super) outputs: u8,
    pub(super) last: bool,
}

/// Input that holds flits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Serving {
    pub(super) ask: Ask,
    pub(super) tile: u8,
    pub(super) port: u8,
    /// Virtual channels that held a flit.
    pub(super) occupied: u8,
    /// Channel whose head was sent, as a mask, and the same if it freed its slot.
    pub(super) left: u8,
    pub(super) freed: u8,
    /// Outputs that it was granted.
    pub(super) won: u8,
    /// It may claim, it does, and the outputs to which the head that claims could leave.
    pub(super) may_claim: bool,
    pub(super) claims: bool,
    pub(super) insists: u8,
}

/// Requests and grants of one router.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meeting {
    /// By kind and input, requested outputs and granted outputs.
    pub(super) wants: [[u8; 8]; KINDS],
    pub(super) granted: [[u8; 8]; KINDS],
    /// By input, outputs to which flits with one destination are owed, and those to which copies of KV_DATA are.
    pub(super) held: [[u8; 8]; 2],
    /// By input, classes whose buffers are at least half full, and whether a KV_DATA head has several destinations.
    pub(super) pressure: [u8; 8],
    /// Inputs whose requests for north and south stand back.
    pub(super) yields: u8,
    /// By input, outputs to which the head that claims could leave.
    pub(super) insists: [u8; 8],
    /// Inputs that send copies of a KV_DATA flit before other flits.
    pub(super) copying: u8,
    /// By input, the credits that it would claim, and whether any would.
    pub(super) claims: [Claim; 5],
    pub(super) claimed: bool,
    /// By output, heads that owe it a copy.
    pub(super) owed: u64,
    /// Outputs that any head requests.
    pub(super) requested: u8,
    /// Outputs of the row that arriving through traffic takes.
    pub(super) through: u8,
    /// Outputs that arriving flits take at once.
    pub(super) flies: u8,
}

impl Meeting {
    /// Nothing is requested.
    pub(super) const NONE: Meeting = Meeting {
        wants: [[0; 8]; KINDS],
        granted: [[0; 8]; KINDS],
        held: [[0; 8]; 2],
        pressure: [0; 8],
        yields: 0,
        insists: [0; 8],
        copying: 0,
        claims: [Claim { class: 0, outputs: 0 }; 5],
        claimed: false,
        owed: 0,
        requested: 0,
        through: 0,
        flies: 0,
    };

    /// Returns the outputs granted to an input, by kind.
    #[inline(always)]
    pub(super) fn granted(&self, port: u8) -> [u8; KINDS] {
        each(self.granted, |inputs| inputs[usize::from(port & 7)])
    }
}

/// Work of one cycle; nothing is kept between cycles.
#[derive(Debug)]
pub(super) struct WorkLists {
    pub(super) servings: FixedList<Serving>,
    /// Positions of inputs with a grant.
    pub(super) granted: FixedList<u16>,
    /// Arriving flits that are sent at once, and those that are stored.
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
            meetings: Box::new([Meeting::NONE; MOST_TILES]),
        }
    }
}
