//! One input of a router: `meshkv_input_port`, and what `meshkv_vc_request` keeps for it.
//!
//! A port without a flit is not looked at. Two of its registers move all the same, one step a cycle:
//! which virtual channel is favoured, and whose slot it is among those of KV_DATA. While it is empty they
//! are kept as a distance from [`Phase`], which moves with them.

use super::lanes::{any, lane, scatter, spread};
use super::output::Outputs;
use super::shape::Shape;

/// Cycles since reset, modulo the lengths of the two turns of an empty port.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Phase {
    favoured: u8,
    slot: u8,
}

impl Phase {
    /// A cycle later.
    pub(super) fn next(self, shape: &Shape) -> Phase {
        Phase { favoured: after(self.favoured, shape.vcs), slot: after(self.slot, shape.num_data) }
    }
}

/// The number after `at` of `count` in a circle.
#[inline(always)]
fn after(at: u8, count: u8) -> u8 {
    if at + 1 == count {
        0
    } else {
        at + 1
    }
}

/// What a port asks of the outputs in a cycle.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ask {
    /// By output, virtual channels whose head it would take.
    fit: u64,
    /// Outputs that are asked.
    pub(super) wants: u8,
    /// Of them, those that are asked for a copy of the KV_DATA flit whose turn it is.
    pub(super) copies: u8,
}

/// A flit in a buffer: number, last bit, route.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Held(pub(super) u32);

impl Held {
    #[inline(always)]
    pub(super) fn new(flit: u32, last: bool, route: u8) -> Held {
        Held(flit << 8 | u32::from(last) << 5 | u32::from(route))
    }
    #[inline(always)]
    pub(super) fn flit(self) -> u32 {
        self.0 >> 8
    }
    #[inline(always)]
    pub(super) fn last(self) -> bool {
        self.0 >> 5 & 1 == 1
    }
    #[inline(always)]
    fn route(self) -> u8 {
        self.0 as u8 & 31
    }
}

/// Control state of one port. Masks have a bit for each virtual channel.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Input {
    /// By output, heads that still owe it a copy.
    pub(super) owed: u64,
    /// Virtual channels that hold a flit.
    pub(super) occupied: u8,
    /// Virtual channels that may ask at all.
    gate: u8,
    /// The one that goes first; see the module for an empty port.
    pub(super) favoured: u8,
    /// The KV_DATA virtual channel that may ask, counted from the first of them; likewise.
    slot: u8,
    /// How often the favoured one was passed over.
    passed: u8,
    /// VN0 virtual channels with a packet under way, and the output's virtual channel it goes on.
    in_packet: u8,
    owner: [u8; 4],
    /// Ring of slots: the head's, and how many are in use.
    head: [u8; 8],
    used: [u8; 8],
}

impl Input {
    pub(super) fn new(shape: &Shape) -> Input {
        Input { gate: shape.all, ..Input::default() }
    }

    /// The KV_DATA virtual channel whose turn it is.
    #[inline(always)]
    fn slot_vc(&self, shape: &Shape) -> u8 {
        shape.vn0 + 1 + self.slot
    }

    /// What the heads want of the outputs. `starts`: outputs where a packet may begin, on all of VN0.
    #[inline(always)]
    pub(super) fn ask(&self, outputs: &Outputs, starts: u64, shape: &Shape) -> Ask {
        let mut room = outputs.available() & spread(!shape.vn0_mask) | starts & spread(!self.in_packet);
        let mut left = self.in_packet;
        while left != 0 {
            let vc = left.trailing_zeros();
            room |= (outputs.available() >> self.owner[vc as usize & 3] & spread(1)) << vc;
            left &= left - 1;
        }
        let slot = self.slot_vc(shape);
        let fit = self.owed & room & spread(shape.single | 1 << slot);
        let eligible = fit & spread(self.gate);
        let copies = any(eligible & spread(shape.data));
        let before = shape.before[usize::from(self.favoured & 7)][usize::from(slot & 7)] & shape.single;
        let yields = if copies == 0 { 0 } else { any(eligible & spread(before)) };
        Ask { fit, wants: any(eligible), copies: copies & !yields }
    }

    /// The virtual channel that leaves when `output` is granted.
    #[inline(always)]
    pub(super) fn chosen(&self, ask: &Ask, output: usize, shape: &Shape) -> u8 {
        if ask.copies >> output & 1 == 1 {
            self.slot_vc(shape)
        } else {
            let offered = lane(ask.fit, output) & shape.single;
            shape.first[usize::from(self.favoured & 7)][usize::from(offered & 31)]
        }
    }

