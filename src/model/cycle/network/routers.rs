//! All routers, and the cycle they run together.
//!
//! A cycle is a few passes over work lists of the whole mesh, not a visit to each router. All decisions
//! follow from registers, so each pass covers all routers before the next pass starts. Within a pass no item
//! depends on the one before, and few branches depend on traffic.

use super::link_counters::LinkCounters;
use super::links::{Credits, Launch, Links, Moving, Place};
use super::params::{NetworkParams, MOST_TILES};
use super::phase::Phase;
use super::router::Router;
use super::switch_allocator::{each, E, KINDS, L, SEVERAL, W};
use crate::design::{Design, Mesh};
use crate::model::cycle::network::flits::flit_store::FlitStore;
use crate::model::cycle::network::flits::lanes::{any, bits, gather};
use crate::model::cycle::network::flits::work_lists::{Arrival, Meeting, Serving, WorkLists};
use crate::model::cycle::network::state::claims::Claim;
use crate::model::cycle::network::state::input_port::{Ask, InputPort};
use crate::model::cycle::network::state::virtual_channel::{Held, VirtualChannel};

const ROW: u8 = 1 << E | 1 << W;

/// All routers, and the links between them.
#[derive(Debug)]
pub(super) struct Routers {
    params: NetworkParams,
    phase: Phase,
    pub(super) flits: FlitStore,
    /// Virtual channels of every input, and their buffers.
    channels: Vec<VirtualChannel>,
    slots: Vec<Held>,
    pub(super) links: Links,
    pub(super) credits: Credits,
    pub(super) counters: LinkCounters,
    pub(super) routers: Vec<Router>,
    /// Five inputs of every tile.
    inputs: Vec<InputPort>,
    /// By tile, inputs that hold a flit, a bit each.
    holding: [u8; MOST_TILES],
    /// Tiles at whose routers a claim has an effect.
    claiming: Vec<u8>,
}

impl Routers {
    /// Creates the routers in their reset state.
    pub(super) fn new(design: &Design) -> Routers {
        let (mesh, params) = (design.mesh, NetworkParams::new(design));
        let tiles = mesh.tiles();
        let channels = 5 * tiles * usize::from(params.vcs);
        Routers {
            phase: Phase::default(),
            flits: FlitStore::new(design),
            channels: vec![VirtualChannel::default(); channels],
            slots: vec![Held::default(); channels * usize::from(params.depth)],
            links: Links::new(),
            credits: Credits::new(),
            counters: LinkCounters::new(tiles),
            routers: mesh.nodes().map(|node| Router::new(mesh, node, &params)).collect(),
            inputs: vec![InputPort::new(&params); 5 * tiles],
            holding: [0; MOST_TILES],
            claiming: Vec::new(),
            params,
        }
    }

    /// Returns to the reset state.
    pub(super) fn reset(&mut self, mesh: Mesh) {
        for (router, node) in self.routers.iter_mut().zip(mesh.nodes()) {
            *router = Router::new(mesh, node, &self.params);
        }
        self.inputs.fill(InputPort::new(&self.params));
        self.channels.fill(VirtualChannel::default());
        self.holding = [0; MOST_TILES];
        self.claiming.clear();
        self.flits.clear();
        self.links = Links::new();
        self.credits = Credits::new();
        self.counters.clear();
        self.phase = Phase::default();
    }

    /// Virtual channels of an input that hold a flit.
    pub(super) fn occupied(&self, tile: usize, port: usize) -> u8 {
        self.inputs[5 * tile + port].occupied
    }

    /// Any input holds a flit.
    pub(super) fn holds(&self) -> bool {
        self.holding.iter().any(|&word| word != 0)
    }

    /// Runs a cycle.
    pub(super) fn cycle(&mut self, work: &mut WorkLists) {
        if self.params.staged {
            self.launch();
        }
        self.ask(work);
        self.grant(work);
        self.express(work);
        self.claim(work);
        self.count_blocked(work);
        self.leave(work);
        self.arrive(work);
        self.turn(work);
        self.count_credits();
        // A flit that has reached its tile leaves the store.
        for shown in self.links.shown() {
            self.flits.arrived(shown.flit);
        }
        self.credits.advance();
        self.links.advance();
        self.phase = self.phase.next(&self.params);
    }

