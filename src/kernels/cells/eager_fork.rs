//! Eager fork: sends a word two ways, each as soon as that way can take it.
//!
//! Invariant: a word goes each way that it needs exactly once, and it is done when it has gone
//! all of them. Ways already taken are noted until then.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// One word, a near way and a far way. The shell offers a way only what has not gone there yet.
#[derive(LogicBlock, Default)]
pub struct EagerFork {
    /// There is a word.
    pub forks: Signal<In, Bit>,
    /// It goes the near way.
    pub near: Signal<In, Bit>,
    /// It goes the far way.
    pub far: Signal<In, Bit>,
    /// The near way takes it in this cycle.
    pub near_goes: Signal<In, Bit>,
    /// The far way takes it in this cycle.
    pub far_goes: Signal<In, Bit>,
    /// The near way has taken it.
    pub near_q: Signal<In, Bit>,
    /// The far way has taken it.
    pub far_q: Signal<In, Bit>,
    /// All ways that it needs have taken it, or do so in this cycle.
    pub forked: Signal<Out, Bit>,
    /// Next `near_q`.
    pub near_d: Signal<Out, Bit>,
    /// Next `far_q`.
    pub far_d: Signal<Out, Bit>,
}

impl Logic for EagerFork {
    #[hdl_gen]
    fn update(&mut self) {
        self.forked.next = (!self.near.val() | self.near_q.val() | self.near_goes.val())
            & (!self.far.val() | self.far_q.val() | self.far_goes.val());
        self.near_d.next = self.forks.val() & !self.forked.val() & (self.near_q.val() | self.near_goes.val());
        self.far_d.next = self.forks.val() & !self.forked.val() & (self.far_q.val() | self.far_goes.val());
    }
}

/// Sends a word two ways. Of the ways that it needs it has gone some and goes some in this cycle. True if it is done,
/// and the ways that it has gone then.
#[inline]
pub fn rule(needs: [bool; 2], gone: [bool; 2], goes: [bool; 2]) -> (bool, [bool; 2]) {
    let taken = [gone[0] || goes[0], gone[1] || goes[1]];
    let forked = (!needs[0] || taken[0]) && (!needs[1] || taken[1]);
    (forked, [!forked && taken[0], !forked && taken[1]])
}

/// Prints [`EagerFork`].
pub fn eager_fork() -> Result<Kernel, PrintError> {
    Kernel::print(
        "eager_fork",
        "Sends a word two ways, each as soon as it can; done when both have it.",
        &EagerFork::default(),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::cells::eager_fork::*;

    #[test]
    fn a_word_is_done_when_every_way_that_it_needs_has_taken_it() {
        let mut uut = EagerFork::default();
        for case in 0..128_u32 {
            let [forks, near, far, near_goes, far_goes, near_q, far_q] =
                [0, 1, 2, 3, 4, 5, 6].map(|i| case >> i & 1 != 0);
            uut.forks.next = forks;
            uut.near.next = near;
            uut.far.next = far;
            uut.near_goes.next = near_goes;
            uut.far_goes.next = far_goes;
            uut.near_q.next = near_q;
            uut.far_q.next = far_q;
            assert!(simulate(&mut uut, 4));

            let (forked, gone) = rule([near, far], [near_q, far_q], [near_goes, far_goes]);
            // Without a word nothing is noted.
            let noted = gone.map(|gone| gone && forks);
            assert_eq!(uut.forked.val(), forked, "case {case:07b}");
            assert_eq!([uut.near_d.val(), uut.far_d.val()], noted, "case {case:07b}");
        }
    }

    #[test]
    fn a_word_goes_each_way_once_in_any_order_of_the_ways() {
        let mut uut = EagerFork::default();
        // The cycle in which each way can take the word.
        for (near_at, far_at) in (0..4).flat_map(|near| (0..4).map(move |far| (near, far))) {
            let (mut near_q, mut far_q, mut went) = (false, false, [0, 0]);
            let mut cycle = 0;
            loop {
                let goes = [!near_q && cycle >= near_at, !far_q && cycle >= far_at];
                uut.forks.next = true;
                uut.near.next = true;
                uut.far.next = true;
                uut.near_goes.next = goes[0];
                uut.far_goes.next = goes[1];
                uut.near_q.next = near_q;
                uut.far_q.next = far_q;
                assert!(simulate(&mut uut, 4));
                went = [went[0] + u32::from(goes[0]), went[1] + u32::from(goes[1])];
                (near_q, far_q) = (uut.near_d.val(), uut.far_d.val());
                if uut.forked.val() {
                    break;
                }
                cycle += 1;
            }
            assert_eq!((went, cycle, near_q, far_q), ([1, 1], near_at.max(far_at), false, false));
        }
    }
}
