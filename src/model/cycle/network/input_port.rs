//! Input port of a router: `meshkv_input_port`, and the registers of `meshkv_vc_request`.
//!
//! A port without a flit costs no work. Two of its registers still advance every cycle: the favoured virtual
//! channel, and the KV_DATA channel whose turn it is. Both are stored relative to [`Phase`], which advances
//! with them, so a write is needed only when one of them stays.

use super::lanes::{any, lane, scatter, spread};
use super::output_port::OutputPorts;
use super::params::NetworkParams;
use super::virtual_channel::{after, sum, Held};

/// Cycles since reset, modulo the lengths of a port's two rotations.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Phase {
    favoured: u8,
    slot: u8,
}

impl Phase {
    /// Returns the phase one cycle later.
    pub(super) fn next(self, params: &NetworkParams) -> Phase {
        Phase { favoured: after(self.favoured, params.vcs), slot: after(self.slot, params.num_data) }
    }
}

/// Returns the number before `at` in a circle of `count` if `moves`, else `at`.
#[inline(always)]
fn before(at: u8, count: u8, moves: bool) -> u8 {
    at + count * u8::from((at == 0) & moves) - u8::from(moves)
}

/// Returns `a` if `which`, else `b`, without a branch.
#[inline(always)]
fn choose(which: bool, a: u8, b: u8) -> u8 {
    b ^ ((a ^ b) & u8::from(which).wrapping_neg())
}

/// Requests of a port in a cycle.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ask {
    /// Favoured channel, and the KV_DATA channel whose turn it is.
    favoured: u8,
    slot: u8,
    /// By output, virtual channels whose head can use it.
    fit: u64,
    /// Requested outputs.
    pub(super) wants: u8,
    /// Of them, outputs requested for a copy of the KV_DATA flit whose turn it is.
    pub(super) copies: u8,
}

impl Ask {
    /// Returns the virtual channel that leaves when `output` is granted.
    #[inline(always)]
    pub(super) fn chosen(&self, output: usize, params: &NetworkParams) -> u8 {
        let offered = lane(self.fit, output) & params.single;
        let first = params.first[usize::from(self.favoured & 7)][usize::from(offered & 31)];
        if self.copies >> output & 1 == 1 {
            self.slot
        } else {
            first
        }
    }
}

/// Control state of one port. Masks have a bit for each virtual channel.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct InputPort {
    /// By output, heads that still owe it a copy.
    pub(super) owed: u64,
    /// Virtual channels that hold a flit.
    pub(super) occupied: u8,
    /// Virtual channels that may request.
    gate: u8,
    /// Favoured channel, relative to the phase.
    favoured: u8,
    /// KV_DATA channel that may request, counted from the first of them and relative to the phase.
    slot: u8,
    /// Times the favoured channel was passed over.
    passed: u8,
    /// VN0 channels inside a packet, and the output channel of each, two bits each.
    in_packet: u8,
    owners: u8,
}

impl InputPort {
    pub(super) fn new(params: &NetworkParams) -> InputPort {
        InputPort { gate: params.all, ..InputPort::default() }
    }

    /// Returns the requests of the heads. `starts`: by output, all of VN0 if a packet may begin.
    #[inline(always)]
    pub(super) fn ask(
        &self,
        outputs: &OutputPorts,
        starts: u64,
        phase: Phase,
        params: &NetworkParams,
    ) -> Ask {
        let mut room = outputs.available() & params.vn1_lanes | starts & spread(!self.in_packet);
        let mut left = self.in_packet;
        while left != 0 {
            let vc = left.trailing_zeros();
            room |= (outputs.available() >> self.owner(vc as u8) & spread(1)) << vc;
            left &= left - 1;
        }
        let favoured = sum(self.favoured, phase.favoured, params.vcs);
        let slot = params.vn0 + 1 + sum(self.slot, phase.slot, params.num_data);
        let fit = self.owed & room & params.offers[usize::from(slot & 7)];
        let eligible = fit & spread(self.gate);
        let copies = any(eligible & params.data_lanes);
        let before = params.before[usize::from(favoured & 7)][usize::from(slot & 7)];
        let yields = any(eligible & before);
        Ask { favoured, slot, fit, wants: any(eligible), copies: copies & !yields }
    }