    /// Moves the flits granted in the cycle before to the output registers.
    fn launch(&mut self) {
        let (routers, counters, params) = (&self.routers, &mut self.counters, &self.params);
        self.links.launch(|launch| {
            let (tile, output) = (launch.tile, usize::from(launch.output));
            counters.sent(tile, output, params.class(launch.moving.to.vc()));
            routers[usize::from(tile)].ways[output]
        });
    }

    /// Collects the requests of inputs that hold flits.
    fn ask(&mut self, work: &mut WorkLists) {
        let (mut servings, mut busy) = (work.servings.refill(), work.busy.refill());
        for (word, holding) in self.holding[..self.routers.len()].chunks(8).enumerate() {
            let mut bytes = [0; 8];
            bytes[..holding.len()].copy_from_slice(holding);
            let (mut left, mut before) = (u64::from_le_bytes(bytes), u8::MAX);
            while left != 0 {
                let bit = left.trailing_zeros() as u8;
                left &= left - 1;
                let (tile, port) = (word as u8 * 8 + (bit >> 3), bit & 7);
                let Router { outputs, claims, .. } = &self.routers[usize::from(tile)];
                let input = &self.inputs[at(tile, port)];
                let starts = outputs.starts(&self.params);
                let ask = input.ask(outputs, starts, claims.shut_for(port), self.phase, &self.params);
                let (meeting, p) = (&mut work.meetings[usize::from(tile)], usize::from(port & 7));
                for (all, wants) in meeting.wants.iter_mut().zip(ask.wants) {
                    all[p] = wants;
                }
                if self.params.staged {
                    let [single, copies] = input.held(&ask, &self.params);
                    (meeting.held[0][p], meeting.held[1][p]) = (single, copies);
                    meeting.yields |= u8::from(input.yields) << p;
                }
                meeting.pressure[p] = self.params.classes(input.full) | self.several(tile, port, &ask);
                meeting.copying |= u8::from(ask.copies_first()) << p;
                let may_claim = claims.holds(port, self.phase);
                let (mut claims_now, mut insists) = (false, 0);
                if input.is_late() {
                    meeting.claims[p] = input.claim(&ask, &self.params);
                    meeting.claimed |= meeting.claims[p].outputs != 0;
                    if may_claim {
                        let Claim { class, outputs } = meeting.claims[p];
                        (claims_now, insists) = (outputs != 0, outputs & ask.of_class(class));
                        meeting.insists[p] = insists;
                    }
                }
                meeting.owed |= input.owed;
                meeting.requested |= ask.outputs();
                let occupied = input.occupied;
                let (left, freed, won, claims) = (0, 0, 0, claims_now);
                let serving =
                    Serving { ask, tile, port, occupied, left, freed, won, may_claim, claims, insists };
                servings.push_if(serving, true);
                busy.push_if(tile, bit >> 3 != before);
                before = bit >> 3;
            }
        }
        servings.end();
        busy.end();
    }

    /// Returns [`SEVERAL`] if the KV_DATA head whose turn it is has several destinations.
    #[inline(always)]
    fn several(&self, tile: u8, port: u8, ask: &Ask) -> u8 {
        if self.inputs[at(tile, port)].occupied >> ask.slot & 1 == 0 {
            return 0;
        }
        let channel = at(tile, port) * usize::from(self.params.vcs) + usize::from(ask.slot);
        SEVERAL * u8::from(self.channels[channel].head().last())
    }

    /// Grants outputs to inputs.
    fn grant(&mut self, work: &mut WorkLists) {
        for &tile in work.busy.items() {
            let meeting = &mut work.meetings[usize::from(tile)];
            let allocator = &mut self.routers[usize::from(tile)].allocator;
            let pressure = u64::from_le_bytes(meeting.pressure);
            let wants = each(meeting.wants, u64::from_le_bytes);
            let granted = if self.params.staged {
                let held = each(meeting.held, u64::from_le_bytes);
                let firm = (meeting.yields, u64::from_le_bytes(meeting.insists));
                allocator.grant_staged(&wants, held, firm, pressure, self.phase)
            } else if meeting.requested != 0 {
                allocator.grant(&wants, meeting.copying, pressure)
            } else {
                continue;
            };
            meeting.granted = each(granted, u64::to_le_bytes);
        }
    }

    /// Advances the claims of all routers that have any.
    fn claim(&mut self, work: &WorkLists) {
        for &tile in work.busy.items() {
            if work.meetings[usize::from(tile)].claimed && !self.claiming.contains(&tile) {
                self.claiming.push(tile);
            }
        }
        let (routers, phase) = (&mut self.routers, self.phase);
        self.claiming.retain(|&tile| {
            routers[usize::from(tile)].claims.advance(&work.meetings[usize::from(tile)].claims, phase)
        });
    }

