//! Work lists of one cycle of all routers.

use crate::model::cycle::network::flits::fixed_list::FixedList;
use crate::model::cycle::network::links::Moving;
use crate::model::cycle::network::params::MOST_TILES;
use crate::model::cycle::network::state::claims::Claim;
use crate::model::cycle::network::state::input_port::Ask;
use crate::model::cycle::network::switch_allocator::{each, KINDS};

/// Flit from a link, and its outputs.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::model::cycle::network) struct Arrival {
    pub(in crate::model::cycle::network) moving: Moving,
    pub(in crate::model::cycle::network) outputs: u8,
    pub(in crate::model::cycle::network) last: bool,
}

/// Input that holds flits.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::model::cycle::network) struct Serving {
    pub(in crate::model::cycle::network) ask: Ask,
    pub(in crate::model::cycle::network) tile: u8,
    pub(in crate::model::cycle::network) port: u8,
    /// Virtual channels that held a flit.
    pub(in crate::model::cycle::network) occupied: u8,
    /// Channel whose head was sent, as a mask, and the same if it freed its slot.
    pub(in crate::model::cycle::network) left: u8,
    pub(in crate::model::cycle::network) freed: u8,
    /// Outputs that it was granted.
    pub(in crate::model::cycle::network) won: u8,
    /// It may claim, it does, and the outputs to which the head that claims could leave.
    pub(in crate::model::cycle::network) may_claim: bool,
    pub(in crate::model::cycle::network) claims: bool,
    pub(in crate::model::cycle::network) insists: u8,
}

/// Requests and grants of one router.
#[derive(Debug, Clone, Copy)]
pub(in crate::model::cycle::network) struct Meeting {
    /// By kind and input, requested outputs and granted outputs.
    pub(in crate::model::cycle::network) wants: [[u8; 8]; KINDS],
    pub(in crate::model::cycle::network) granted: [[u8; 8]; KINDS],
    /// By input, outputs to which flits with one destination are owed, and those to which copies of KV_DATA are.
    pub(in crate::model::cycle::network) held: [[u8; 8]; 2],
    /// By input, classes whose buffers are at least half full, and whether a KV_DATA head has several destinations.
    pub(in crate::model::cycle::network) pressure: [u8; 8],
    /// Inputs whose requests for north and south stand back.
    pub(in crate::model::cycle::network) yields: u8,
    /// By input, outputs to which the head that claims could leave.
    pub(in crate::model::cycle::network) insists: [u8; 8],
    /// Inputs that send copies of a KV_DATA flit before other flits.
    pub(in crate::model::cycle::network) copying: u8,
    /// By input, the credits that it would claim, and whether any would.
    pub(in crate::model::cycle::network) claims: [Claim; 5],
    pub(in crate::model::cycle::network) claimed: bool,
    /// By output, heads that owe it a copy.
    pub(in crate::model::cycle::network) owed: u64,
    /// Outputs that any head requests.
    pub(in crate::model::cycle::network) requested: u8,
    /// Outputs of the row that arriving through traffic takes.
    pub(in crate::model::cycle::network) through: u8,
    /// Outputs that arriving flits take at once.
    pub(in crate::model::cycle::network) flies: u8,
}

impl Meeting {
    /// Nothing is requested.
    pub(in crate::model::cycle::network) const NONE: Meeting = Meeting {
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
    pub(in crate::model::cycle::network) fn granted(&self, port: u8) -> [u8; KINDS] {
        each(self.granted, |inputs| inputs[usize::from(port & 7)])
    }
}

/// Work of one cycle; nothing is kept between cycles.
#[derive(Debug)]
pub(in crate::model::cycle::network) struct WorkLists {
    pub(in crate::model::cycle::network) servings: FixedList<Serving>,
    /// Positions of inputs with a grant.
    pub(in crate::model::cycle::network) granted: FixedList<u16>,
    /// Arriving flits that are sent at once, and those that are stored.
    pub(in crate::model::cycle::network) flying: FixedList<Arrival>,
    pub(in crate::model::cycle::network) stored: FixedList<Arrival>,
    /// Tiles whose inputs hold flits.
    pub(in crate::model::cycle::network) busy: FixedList<u8>,
    pub(in crate::model::cycle::network) meetings: Box<[Meeting; MOST_TILES]>,
}

impl WorkLists {
    pub(in crate::model::cycle::network) fn new() -> WorkLists {
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
