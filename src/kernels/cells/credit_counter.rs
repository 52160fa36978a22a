//! Credit counter: lends credits while any is left and counts what comes back.
//!
//! Invariant: the count never falls below zero, since a credit is taken only from a count above zero.
//! A credit that is taken and one that returns in the same cycle cancel out.
//!
//! The same rule counts the words of a FIFO (a pop takes one, a push returns one) and the bursts
//! that a memory owes.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// The count's width is the shell's: enough for all credits.
#[derive(LogicBlock)]
pub struct CreditCounter<const COUNT: usize> {
    /// A credit is asked for.
    pub wants: Signal<In, Bit>,
    /// A credit comes back.
    pub returns: Signal<In, Bit>,
    /// Credits that are left.
    pub count_q: Signal<In, Bits<COUNT>>,
    /// Next `count_q`.
    pub count_d: Signal<Out, Bits<COUNT>>,
    /// A credit is taken: one was left.
    pub takes: Signal<Out, Bit>,
}

impl<const COUNT: usize> CreditCounter<COUNT> {
    /// Returns a counter; it has no constants.
    pub fn new() -> Self {
        CreditCounter {
            wants: Default::default(),
            returns: Default::default(),
            count_q: Default::default(),
            count_d: Default::default(),
            takes: Default::default(),
        }
    }
}

impl<const COUNT: usize> Default for CreditCounter<COUNT> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const COUNT: usize> Logic for CreditCounter<COUNT> {
    #[hdl_gen]
    fn update(&mut self) {
        self.takes.next = self.wants.val() & self.count_q.val().any();
        if self.takes.val() & !self.returns.val() {
            self.count_d.next = self.count_q.val() - 1;
        } else if self.returns.val() & !self.takes.val() {
            self.count_d.next = self.count_q.val() + 1;
        } else {
            self.count_d.next = self.count_q.val();
        }
    }
}

/// Takes a credit if one is left and returns what comes back. True if one is taken, and the new count.
#[inline]
pub fn rule(count: u32, wants: bool, returns: bool) -> (bool, u32) {
    let takes = wants && count > 0;
    (takes, count + u32::from(returns) - u32::from(takes))
}

/// Prints [`CreditCounter`].
pub fn credit_counter() -> Result<Kernel, PrintError> {
    Kernel::print(
        "credit_counter",
        "Takes a credit if one is left; one taken and one returned in a cycle cancel out.",
        &CreditCounter::<3>::new(),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::cells::credit_counter::*;

    const ALL: u32 = 6;

    #[test]
    fn a_credit_is_taken_while_one_is_left_and_the_count_follows() {
        let mut uut = CreditCounter::<3>::new();
        for case in 0..4 * (ALL + 1) {
            let (wants, returns, count) = (case & 1 != 0, case & 2 != 0, case >> 2);
            let (takes, next) = rule(count, wants, returns);
            // The other side returns only what it was lent.
            if returns && !takes && count == ALL {
                continue;
            }
            uut.wants.next = wants;
            uut.returns.next = returns;
            uut.count_q.next = u64::from(count).into();
            assert!(simulate(&mut uut, 4));
            assert_eq!(uut.takes.val(), takes, "count {count} wants {wants} returns {returns}");
            assert_eq!(uut.count_d.val(), u64::from(next), "count {count} wants {wants} returns {returns}");
        }
    }
}
