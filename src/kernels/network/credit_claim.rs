//! Credit claim: a head that has waited too long claims the next credit that it needs.
//!
//! Invariant: the count is for how many periods the favoured head has waited. From a number of the shell's on, the
//! head claims, and its rivals stand back from the credits of its class. It counts only while its input may claim, so
//! that it has all of its time. Then the turn passes on, and so it does from a head that has nothing to claim: a head
//! that nothing can help keeps no other from claiming.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// The count's width is the shell's: enough for its limit.
#[derive(LogicBlock)]
pub struct CreditClaim<const COUNT: usize> {
    /// The favoured head leaves, or there is none.
    pub leaves: Signal<In, Bit>,
    /// A period ends.
    pub tick: Signal<In, Bit>,
    /// It is the turn of this input to claim.
    pub holds: Signal<In, Bit>,
    /// There is nothing that the head could claim.
    pub useless: Signal<In, Bit>,
    /// Periods that the head has waited.
    pub waited_q: Signal<In, Bits<COUNT>>,
    /// Next `waited_q`.
    pub waited_d: Signal<Out, Bits<COUNT>>,
    /// The count is where the head claims credits.
    pub claiming: Signal<In, Bit>,
    /// The count is at its limit.
    pub last_tick: Signal<In, Bit>,
    /// Another head is favoured from now on.
    pub passes_on: Signal<Out, Bit>,
}

impl<const COUNT: usize> CreditClaim<COUNT> {
    /// Returns a block; it has no constants.
    pub fn new() -> Self {
        CreditClaim {
            leaves: Default::default(),
            tick: Default::default(),
            holds: Default::default(),
            useless: Default::default(),
            waited_q: Default::default(),
            waited_d: Default::default(),
            claiming: Default::default(),
            last_tick: Default::default(),
            passes_on: Default::default(),
        }
    }
}

impl<const COUNT: usize> Default for CreditClaim<COUNT> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const COUNT: usize> Logic for CreditClaim<COUNT> {
    #[hdl_gen]
    fn update(&mut self) {
        self.passes_on.next = self.leaves.val()
            | (self.claiming.val()
                & (self.useless.val() | (self.tick.val() & self.holds.val() & self.last_tick.val())));
        if self.passes_on.val() {
            self.waited_d.next = 0.into();
        } else if self.tick.val() & (!self.claiming.val() | self.holds.val()) {
            self.waited_d.next = self.waited_q.val() + 1;
        } else {
            self.waited_d.next = self.waited_q.val();
        }
    }
}

/// Numbers of periods of a favoured head's wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Periods {
    /// From this number on it claims.
    pub claims: u8,
    /// At the end of this one its turn passes on.
    pub last: u8,
}

/// Events of a cycle for a favoured head; the signals of [`CreditClaim`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Events {
    /// The favoured head leaves, or there is none.
    pub leaves: bool,
    /// A period ends.
    pub tick: bool,
    /// It is the turn of this input to claim.
    pub holds: bool,
    /// There is nothing that the head could claim.
    pub useless: bool,
}

/// Returns whether another head is favoured from now on, and for how many periods the favoured one has waited then.
#[inline(always)]
pub fn rule(waited: u8, periods: Periods, events: Events) -> (bool, u8) {
    let Events { leaves, tick, holds, useless } = events;
    let claiming = waited >= periods.claims;
    let counts = tick & (!claiming | holds);
    let passes_on = leaves | claiming & (useless | counts & (waited == periods.last));
    // A mask instead of a choice: the model's loop has no branch here.
    (passes_on, (waited + u8::from(counts)) & u8::from(!passes_on).wrapping_neg())
}

/// Prints [`CreditClaim`].
pub fn credit_claim() -> Result<Kernel, PrintError> {
    Kernel::print(
        "credit_claim",
        "Counts the periods that a head has waited. It claims credits for some of them, then another head has its turn.",
        &CreditClaim::<4>::new(),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::network::credit_claim::*;

    /// Claims from the third period on, and gives up after the sixth.
    const PERIODS: Periods = Periods { claims: 3, last: 5 };

    #[test]
    fn a_head_claims_for_its_whole_time_and_then_passes_its_turn_on() {
        let mut uut = CreditClaim::<3>::new();
        for (count, case) in (0..=PERIODS.last).flat_map(|count| (0..16_u32).map(move |case| (count, case))) {
            let [leaves, tick, holds, useless] = [1, 2, 4, 8].map(|bit| case & bit != 0);
            uut.waited_q.next = u64::from(count).into();
            [uut.leaves.next, uut.tick.next, uut.holds.next, uut.useless.next] =
                [leaves, tick, holds, useless];
            uut.claiming.next = count >= PERIODS.claims;
            uut.last_tick.next = count == PERIODS.last;
            assert!(simulate(&mut uut, 4));

            let (passes_on, next) = rule(count, PERIODS, Events { leaves, tick, holds, useless });
            assert_eq!(uut.passes_on.val(), passes_on, "count {count} case {case:04b}");
            assert_eq!(uut.waited_d.val(), u64::from(next), "count {count} case {case:04b}");
        }
    }

    #[test]
    fn a_head_that_may_claim_only_now_and_then_has_all_of_its_time() {
        let (mut waited, mut claimed) = (0, 0);
        for cycle in 0.. {
            let holds = cycle % 3 == 0;
            claimed += u8::from(holds && waited >= PERIODS.claims);
            let events = Events { leaves: false, tick: true, holds, useless: false };
            let passes_on;
            (passes_on, waited) = rule(waited, PERIODS, events);
            if passes_on {
                break;
            }
        }
        assert_eq!((claimed, waited), (PERIODS.last + 1 - PERIODS.claims, 0));
    }
}
