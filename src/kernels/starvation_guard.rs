//! Bounds how long a flit can be passed over: multicast under overload must not starve.
//!
//! Invariant: the count is the length of the current run of cycles in which the favoured VC waited
//! and was not served, saturated at LIMIT; from LIMIT on nobody else may be served.

use super::{Kernel, PrintError};
use rust_hdl::prelude::*;

/// The count's width is the shell's: enough for LIMIT itself.
#[derive(LogicBlock)]
pub struct StarvationGuard<const COUNT: usize> {
    /// The favoured VC has a flit.
    pub waiting: Signal<In, Bit>,
    /// It is served in this cycle.
    pub served: Signal<In, Bit>,
    /// Cycles it has waited, at most LIMIT.
    pub count_q: Signal<In, Bits<COUNT>>,
    /// Next `count_q`.
    pub count_d: Signal<Out, Bits<COUNT>>,
    /// It has waited too long: all others stand back.
    pub exclusive: Signal<Out, Bit>,
    limit: Constant<Bits<COUNT>>,
}

impl<const COUNT: usize> StarvationGuard<COUNT> {
    /// A guard that steps in after `limit` cycles.
    ///
    /// # Panics
    /// If `limit` does not fit `COUNT` bits.
    pub fn new(limit: u64) -> Self {
        StarvationGuard {
            waiting: Default::default(),
            served: Default::default(),
            count_q: Default::default(),
            count_d: Default::default(),
            exclusive: Default::default(),
            limit: Constant::new(limit.into()),
        }
    }
}

impl<const COUNT: usize> Logic for StarvationGuard<COUNT> {
    #[hdl_gen]
    fn update(&mut self) {
        self.exclusive.next = self.count_q.val() == self.limit.val();
        if self.served.val() | !self.waiting.val() {
            self.count_d.next = 0.into();
        } else if self.exclusive.val() {
            self.count_d.next = self.count_q.val();
        } else {
            self.count_d.next = self.count_q.val() + 1;
        }
    }
}

/// Prints [`StarvationGuard`].
pub fn starvation_guard() -> Result<Kernel, PrintError> {
    Kernel::print(
        "starvation_guard",
        "Counts cycles without service up to LIMIT, where the favoured VC becomes exclusive.",
        &StarvationGuard::<4>::new(12),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_counted_up_to_the_limit_and_forgotten_when_served() {
        for limit in 0..8_u64 {
            let mut uut = StarvationGuard::<3>::new(limit);
            for count in 0..=limit {
                for (waiting, served) in [(false, false), (false, true), (true, false), (true, true)] {
                    uut.count_q.next = count.into();
                    uut.waiting.next = waiting;
                    uut.served.next = served;
                    assert!(simulate(&mut uut, 4));

                    let next = if waiting && !served { limit.min(count + 1) } else { 0 };
                    let case = format!("limit {limit} count {count} waiting {waiting} served {served}");
                    assert_eq!(uut.count_d.val(), next, "{case}");
                    assert_eq!(uut.exclusive.val(), count >= limit, "{case}");
                }
            }
        }
    }
}