    /// Finds flits on links of rows and tiles that meet an empty buffer and a free output along the row that
    /// no head requests. Through traffic comes before flits that tiles inject, even if it cannot leave.
    fn express(&mut self, work: &mut WorkLists) {
        let (mut flying, mut stored) = (work.flying.refill(), work.stored.refill());
        for &moving in self.links.row() {
            let (tile, port, vc) = (moving.to.tile(), moving.to.port(), moving.to.vc());
            let router = &self.routers[usize::from(tile)];
            let target = self.flits.target(moving.flit);
            let route = router.route(port, moving.flit, target, &self.flits);
            let meeting = &mut work.meetings[usize::from(tile)];
            let through = if usize::from(port) == L { meeting.through } else { 0 };
            meeting.through |= route & ROW;
            let input = &self.inputs[at(tile, port)];
            let shut = router.claims.shut_for(port);
            // A flit inside a packet has its channel, and takes no credit that could be claimed.
            let begins = input.begins(vc, &self.params);
            let claimable = begins || vc >= self.params.vn0;
            let closed =
                if claimable && shut.class == self.params.class(vc) as u8 { shut.outputs } else { 0 };
            let begin = gather(router.outputs.starts(&self.params));
            let go_on = router.outputs.with_room(input.output_vc(vc, 0, &self.params));
            let room = if begins { begin } else { go_on } & !closed;
            let empty = (input.occupied >> vc & 1).wrapping_sub(1);
            let taken = meeting.requested | self.links.launching(tile);
            let flies = route & ROW & !taken & !through & room & empty;
            meeting.flies |= flies;
            let (left, last) = (route & !flies, target.last);
            flying.push_if(Arrival { moving, outputs: flies, last }, flies != 0);
            stored.push_if(Arrival { moving, outputs: left, last }, left != 0);
            let p = usize::from(port);
            self.credits.free_if(moving.to, router.beyond[p], router.ways[p], left == 0);
            self.flits.spread(moving.flit, flies, left != 0);
        }
        flying.end();
        stored.end();
    }

    /// Counts outputs that were owed a flit and got none.
    fn count_blocked(&mut self, work: &WorkLists) {
        for &tile in work.busy.items() {
            let meeting = &work.meetings[usize::from(tile)];
            let blocked = any(meeting.owed) & !meeting.requested & !meeting.flies;
            bits(blocked).for_each(|output| self.counters.blocked(tile, output));
        }
    }

    /// Sends heads to the outputs they were granted.
    fn leave(&mut self, work: &mut WorkLists) {
        let WorkLists { servings, granted: list, meetings, .. } = work;
        let mut chosen = list.refill();
        for (position, serving) in servings.items().iter().enumerate() {
            let granted = meetings[usize::from(serving.tile)].granted(serving.port);
            chosen.push_if(position as u16, granted != [0; KINDS]);
        }
        chosen.end();
        let servings = servings.items_mut();
        for &position in list.items() {
            let serving = &mut servings[usize::from(position)];
            let &mut Serving { ask, tile, port, .. } = serving;
            let granted = meetings[usize::from(tile)].granted(port);
            let part_turn = self.inputs[at(tile, port)].part_turn;
            let (granted, vc) = ask.chosen(granted, part_turn, &self.params);
            let channel = at(tile, port) * usize::from(self.params.vcs) + usize::from(vc);
            let head = self.channels[channel].head();
            let here = Place::new(tile, port, vc);
            self.send(head.flit(), here, head.last(), granted, self.params.staged);
            let input = &mut self.inputs[at(tile, port)];
            let done = input.serve(vc, granted);
            if done {
                if !self.params.staged {
                    input.turn_part(vc, &self.params);
                }
                input.pop(vc, self.channels[channel].pop(channel, &self.slots, &self.params));
                input.fill(vc, self.channels[channel].half_full(&self.params));
                self.holding[usize::from(tile)] &= !(u8::from(input.occupied == 0) << port);
            }
            let router = &self.routers[usize::from(tile)];
            let p = usize::from(port);
            self.credits.free_if(here, router.beyond[p], router.ways[p], done);
            self.flits.spread(head.flit(), granted, !done);
            (serving.left, serving.freed, serving.won) = (1 << vc, u8::from(done) << vc, granted);
        }
    }

