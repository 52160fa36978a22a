//! Input port of a router: `meshkv_input_port`, and the registers of `meshkv_vc_request`.
//!
//! A port without a flit costs no work. Two of its registers still advance every cycle: the favoured virtual
//! channel, and the KV_DATA channel whose turn it is. Both are stored relative to [`Phase`], which advances
//! with them, so a write is needed only when one of them stays.

use crate::design::{CLAIM_LIMIT, CLAIM_PERIODS};
use crate::kernels::network::credit_claim::{self, Events, Periods};
use crate::kernels::network::starvation_guard;
use crate::model::cycle::network::flits::lanes::{any, gather, lane, scatter, spread};
use crate::model::cycle::network::params::NetworkParams;
use crate::model::cycle::network::phase::Phase;
use crate::model::cycle::network::state::claims::Claim;
use crate::model::cycle::network::state::output_port::OutputPorts;
use crate::model::cycle::network::state::virtual_channel::{after, before, sum, Held};
use crate::model::cycle::network::switch_allocator::{BODY, DATA, E, FETCH, FIRST, KINDS, L, W};

/// Periods after which a favoured head that waits claims credits, and the last one before its turn passes on.
const PERIODS: Periods = Periods { claims: CLAIM_PERIODS as u8, last: CLAIM_LIMIT as u8 - 1 };

/// Outputs for which north and south stand back from time to time.
const REST: u8 = 1 << E | 1 << W | 1 << L;

/// Returns `a` if `which`, else `b`, without a branch.
#[inline(always)]
fn choose(which: bool, a: u8, b: u8) -> u8 {
    b ^ ((a ^ b) & u8::from(which).wrapping_neg())
}

/// Requests of a port in a cycle.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::model::cycle::network) struct Ask {
    /// Favoured channel, and the KV_DATA channel whose turn it is.
    favoured: u8,
    pub(in crate::model::cycle::network) slot: u8,
    /// VN0 channels inside a packet.
    in_packet: u8,
    /// By output, virtual channels whose head can use it.
    fit: u64,
    /// By kind, requested outputs.
    pub(in crate::model::cycle::network) wants: [u8; KINDS],
    /// Heads wait for east, west or the tile, and channels of KV_DATA do.
    rest_waits: bool,
    rest_copies: u8,
}

impl Ask {
    /// Returns all requested outputs.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn outputs(&self) -> u8 {
        self.wants[FIRST] | self.wants[BODY] | self.wants[FETCH] | self.wants[DATA]
    }

    /// Returns the outputs requested for flits of a class, with routers of three stages.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn of_class(&self, class: u8) -> u8 {
        self.wants[[FIRST, FETCH, DATA][usize::from(class)]]
    }

    /// True if copies of a KV_DATA flit go before flits with one destination.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn copies_first(&self) -> bool {
        self.favoured == self.slot
    }

    /// Returns the outputs that all kinds are granted, and the virtual channel that leaves. `granted`: outputs by kind.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn chosen(
        &self,
        granted: [u8; KINDS],
        part_turn: u8,
        params: &NetworkParams,
    ) -> (u8, u8) {
        let part = granted[FIRST] | granted[BODY];
        if part == 0 {
            return if granted[DATA] != 0 {
                (granted[DATA], self.slot)
            } else {
                (granted[FETCH], params.vn0)
            };
        }
        let among = match granted[BODY] {
            0 if params.staged => params.vn0_mask,
            0 => !self.in_packet,
            _ => self.in_packet,
        };
        let heads = lane(self.fit, part.trailing_zeros() as usize) & params.vn0_mask & among;
        let later = heads >> part_turn << part_turn;
        (part, (if later == 0 { heads } else { later }).trailing_zeros() as u8)
    }
}

/// Control state of one port. Masks have a bit for each virtual channel.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::model::cycle::network) struct InputPort {
    /// By output, heads that still owe it a copy.
    pub(in crate::model::cycle::network) owed: u64,
    /// Virtual channels that hold a flit.
    pub(in crate::model::cycle::network) occupied: u8,
    /// Virtual channels that may request.
    gate: u8,
    /// Favoured channel, relative to the phase.
    favoured: u8,
    /// KV_DATA channel that may request, counted from the first of them and relative to the phase.
    slot: u8,
    /// Times the favoured channel was passed over, and periods of [`Phase`] that it has waited.
    passed: u8,
    waited: u8,
    /// With routers of three stages, channels that sent a flit in the cycle before, and those that freed its slot.
    left: u8,
    freed: u8,
    /// Outputs granted in the cycle before, and that requests for north and south stand back for the others.
    won: u8,
    pub(in crate::model::cycle::network) yields: bool,
    /// VN0 channel that goes first among those that could send the same kind of flit.
    pub(in crate::model::cycle::network) part_turn: u8,
    /// Virtual channels whose buffers are at least half full.
    pub(in crate::model::cycle::network) full: u8,
    /// VN0 channels inside a packet, and the output channel of each, two bits each.
    in_packet: u8,
    owners: u8,
}

