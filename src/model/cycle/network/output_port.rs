//! The outputs of a router: `meshkv_output_port`, all five at once.

use super::lanes::{gather, lane, spread};
use super::params::{NetworkParams, MOST_VCS};

/// Credits, locks of packets, and whose turn it is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OutputPorts {
    /// By output, virtual channels with a credit left.
    available: u64,
    /// By output, those of VN0 that a packet holds.
    locked: u64,
    /// By output, the virtual channel of VN0 that a new packet takes if it is free.
    turn: [u8; 5],
    credits: [[u8; MOST_VCS]; 5],
}

impl OutputPorts {
    /// Those of a router out of reset.
    pub(super) fn new(params: &NetworkParams) -> OutputPorts {
        let credits = std::array::from_fn(|vc| if vc < usize::from(params.vcs) { params.depth } else { 0 });
        OutputPorts { available: spread(params.all), locked: 0, turn: [0; 5], credits: [credits; 5] }
    }

    #[inline(always)]
    pub(super) fn available(&self) -> u64 {
        self.available
    }

    /// Outputs that a flit may leave through on this virtual channel.
    #[inline(always)]
    pub(super) fn with_room(&self, vc: u8) -> u8 {
        gather(self.available >> (vc & 7))
    }

    /// All of VN0 for every output where a packet may begin.
    #[inline(always)]
    pub(super) fn starts(&self, params: &NetworkParams) -> u64 {
        let free = self.available & !self.locked & spread(params.vn0_mask);
        // VN0 has at most four virtual channels, so that a lane holds the carry.
        ((free + spread(0x0f)) >> 4 & spread(1)) * u64::from(params.vn0_mask)
    }

    /// The virtual channel that a packet would be given; any if none is free.
    #[inline(always)]
    pub(super) fn pick(&self, output: usize, params: &NetworkParams) -> u8 {
        let free = lane(self.available & !self.locked, output) & params.vn0_mask;
        let (turn, lowest) = (self.turn[output], free.trailing_zeros() as u8 & 7);
        if free >> turn & 1 == 1 {
            turn
        } else {
            lowest
        }
    }

    /// A flit leaves, which takes a credit; `last` ends its packet, if it is of one.
    #[inline(always)]
    pub(super) fn send(&mut self, output: usize, vc: u8, last: bool, params: &NetworkParams) {
        let at = 8 * output + usize::from(vc);
        let credits = &mut self.credits[output][usize::from(vc & 7)];
        *credits = credits.wrapping_sub(1);
        self.available &= !(u64::from(*credits == 0) << at);
        // Of VN1 nothing is ever locked, and no turn is at one of its virtual channels.
        let holds = (vc < params.vn0) & !last;
        self.locked = self.locked & !(1 << at) | u64::from(holds) << at;
        let turn = &mut self.turn[output];
        let next = (vc + 1) * u8::from(vc + 1 != params.vn0);
        *turn = if *turn == vc { next } else { *turn };
    }

    /// A slot of the receiver is free again.
    #[inline(always)]
    pub(super) fn credit(&mut self, output: usize, vc: u8) {
        let credits = &mut self.credits[output][usize::from(vc & 7)];
        *credits = credits.wrapping_add(1);
        self.available |= 1 << (8 * output + usize::from(vc));
    }

    /// Forgets all credits of an output: for tests of what compares with this model.
    pub(super) fn lose_credits(&mut self, output: usize) {
        self.credits[output] = [0; MOST_VCS];
        self.available &= !(0xff << (8 * output));
    }
}