    /// Output channel of a packet in progress.
    #[inline(always)]
    fn owner(&self, vc: u8) -> u8 {
        self.owners >> (2 * (vc & 3)) & 3
    }

    /// Output channel for a flit of `vc`; `new` if its packet has none yet.
    #[inline(always)]
    pub(super) fn output_vc(&self, vc: u8, new: u8, params: &NetworkParams) -> u8 {
        let of_packet = if self.in_packet >> vc & 1 == 1 { self.owner(vc) } else { new };
        if vc < params.vn0 {
            of_packet
        } else {
            vc
        }
    }

    /// A flit of `vc` begins a packet of VN0.
    #[inline(always)]
    pub(super) fn begins(&self, vc: u8, params: &NetworkParams) -> bool {
        (params.vn0_mask & !self.in_packet) >> vc & 1 == 1
    }

    /// Tracks packets: the flit of `vc` has left on output channel `given`.
    #[inline(always)]
    pub(super) fn follow(&mut self, vc: u8, given: u8, last: bool, params: &NetworkParams) {
        let goes_on = (vc < params.vn0) & !last;
        self.in_packet = self.in_packet & !(1 << vc) | u8::from(goes_on) << vc;
        let at = 2 * (vc & 3);
        self.owners = choose(goes_on, self.owners & !(3 << at) | (given & 3) << at, self.owners);
    }

    /// Removes granted outputs from the head of `vc`. Returns true if it owes no more copies.
    #[inline(always)]
    pub(super) fn serve(&mut self, vc: u8, granted: u8) -> bool {
        self.owed &= !scatter(granted, vc);
        self.owed & spread(1 << vc) == 0
    }

    /// Removes the head of `vc`; `next` is the flit behind it.
    #[inline(always)]
    pub(super) fn pop(&mut self, vc: u8, next: Option<Held>) {
        match next {
            None => self.occupied &= !(1 << vc),
            Some(next) => self.owed |= scatter(next.route(), vc),
        }
    }

    /// Adds a flit at the head of `vc`, which was empty.
    #[inline(always)]
    pub(super) fn lead(&mut self, vc: u8, held: Held) {
        self.occupied |= 1 << vc;
        self.owed |= scatter(held.route(), vc);
    }

    /// Updates priorities after a cycle with requests. `occupied` channels held flits, those in `left` sent
    /// one, and those in `freed` also freed its slot.
    #[inline(always)]
    pub(super) fn turn(&mut self, ask: &Ask, occupied: u8, left: u8, freed: u8, params: &NetworkParams) {
        let favoured = 1_u8 << (ask.favoured & 7);
        self.guard(ask, favoured, occupied, left, params);
        let stays = (freed | !occupied) & favoured == 0;
        self.favoured = before(self.favoured, params.vcs, stays);
        if params.num_data > 1 {
            // The turn moves on when the next channel waits or the present one is empty.
            let waits = occupied >> (params.vn0 + 1);
            let slot = ask.slot - params.vn0 - 1;
            if waits >> after(slot, params.num_data) & 1 == 0 && waits >> slot & 1 == 1 {
                self.slot = before(self.slot, params.num_data, true);
            }
        }
    }

    /// Updates the starvation guard.
    #[inline(always)]
    fn guard(&mut self, ask: &Ask, favoured: u8, occupied: u8, left: u8, params: &NetworkParams) {
        let served = left & favoured != 0;
        let alone = self.gate != params.all;
        let over = served | (occupied & favoured == 0) | (alone & (ask.wants == 0));
        let exclusive = self.passed == params.patience;
        self.gate = choose(exclusive & !over, favoured, params.all);
        let passed = self.passed + u8::from((left != 0) & !served & !exclusive);
        self.passed = choose(over, 0, passed);
    }
}
