//! Cycles since reset, for the registers of a router that advance without traffic.

use super::params::NetworkParams;
use super::virtual_channel::after;
use crate::design::CLAIM_PERIOD;

/// Cycles between two steps of the count of a favoured head's wait.
const PERIOD: u8 = CLAIM_PERIOD as u8;

/// Cycles since reset, modulo the lengths of a port's two rotations, of a period and of the round of
/// claims.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Phase {
    pub(super) favoured: u8,
    pub(super) slot: u8,
    /// VN0 channel that new packets take if it is free, with routers of three stages.
    pub(super) pick: u8,
    cycle: u8,
    pub(super) round: u8,
}

impl Phase {
    /// Returns the phase one cycle later.
    pub(super) fn next(self, params: &NetworkParams) -> Phase {
        Phase {
            favoured: after(self.favoured, params.vcs),
            slot: after(self.slot, params.num_data),
            pick: after(self.pick, params.vn0),
            cycle: after(self.cycle, PERIOD),
            round: after(self.round, 5),
        }
    }

    /// True in the last cycle of a period.
    pub(super) fn ends_period(self) -> bool {
        self.cycle == PERIOD - 1
    }
}
