//! Claims on credits at a router, by heads that have waited too long: registers of `meshkv_switch_allocator`.

use super::input_port::{before, Phase};
use super::virtual_channel::sum;

/// Claims at one router. Only one input's count at a time. Sets of classes have a bit for each of
/// [`Class::ALL`](crate::design::Class::ALL).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Claims {
    /// The input whose claims count, relative to the rounds of [`Phase`].
    holder: u8,
    /// Classes that it claimed in the cycle before.
    closed: u8,
    /// Classes of which only the input `except` may take credits.
    shut: u8,
    except: u8,
}

impl Claims {
    /// Returns the classes whose credits an input may not take.
    #[inline(always)]
    pub(super) fn shut_for(&self, port: u8) -> u8 {
        self.shut * u8::from(port != self.except)
    }

    /// Advances by a cycle, in which the inputs would claim classes as given. True if a claim has an effect later.
    pub(super) fn advance(&mut self, by_input: [u8; 8], phase: Phase) -> bool {
        let holder = sum(self.holder, phase.round, 5);
        (self.shut, self.except) = (self.closed, holder);
        self.closed = by_input[usize::from(holder & 7)];
        if self.closed != 0 && phase.ends_period() {
            self.holder = before(self.holder, 5, true);
        }
        self.closed | self.shut != 0
    }
}
