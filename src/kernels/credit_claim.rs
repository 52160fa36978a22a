//! Credit claim: a head that has waited too long claims the next credit that it needs.
//!
//! Invariant: the count is for how many periods the favoured head has waited, up to the shell's
//! limit, where it claims until it leaves. Its rivals stand back from the credits of its class meanwhile,
//! so its wait ends with the next of these credits or soon after.

use super::error::PrintError;
use super::kernel::Kernel;
use rust_hdl::prelude::*;

/// The count's width is the shell's: enough for its limit.
#[derive(LogicBlock)]
pub struct CreditClaim<const COUNT: usize> {
    /// The favoured head leaves, or there is none.
    pub leaves_turn: Signal<In, Bit>,
    /// A period ends.
    pub tick: Signal<In, Bit>,
    /// Periods that the head has waited.
    pub waited_q: Signal<In, Bits<COUNT>>,
    /// Next `waited_q`.
    pub waited_d: Signal<Out, Bits<COUNT>>,
    /// The count is at its limit, where the head claims credits.
    pub claiming: Signal<In, Bit>,
}

impl<const COUNT: usize> CreditClaim<COUNT> {
    /// Returns a block; it has no constants.
    pub fn new() -> Self {
        CreditClaim {
            leaves_turn: Default::default(),
            tick: Default::default(),
            waited_q: Default::default(),
            waited_d: Default::default(),
            claiming: Default::default(),
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
        if self.leaves_turn.val() {
            self.waited_d.next = 0.into();
        } else if self.tick.val() & !self.claiming.val() {
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
        "Counts the periods that a head has waited, up to a limit, where it claims the credits it needs.",
        &CreditClaim::<4>::new(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_counted_up_to_the_claim_and_forgotten_when_the_head_leaves() {
        let mut uut = CreditClaim::<3>::new();
        for count in 0..=5_u64 {
            for (leaves, tick) in [(false, false), (false, true), (true, false), (true, true)] {
                uut.waited_q.next = count.into();
                uut.leaves_turn.next = leaves;
                uut.tick.next = tick;
                uut.claiming.next = count == 5;
                assert!(simulate(&mut uut, 4));

                let next = if leaves { 0 } else { 5.min(count + u64::from(tick)) };
                assert_eq!(uut.waited_d.val(), next, "count {count} leaves {leaves} tick {tick}");
            }
        }
    }
}
