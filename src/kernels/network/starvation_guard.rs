//! Bounds how long a flit can be passed over: multicast under overload must not starve.
//!
//! Invariant: the count is how often others were served while the favoured VC waited, since its
//! turn began or was last over, saturated at LIMIT; at LIMIT nobody else may be served.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// The count's width is the shell's: enough for LIMIT itself.
#[derive(LogicBlock)]
pub struct StarvationGuard<const COUNT: usize> {
    /// Another VC is served in this cycle, the favoured one is not.
    pub passed: Signal<In, Bit>,
    /// The favoured VC is served, or nothing holds it back but itself.
    pub over: Signal<In, Bit>,
    /// Number of times that the favoured VC was passed over, at most LIMIT.
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
            passed: Default::default(),
            over: Default::default(),
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
        if self.over.val() {
            self.count_d.next = 0.into();
        } else if self.passed.val() & !self.exclusive.val() {
            self.count_d.next = self.count_q.val() + 1;
        } else {
            self.count_d.next = self.count_q.val();
        }
    }
}

/// Returns the count after a cycle, and whether the favoured VC is exclusive in it.
#[inline(always)]
pub fn rule(count: u8, limit: u8, passed: bool, over: bool) -> (u8, bool) {
    let exclusive = count == limit;
    // A mask instead of a choice: the model's loop has no branch here.
    ((count + u8::from(passed & !exclusive)) & u8::from(!over).wrapping_neg(), exclusive)
}

/// Prints [`StarvationGuard`].
pub fn starvation_guard() -> Result<Kernel, PrintError> {
    Kernel::print(
        "starvation_guard",
        "Counts how often the favoured VC is passed over, up to LIMIT, where it becomes exclusive.",
        &StarvationGuard::<4>::new(12),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::network::starvation_guard::*;

    #[test]
    fn passing_over_is_counted_up_to_the_limit_and_forgotten_when_the_turn_is_over() {
        for limit in 0..8_u8 {
            let mut uut = StarvationGuard::<3>::new(limit.into());
            for count in 0..=limit {
                for (passed, over) in [(false, false), (false, true), (true, false), (true, true)] {
                    uut.count_q.next = u64::from(count).into();
                    uut.passed.next = passed;
                    uut.over.next = over;
                    assert!(simulate(&mut uut, 4));

                    let (next, exclusive) = rule(count, limit, passed, over);
                    let case = format!("limit {limit} count {count} passed {passed} over {over}");
                    assert_eq!(uut.count_d.val(), u64::from(next), "{case}");
                    assert_eq!(uut.exclusive.val(), exclusive, "{case}");
                    assert!(next <= limit, "{case}");
                }
            }
        }
    }
}
