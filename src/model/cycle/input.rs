//! One input of a router: `meshkv_input_port`, and what `meshkv_vc_request` keeps for it.
//!
//! A port without a flit is not looked at. Two of its registers move all the same, one step a cycle:
//! which virtual channel is favoured, and whose slot it is among those of KV_DATA. They are therefore kept as a distance
//! from [`Phase`], which moves with them: what is written is when they stay.

use super::lanes::{any, lane, scatter, spread};
use super::output::Outputs;
use super::shape::Shape;

/// Cycles since reset, modulo the lengths of the two turns of a port.
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

/// The number before `at` of `count` in a circle.
#[inline(always)]
fn before(at: u8, count: u8) -> u8 {
    if at == 0 {
        count - 1
    } else {
        at - 1
    }
}

/// The sum of two numbers in a circle of `count`.
#[inline(always)]
fn sum(a: u8, b: u8, count: u8) -> u8 {
    if a + b >= count {
        a + b - count
    } else {
        a + b
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
    /// Whose turns it is.
    favoured: u8,
    slot: u8,
    /// By output, virtual channels whose head it would take.
    fit: u64,
    /// Outputs that are asked.
    pub(super) wants: u8,
    /// Of them, those that are asked for a copy of the KV_DATA flit whose turn it is.
    pub(super) copies: u8,
}

impl Ask {
    /// The virtual channel that leaves when `output` is granted.
    #[inline(always)]
    pub(super) fn chosen(&self, output: usize, shape: &Shape) -> u8 {
        if self.copies >> output & 1 == 1 {
            self.slot
        } else {
            let offered = lane(self.fit, output) & shape.single;
            shape.first[usize::from(self.favoured & 7)][usize::from(offered & 31)]
        }
    }
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
    /// The one that goes first, as a distance from the phase.
    favoured: u8,
    /// The KV_DATA virtual channel that may ask, counted from the first of them; likewise.
    slot: u8,
    /// How often the favoured one was passed over.
    passed: u8,
    /// VN0 virtual channels with a packet under way, and the output's virtual channel it goes on.
    in_packet: u8,
    owner: [u8; 4],
    /// Flits by virtual channel: the head, how many there are, and where in the buffer the first behind the head is.
    heads: [Held; 8],
    used: [u8; 8],
    behind: [u8; 8],
}

impl Input {
    pub(super) fn new(shape: &Shape) -> Input {
        Input { gate: shape.all, ..Input::default() }
    }

    /// What the heads want of the outputs. `starts`: outputs where a packet may begin, on all of VN0.
    #[inline(always)]
    pub(super) fn ask(&self, outputs: &Outputs, starts: u64, phase: Phase, shape: &Shape) -> Ask {
        let mut room = outputs.available() & spread(!shape.vn0_mask) | starts & spread(!self.in_packet);
        let mut left = self.in_packet;
        while left != 0 {
            let vc = left.trailing_zeros();
            room |= (outputs.available() >> self.owner[vc as usize & 3] & spread(1)) << vc;
            left &= left - 1;
        }
        let favoured = sum(self.favoured, phase.favoured, shape.vcs);
        let slot = shape.vn0 + 1 + sum(self.slot, phase.slot, shape.num_data);
        let fit = self.owed & room & spread(shape.single | 1 << slot);
        let eligible = fit & spread(self.gate);
        let copies = any(eligible & spread(shape.data));
        let before = shape.before[usize::from(favoured & 7)][usize::from(slot & 7)] & shape.single;
        let yields = if copies == 0 { 0 } else { any(eligible & spread(before)) };
        Ask { favoured, slot, fit, wants: any(eligible), copies: copies & !yields }
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

    /// The head of a virtual channel that holds a flit.
    #[inline(always)]
    pub(super) fn head(&self, vc: u8) -> Held {
        self.heads[usize::from(vc & 7)]
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
    pub(super) fn pop(&mut self, vc: u8, buffer: &[Held], depth: u8) {
        let v = usize::from(vc & 7);
        self.used[v] -= 1;
        if self.used[v] == 0 {
            self.occupied &= !(1 << vc);
        } else {
            let next = buffer[usize::from(self.behind[v])];
            self.behind[v] = after(self.behind[v], depth);
            self.heads[v] = next;
            self.owed |= scatter(next.route(), vc);
        }
    }

    /// Takes a flit; it is the head if it is alone, and is not written into the buffer.
    #[inline(always)]
    pub(super) fn push(&mut self, vc: u8, held: Held, buffer: &mut [Held]) {
        let v = usize::from(vc & 7);
        let used = self.used[v];
        self.used[v] = used + 1;
        if used == 0 {
            self.occupied |= 1 << vc;
            self.heads[v] = held;
            self.owed |= scatter(held.route(), vc);
            return;
        }
        let (at, depth) = (usize::from(self.behind[v]) + usize::from(used) - 1, buffer.len());
        buffer[if at >= depth { at - depth } else { at }] = held;
    }

    /// The turns after a cycle in which the port asked and `occupied` held flits and `left` left for some output; `freed` is
    /// `left` if its slot was freed.
    #[inline(always)]
    pub(super) fn turn(&mut self, ask: &Ask, occupied: u8, left: u8, freed: u8, shape: &Shape) {
        let favoured = 1_u8 << (ask.favoured & 7);
        let served = left & favoured != 0;
        if self.gate != shape.all || self.passed != 0 || (left != 0 && !served) {
            self.guard(ask, favoured, occupied, left, shape);
        }
        if (freed | !occupied) & favoured == 0 {
            self.favoured = before(self.favoured, shape.vcs);
        }
        if shape.num_data > 1 {
            // It moves on when the next waits or the present one does not.
            let waits = occupied >> (shape.vn0 + 1);
            let slot = ask.slot - shape.vn0 - 1;
            if waits >> after(slot, shape.num_data) & 1 == 0 && waits >> slot & 1 == 1 {
                self.slot = before(self.slot, shape.num_data);
            }
        }
    }

    /// The starvation guard. Without a count and a gate nothing comes of a cycle in which nobody is passed over.
    #[inline(always)]
    fn guard(&mut self, ask: &Ask, favoured: u8, occupied: u8, left: u8, shape: &Shape) {
        let served = left & favoured != 0;
        let alone = self.gate != shape.all;
        let over = served || occupied & favoured == 0 || (alone && ask.wants == 0);
        let exclusive = self.passed == shape.patience;
        self.gate = if exclusive && !over { favoured } else { shape.all };
        self.passed = if over { 0 } else { self.passed + u8::from(left != 0 && !served && !exclusive) };
    }
}
