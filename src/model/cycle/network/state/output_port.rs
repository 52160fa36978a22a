//! Output ports of a router: `meshkv_output_port`, all five at once.

use crate::kernels::cells::credit_pointers;
use crate::kernels::network::packet_lock;
use crate::model::cycle::network::flits::lanes::{gather, lane, spread};
use crate::model::cycle::network::params::{NetworkParams, MOST_VCS};
use crate::model::cycle::network::phase::Phase;

/// Credits, packet locks, and round-robin state.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::model::cycle::network) struct OutputPorts {
    /// By output, virtual channels with a credit.
    available: u64,
    /// By output, VN0 channels held by a packet.
    locked: u64,
    /// By output, the VN0 channel that a new packet takes if it is free.
    turn: [u8; 5],
    credits: [[u8; MOST_VCS]; 5],
}

impl OutputPorts {
    /// Creates the outputs of a router in their reset state.
    pub(in crate::model::cycle::network) fn new(params: &NetworkParams) -> OutputPorts {
        let credits = std::array::from_fn(|vc| if vc < usize::from(params.vcs) { params.depth } else { 0 });
        OutputPorts { available: spread(params.all), locked: 0, turn: [0; 5], credits: [credits; 5] }
    }

    #[inline(always)]
    pub(in crate::model::cycle::network) fn available(&self) -> u64 {
        self.available
    }

    /// Returns the outputs with a credit on this virtual channel.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn with_room(&self, vc: u8) -> u8 {
        gather(self.available >> (vc & 7))
    }

    /// Returns all of VN0 for every output where a packet may begin.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn starts(&self, params: &NetworkParams) -> u64 {
        let free = self.available & !self.locked & spread(params.vn0_mask);
        // VN0 has at most four virtual channels, so a lane holds the carry.
        ((free + spread(0x0f)) >> 4 & spread(1)) * u64::from(params.vn0_mask)
    }

    /// Returns the virtual channel for a new packet; arbitrary if none is free.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn pick(
        &self,
        output: usize,
        phase: Phase,
        params: &NetworkParams,
    ) -> u8 {
        let free = lane(self.available & !self.locked, output) & params.vn0_mask;
        let turn = if params.staged { phase.pick } else { self.turn[output] };
        let lowest = free.trailing_zeros() as u8 & 7;
        if free >> turn & 1 == 1 {
            turn
        } else {
            lowest
        }
    }

    /// Sends a flit and takes a credit. `last` ends its packet, if it has one.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn send(
        &mut self,
        output: usize,
        vc: u8,
        last: bool,
        params: &NetworkParams,
    ) {
        let at = 8 * output + usize::from(vc);
        let credits = &mut self.credits[output][usize::from(vc & 7)];
        *credits = credit_pointers::rule(*credits, true, false);
        self.available &= !(u64::from(*credits == 0) << at);
        // VN1 channels are never locked, and the turn is never at one of them.
        let holds = (vc < params.vn0) & packet_lock::rule(self.locked >> at & 1 == 1, Some(last));
        self.locked = self.locked & !(1 << at) | u64::from(holds) << at;
        let turn = &mut self.turn[output];
        let next = (vc + 1) * u8::from(vc + 1 != params.vn0);
        *turn = if *turn == vc { next } else { *turn };
    }

    /// Returns a credit.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn credit(&mut self, output: usize, vc: u8) {
        let credits = &mut self.credits[output][usize::from(vc & 7)];
        *credits = credit_pointers::rule(*credits, false, true);
        self.available |= 1 << (8 * output + usize::from(vc));
    }

    /// Drops all credits of an output, for tests of comparisons with this model.
    pub(in crate::model::cycle::network) fn lose_credits(&mut self, output: usize) {
        self.credits[output] = [0; MOST_VCS];
        self.available &= !(0xff << (8 * output));
    }
}
