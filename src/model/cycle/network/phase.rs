//! Cycles since reset, for the registers of a router that advance without traffic.

use super::params::NetworkParams;
use crate::design::{CLAIM_PERIOD, RANDOM_SEED, RANDOM_TAPS, SLIP_BITS};
use crate::model::cycle::network::state::virtual_channel::after;

/// Cycles between two steps of the count of a favoured head's wait.
const PERIOD: u8 = CLAIM_PERIOD as u8;

/// Cycles since reset, modulo the lengths of a port's two rotations, of a period and of the round of
/// claims; and the random bits of all routers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Phase {
    pub(super) favoured: u8,
    pub(super) slot: u8,
    /// VN0 channel that new packets take if it is free, with routers of three stages.
    pub(super) pick: u8,
    cycle: u8,
    pub(super) round: u8,
    /// Random bits, by which turns lose their rhythm.
    random: u16,
}

impl Default for Phase {
    fn default() -> Phase {
        Phase { favoured: 0, slot: 0, pick: 0, cycle: 0, round: 0, random: RANDOM_SEED }
    }
}

impl Phase {
    /// In this cycle turn number `side` stays: a choice of an input between two outputs, or an input's turn among channels
    /// of KV_DATA.
    #[inline(always)]
    pub(super) fn slips(self, side: usize) -> bool {
        let [a, b] = SLIP_BITS[side];
        self.random >> a & self.random >> b & 1 == 1
    }

    /// Returns the phase one cycle later.
    pub(super) fn next(self, params: &NetworkParams) -> Phase {
        Phase {
            favoured: after(self.favoured, params.vcs),
            slot: after(self.slot, params.num_data),
            pick: after(self.pick, params.vn0),
            cycle: after(self.cycle, PERIOD),
            round: after(self.round, 5),
            random: self.random << 1 | (self.random & RANDOM_TAPS).count_ones() as u16 & 1,
        }
    }

    /// True in the last cycle of a period.
    pub(super) fn ends_period(self) -> bool {
        self.cycle == PERIOD - 1
    }
}
