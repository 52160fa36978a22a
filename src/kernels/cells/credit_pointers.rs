//! Credits of one downstream VC: the slots of its buffer that are free and not yet promised.
//!
//! Invariant: a credit is available exactly while fewer slots are lent than the buffer has, as
//! long as the shell sends only while one is available and the neighbour returns one a slot freed.
//!
//! `available_d` is decided a cycle early, so that the allocator sees a register. The slots are
//! counted by the shell, whose pointers say whether a send would take the last one: `send` is
//! the last signal of the cycle to arrive and must pass no adder.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// Availability of a credit; the ring of slots is the shell's.
#[derive(LogicBlock, Default)]
pub struct CreditPointers {
    /// A credit is left.
    pub available_q: Signal<In, Bit>,
    /// A flit leaves; only while a credit is available.
    pub send: Signal<In, Bit>,
    /// The neighbour has freed a slot.
    pub credit: Signal<In, Bit>,
    /// All slots but one are lent.
    pub exhausted: Signal<In, Bit>,
    /// Next `available_q`.
    pub available_d: Signal<Out, Bit>,
}

impl Logic for CreditPointers {
    #[hdl_gen]
    fn update(&mut self) {
        if self.credit.val() {
            self.available_d.next = true;
        } else if self.send.val() {
            self.available_d.next = !self.exhausted.val();
        } else {
            self.available_d.next = self.available_q.val();
        }
    }
}

/// Returns the credits that are left after a cycle; one is available while there are any.
#[inline(always)]
pub fn rule(credits: u8, send: bool, credit: bool) -> u8 {
    // A model whose credits were taken away for a test must go on, so nothing is checked here.
    credits.wrapping_add(u8::from(credit)).wrapping_sub(u8::from(send))
}

/// Prints [`CreditPointers`].
pub fn credit_pointers() -> Result<Kernel, PrintError> {
    Kernel::print(
        "credit_pointers",
        "Whether a credit is left; a send and a credit in one cycle cancel out.",
        &CreditPointers::default(),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::cells::credit_pointers::*;

    const DEPTH: u8 = 6;

    #[test]
    fn a_credit_is_available_while_the_count_of_free_slots_is_positive() {
        let mut uut = CreditPointers::default();
        for credits in 0..=DEPTH {
            for (send, credit) in [(false, false), (false, true), (true, false), (true, true)] {
                // What the shell and the neighbour promise.
                if (send && credits == 0) || (credit && credits == DEPTH) {
                    continue;
                }
                uut.available_q.next = credits > 0;
                uut.exhausted.next = credits == 1;
                uut.send.next = send;
                uut.credit.next = credit;
                assert!(simulate(&mut uut, 4));

                let next = rule(credits, send, credit);
                assert_eq!(uut.available_d.val(), next > 0, "{credits} {send} {credit}");
            }
        }
    }
}
