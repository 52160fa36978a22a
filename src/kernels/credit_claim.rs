//! Credit claim: a head that has waited too long claims the next credit that it needs.
//!
//! Invariant: the count is for how many periods the favoured head has waited. From a number of the shell's on, the
//! head claims, and its rivals stand back from the credits of its class. It counts only while its input may claim, so
//! that it has all of its time. Then the turn passes on, and so it does from a head that has nothing to claim: a head
//! that nothing can help keeps no other from claiming.

use super::error::PrintError;
use super::kernel::Kernel;
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
    use super::*;

    /// Claims from the third period on, and gives up after the sixth.
    const CLAIMS: u64 = 3;
    const LAST: u64 = 5;

    #[test]
    fn a_head_claims_for_its_whole_time_and_then_passes_its_turn_on() {
        let mut uut = CreditClaim::<3>::new();
        for count in 0..=LAST {
            for case in 0..16_u32 {
                let [leaves, tick, holds, useless] = [1, 2, 4, 8].map(|bit| case & bit != 0);
                uut.waited_q.next = count.into();
                uut.leaves.next = leaves;
                uut.tick.next = tick;
                uut.holds.next = holds;
                uut.useless.next = useless;
                uut.claiming.next = count >= CLAIMS;
                uut.last_tick.next = count == LAST;
                assert!(simulate(&mut uut, 4));

                let counts = tick && (count < CLAIMS || holds);
                let gives_up = count >= CLAIMS && (useless || count == LAST && counts);
                let next = if leaves || gives_up { 0 } else { count + u64::from(counts) };
                assert_eq!(uut.passes_on.val(), leaves || gives_up, "count {count} case {case:04b}");
                assert_eq!(uut.waited_d.val(), next, "count {count} case {case:04b}");
            }
        }
    }
}
