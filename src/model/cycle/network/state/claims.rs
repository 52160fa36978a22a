//! Claims on credits at a router, by heads that have waited too long: registers of `meshkv_switch_allocator`.

use crate::model::cycle::network::phase::Phase;
use crate::model::cycle::network::state::virtual_channel::{before, sum};

/// A class, and outputs at which an input claims its next credits or would; without an output there is none.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::model::cycle::network) struct Claim {
    pub(in crate::model::cycle::network) class: u8,
    pub(in crate::model::cycle::network) outputs: u8,
}

/// Claims at one router. Only one input's count at a time.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::model::cycle::network) struct Claims {
    /// The input whose claims count, relative to the rounds of [`Phase`].
    holder: u8,
    /// Credits that it claimed in the cycle before.
    closed: Claim,
    /// Credits that only the input `except` may take.
    shut: Claim,
    except: u8,
}

impl Claims {
    /// It is the turn of this input to claim.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn holds(&self, port: u8, phase: Phase) -> bool {
        sum(self.holder, phase.round, 5) == port
    }

    /// Returns the credits that an input may not take.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn shut_for(&self, port: u8) -> Claim {
        let outputs = if port == self.except { 0 } else { self.shut.outputs };
        Claim { outputs, ..self.shut }
    }

    /// Advances by a cycle, in which each input would make the claim `by_input`. True if a claim has an effect later.
    pub(in crate::model::cycle::network) fn advance(&mut self, by_input: &[Claim; 5], phase: Phase) -> bool {
        let holder = sum(self.holder, phase.round, 5);
        (self.shut, self.except) = (self.closed, holder);
        self.closed = by_input[usize::from(holder)];
        if self.closed.outputs != 0 {
            self.holder = before(self.holder, 5, true);
        }
        self.closed.outputs | self.shut.outputs != 0
    }
}