    /// Forwards flits from the links, stores them, or both.
    fn arrive(&mut self, work: &mut WorkLists) {
        for flying in work.flying.items() {
            self.send(flying.moving.flit, flying.moving.to, flying.last, flying.outputs, false);
        }
        for &Arrival { moving, outputs, last } in work.stored.items() {
            self.store(moving, last, outputs);
        }
        for moving in self.links.row() {
            work.meetings[usize::from(moving.to.tile())] = Meeting::NONE;
        }
        for i in 0..self.links.column().len() {
            let moving = self.links.column()[i];
            let (router, target) =
                (&self.routers[usize::from(moving.to.tile())], self.flits.target(moving.flit));
            let route = router.route_column(moving.to.port(), moving.flit, target, &self.flits);
            self.store(moving, target.last, route);
        }
    }

    /// Stores a flit from a link.
    #[inline(always)]
    fn store(&mut self, moving: Moving, last: bool, route: u8) {
        let (tile, port, vc) = (moving.to.tile(), moving.to.port(), moving.to.vc());
        let channel = at(tile, port) * usize::from(self.params.vcs) + usize::from(vc);
        let held = Held::new(moving.flit, last, route);
        if self.channels[channel].push(held, channel, &mut self.slots, &self.params) {
            self.inputs[at(tile, port)].lead(vc, held);
        }
        self.inputs[at(tile, port)].fill(vc, self.channels[channel].half_full(&self.params));
        self.holding[usize::from(tile)] |= 1 << port;
    }

    /// Updates the priorities of inputs that held flits.
    fn turn(&mut self, work: &mut WorkLists) {
        for serving in work.servings.items() {
            let &Serving { ask, tile, port, occupied, left, freed, won, may_claim, claims, insists } =
                serving;
            let served = (usize::from(port), left, freed, won);
            let input = &mut self.inputs[at(tile, port)];
            input.turn(&ask, occupied, served, (may_claim, claims, insists), self.phase, &self.params);
        }
        for &tile in work.busy.items() {
            work.meetings[usize::from(tile)] = Meeting::NONE;
        }
    }

    /// Counts credits that are on the wires.
    fn count_credits(&mut self) {
        for list in self.credits.counted() {
            for freed in list {
                let of = freed.of;
                self.routers[usize::from(of.tile())].outputs.credit(usize::from(of.port()), of.vc());
            }
        }
        for &(tile, vc) in &self.credits.given {
            self.routers[usize::from(tile)].outputs.credit(L, vc);
        }
    }

    /// Writes copies of a flit from an input into output registers, at least one; if `staged`, a cycle later.
    #[inline(always)]
    fn send(&mut self, flit: u32, from: Place, last: bool, outputs: u8, staged: bool) {
        let given = self.send_one(flit, from, last, outputs.trailing_zeros() as usize & 7, staged);
        let (input, more) = (at(from.tile(), from.port()), outputs & outputs.wrapping_sub(1));
        self.inputs[input].follow(from.vc(), given, last, &self.params);
        if more != 0 {
            // A multicast flit belongs to no packet and keeps its virtual channel.
            self.send_more(flit, from, more, staged);
        }
    }

    /// Writes a copy into one output register and returns its virtual channel there.
    #[inline(always)]
    fn send_one(&mut self, flit: u32, from: Place, last: bool, output: usize, staged: bool) -> u8 {
        let (tile, vc) = (from.tile(), from.vc());
        let router = &mut self.routers[usize::from(tile)];
        let input = &self.inputs[at(tile, from.port())];
        let given = input.output_vc(vc, router.outputs.pick(output, self.phase, &self.params), &self.params);
        router.outputs.send(output, given, last, &self.params);
        let moving = Moving { flit, to: router.beyond[output].of(given) };
        if staged {
            self.links.grant(Launch { moving, tile: from.tile(), output: output as u8 });
        } else {
            self.counters.sent(tile, output, self.params.class(given));
            self.links.send(moving, router.ways[output]);
        }
        given
    }

    #[cold]
    #[inline(never)]
    fn send_more(&mut self, flit: u32, from: Place, outputs: u8, staged: bool) {
        bits(outputs).for_each(|output| {
            self.send_one(flit, from, true, output, staged);
        });
    }
}

/// Index of an input.
#[inline(always)]
fn at(tile: u8, port: u8) -> usize {
    usize::from(tile) * 5 + usize::from(port)
}