impl InputPort {
    pub(in crate::model::cycle::network) fn new(params: &NetworkParams) -> InputPort {
        InputPort { gate: params.all, ..InputPort::default() }
    }

    /// Returns the requests of the heads. `starts`: by output, all of VN0 if a packet may begin. `shut`: credits that
    /// another input claims.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn ask(
        &self,
        outputs: &OutputPorts,
        starts: u64,
        shut: Claim,
        phase: Phase,
        params: &NetworkParams,
    ) -> Ask {
        let favoured = sum(self.favoured, phase.favoured, params.vcs);
        let slot = params.vn0 + 1 + sum(self.slot, phase.slot, params.num_data);
        let mut room = outputs.available() & params.vn1_lanes | starts & spread(!self.in_packet);
        if shut.outputs != 0 {
            room &= !(scatter(shut.outputs, 0) * u64::from(params.channels(1 << shut.class)));
        }
        let mut left = self.in_packet;
        while left != 0 {
            let vc = left.trailing_zeros();
            room |= (outputs.available() >> self.owner(vc as u8) & spread(1)) << vc;
            left &= left - 1;
        }
        let offered = self.owed & params.offers[usize::from(slot & 7)] & spread(self.gate);
        let fit = offered & room;
        let of = |vcs: u8| any(fit & spread(vcs));
        let part = params.vn0_mask;
        let bodies = if self.in_packet == 0 { 0 } else { of(self.in_packet) };
        let firsts = of(part & !self.in_packet);
        // A port of a router of three stages chooses among its channels of PART, whether or not they begin a packet.
        let [firsts, bodies] = if params.staged { [firsts | bodies, 0] } else { [firsts, bodies] };
        let wants = [firsts, bodies, gather(fit >> params.vn0), any(fit & params.data_lanes)];
        let rest_waits = self.owed >> 16 != 0;
        let rest_copies = lane(self.owed | self.owed >> 8 | self.owed >> 16, E) & params.data_lanes as u8;
        Ask { favoured, slot, in_packet: self.in_packet, fit, wants, rest_waits, rest_copies }
    }

    /// Returns the outputs that heads with one destination wait for, whether or not they could leave, and those that the
    /// head of the KV_DATA channel whose turn it is waits for.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn held(&self, ask: &Ask, params: &NetworkParams) -> [u8; 2] {
        [any(self.owed & !params.data_lanes), gather(self.owed >> (ask.slot & 7))]
    }

    /// The favoured head has waited too long.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn is_late(&self) -> bool {
        self.waited >= PERIODS.claims
    }

    /// Returns the credits that the favoured head would claim, since it has waited too long.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn claim(&self, ask: &Ask, params: &NetworkParams) -> Claim {
        let favoured = ask.favoured;
        if !self.is_late() || self.in_packet >> favoured & 1 == 1 {
            return Claim::default();
        }
        Claim { class: params.class(favoured) as u8, outputs: gather(self.owed >> favoured) }
    }

    /// Output channel of a packet in progress.
    #[inline(always)]
    fn owner(&self, vc: u8) -> u8 {
        self.owners >> (2 * (vc & 3)) & 3
    }

    /// Output channel for a flit of `vc`; `new` if its packet has none yet.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn output_vc(&self, vc: u8, new: u8, params: &NetworkParams) -> u8 {
        let of_packet = if self.in_packet >> vc & 1 == 1 { self.owner(vc) } else { new };
        if vc < params.vn0 {
            of_packet
        } else {
            vc
        }
    }

    /// A flit of `vc` begins a packet of VN0.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn begins(&self, vc: u8, params: &NetworkParams) -> bool {
        (params.vn0_mask & !self.in_packet) >> vc & 1 == 1
    }

    /// Tracks packets: the flit of `vc` has left on output channel `given`.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn follow(
        &mut self,
        vc: u8,
        given: u8,
        last: bool,
        params: &NetworkParams,
    ) {
        let goes_on = (vc < params.vn0) & !last;
        self.in_packet = self.in_packet & !(1 << vc) | u8::from(goes_on) << vc;
        let at = 2 * (vc & 3);
        self.owners = choose(goes_on, self.owners & !(3 << at) | (given & 3) << at, self.owners);
    }

    /// Notes whether the buffer of `vc` is at least half full.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn fill(&mut self, vc: u8, half_full: bool) {
        self.full = self.full & !(1 << vc) | u8::from(half_full) << vc;
    }

    /// Gives the turn of VN0 to the channel after the one that has left.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn turn_part(&mut self, vc: u8, params: &NetworkParams) {
        if vc < params.vn0 {
            self.part_turn = after(vc, params.vn0);
        }
    }

    /// Removes granted outputs from the head of `vc`. Returns true if it owes no more copies.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn serve(&mut self, vc: u8, granted: u8) -> bool {
        self.owed &= !scatter(granted, vc);
        self.owed & spread(1 << vc) == 0
    }

    /// Removes the head of `vc`; `next` is the flit behind it.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn pop(&mut self, vc: u8, next: Option<Held>) {
        match next {
            None => self.occupied &= !(1 << vc),
            Some(next) => self.owed |= scatter(next.route(), vc),
        }
    }

    /// Adds a flit at the head of `vc`, which was empty.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn lead(&mut self, vc: u8, held: Held) {
        self.occupied |= 1 << vc;
        self.owed |= scatter(held.route(), vc);
    }

    /// Updates priorities after a cycle with requests. `occupied` channels held flits, those in `left` sent
    /// one, and those in `freed` also freed its slot. The port `may_claim`, the favoured
    /// head claims, and it `insists` on outputs.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn turn(
        &mut self,
        ask: &Ask,
        occupied: u8,
        (port, left, freed, won): (usize, u8, u8, u8),
        (may_claim, claims, insists): (bool, bool, u8),
        phase: Phase,
        params: &NetworkParams,
    ) {
        let favoured = 1_u8 << (ask.favoured & 7);
        // With three stages, all that only weighs choices follows from what left in the cycle before.
        let (exclusive, freed) = if params.staged {
            let exclusive = self.guard_rest(ask, (won, insists), params);
            (exclusive, std::mem::replace(&mut self.freed, freed))
        } else {
            (self.guard(ask, favoured, occupied, left, params), freed)
        };
        // A head inside a packet has nothing to claim.
        let events = Events {
            leaves: (freed | !occupied) & favoured != 0,
            tick: phase.ends_period(),
            holds: may_claim,
            useless: ask.in_packet & favoured != 0,
        };
        let (passes_on, waited) = credit_claim::rule(self.waited, PERIODS, events);
        self.waited = waited;
        self.favoured = before(self.favoured, params.vcs, !passes_on);
        if params.staged {
            let before = std::mem::replace(&mut self.left, left);
            self.turn_part(before.trailing_zeros() as u8, params);
            self.forget_if_empty(params);
        }
        if params.num_data > 1 {
            // The turn moves on when another channel waits or the present one is empty.
            let waits = occupied >> (params.vn0 + 1);
            let slot = ask.slot - params.vn0 - 1;
            let alone = claims || exclusive && !params.staged;
            if alone && ask.favoured > params.vn0 && occupied & favoured != 0 {
                // The turn is that of the head that claims.
                let next = after(phase.slot, params.num_data);
                self.slot = sum(ask.favoured - params.vn0 - 1, params.num_data - next, params.num_data);
            } else if params.staged && exclusive && ask.rest_copies >> ask.slot & 1 == 1
                || waits == 1 << slot
                || waits >> slot & 1 == 1 && phase.slips(port)
            {
                self.slot = before(self.slot, params.num_data, true);
            }
        }
    }

    /// With routers of three stages: an empty port forgets what came before within a cycle, and nothing asks meanwhile.
    #[inline(always)]
    fn forget_if_empty(&mut self, params: &NetworkParams) {
        if self.occupied == 0 {
            self.turn_part(self.left.trailing_zeros() as u8, params);
            (self.passed, self.waited, self.left, self.freed) = (0, 0, 0, 0);
            (self.won, self.yields) = (0, false);
        }
    }

    /// Updates the starvation guard of a router of three stages, which counts flits to north and south. True if it was at
    /// its limit.
    #[inline(always)]
    fn guard_rest(&mut self, ask: &Ask, (won, insists): (u8, u8), params: &NetworkParams) -> bool {
        let before = std::mem::replace(&mut self.won, won);
        let aside = ask.rest_copies != 0 && ask.rest_copies >> ask.slot & 1 == 0;
        let over =
            before & REST != 0 || !ask.rest_waits || self.yields && ask.outputs() & REST == 0 && !aside;
        let passed = before & !REST != 0;
        let (passed, exclusive) = starvation_guard::rule(self.passed, params.patience, passed, over);
        self.yields = exclusive && !over || insists & REST != 0;
        self.passed = passed;
        exclusive
    }

    /// Updates the starvation guard. True if it was at its limit.
    #[inline(always)]
    fn guard(&mut self, ask: &Ask, favoured: u8, occupied: u8, left: u8, params: &NetworkParams) -> bool {
        let served = left & favoured != 0;
        let alone = self.gate != params.all;
        let aside = ask.favoured > params.vn0 && ask.favoured != ask.slot;
        let over = served | (occupied & favoured == 0) | (alone & (ask.outputs() == 0) & !aside);
        let passed = (left != 0) & !served;
        let (passed, exclusive) = starvation_guard::rule(self.passed, params.patience, passed, over);
        self.gate = choose(exclusive & !over, favoured, params.all);
        self.passed = passed;
        exclusive
    }
}