    /// The output's virtual channel for a flit of `vc`; none while a packet has not been given one.
    #[inline(always)]
    pub(super) fn output_vc(&self, vc: u8, shape: &Shape) -> Option<u8> {
        if vc >= shape.vn0 {
            Some(vc)
        } else if self.in_packet >> vc & 1 == 1 {
            Some(self.owner[usize::from(vc & 3)])
        } else {
            None
        }
    }

    /// Follows a packet: the flit of `vc` has left on the output's virtual channel `given`.
    #[inline(always)]
    pub(super) fn follow(&mut self, vc: u8, given: u8, last: bool, shape: &Shape) {
        if vc >= shape.vn0 {
            return;
        }
        if last {
            self.in_packet &= !(1 << vc);
        } else if self.in_packet >> vc & 1 == 0 {
            self.in_packet |= 1 << vc;
            self.owner[usize::from(vc & 3)] = given;
        }
    }

    /// Where the head of a virtual channel stands in its buffer.
    #[inline(always)]
    pub(super) fn head(&self, vc: u8) -> usize {
        usize::from(self.head[usize::from(vc & 7)])
    }

    /// Crosses outputs off the head of `vc`; true if that was the last copy it owed.
    #[inline(always)]
    pub(super) fn serve(&mut self, vc: u8, granted: u8, shape: &Shape) -> bool {
        let several = shape.several >> vc & 1 == 1;
        let done = !several || any(self.owed & spread(1 << vc)) & !granted == 0;
        self.owed &= if done { !spread(1 << vc) } else { !scatter(granted, vc) };
        done
    }

    /// Frees the slot of a head that owes nothing any more. `buffer` is that of the virtual channel.
    #[inline(always)]
    pub(super) fn pop(&mut self, vc: u8, buffer: &[Held], shape: &Shape) {
        let v = usize::from(vc & 7);
        self.head[v] = after(self.head[v], shape.depth);
        self.used[v] -= 1;
        if self.used[v] == 0 {
            self.occupied &= !(1 << vc);
        } else {
            self.owed |= scatter(buffer[usize::from(self.head[v])].route(), vc);
        }
    }

    /// Takes a flit into a slot; it is the head if it is alone.
    #[inline(always)]
    pub(super) fn push(&mut self, vc: u8, held: Held, buffer: &mut [Held], shape: &Shape) {
        let v = usize::from(vc & 7);
        let at = usize::from(self.head[v]) + usize::from(self.used[v]);
        let depth = usize::from(shape.depth);
        buffer[if at >= depth { at - depth } else { at }] = held;
        if self.used[v] == 0 {
            self.occupied |= 1 << vc;
            self.owed |= scatter(held.route(), vc);
        }
        self.used[v] += 1;
    }

    /// The turns after a cycle in which `occupied` held flits and `left` left for some output; `freed` is `left` if
    /// its slot was freed.
    #[inline(always)]
    pub(super) fn turn(&mut self, occupied: u8, wants: u8, left: u8, freed: u8, shape: &Shape) {
        let favoured = 1_u8 << (self.favoured & 7);
        let served = left & favoured != 0;
        let passed = left != 0 && !served;
        let alone = self.gate != shape.all;
        let over = served || occupied & favoured == 0 || (alone && wants == 0);
        let exclusive = self.passed == shape.patience;
        self.gate = if exclusive && !over { favoured } else { shape.all };
        self.passed = if over { 0 } else { self.passed + u8::from(passed && !exclusive) };
        if (freed | !occupied) & favoured != 0 {
            self.favoured = after(self.favoured, shape.vcs);
        }
        if shape.num_data > 1 {
            let waits = occupied >> (shape.vn0 + 1);
            let next = after(self.slot, shape.num_data);
            if waits >> next & 1 == 1 || waits >> self.slot & 1 == 0 {
                self.slot = next;
            }
        }
    }

    /// The port has become empty: `phase` is that of the first cycle in which it is.
    #[inline(always)]
    pub(super) fn fall_asleep(&mut self, phase: Phase, shape: &Shape) {
        let distance = |at: u8, from: u8, count: u8| if at >= from { at - from } else { at + count - from };
        self.favoured = distance(self.favoured, phase.favoured, shape.vcs);
        self.slot = distance(self.slot, phase.slot, shape.num_data);
    }

    /// It is no longer empty.
    #[inline(always)]
    pub(super) fn wake(&mut self, phase: Phase, shape: &Shape) {
        let sum = |at: u8, by: u8, count: u8| if at + by >= count { at + by - count } else { at + by };
        self.favoured = sum(self.favoured, phase.favoured, shape.vcs);
        self.slot = sum(self.slot, phase.slot, shape.num_data);
    }
}
