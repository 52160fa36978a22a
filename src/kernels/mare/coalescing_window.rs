//! Window of a request: counts the cycles in which others may join, then those in which its tree is built.
//!
//! Invariant: one counter runs from TOTAL to zero; above TREE the window is open, at zero the
//! request has waited long enough. The last step out of the window waits until the request may
//! close: while its home is busy others may still join. A start is allowed only at zero.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// The counter's width is the shell's: enough for TOTAL.
#[derive(LogicBlock)]
pub struct CoalescingWindow<const COUNT: usize> {
    /// A request opens.
    pub start: Signal<In, Bit>,
    /// The window may end now.
    pub may_close: Signal<In, Bit>,
    /// Cycles left to wait.
    pub count_q: Signal<In, Bits<COUNT>>,
    /// Next `count_q`.
    pub count_d: Signal<Out, Bits<COUNT>>,
    /// Others may join.
    pub in_window: Signal<Out, Bit>,
    /// Nothing is left to wait for.
    pub waited: Signal<Out, Bit>,
    total: Constant<Bits<COUNT>>,
    closing: Constant<Bits<COUNT>>,
    tree: Constant<Bits<COUNT>>,
}

impl<const COUNT: usize> CoalescingWindow<COUNT> {
    /// A window of `window` cycles, then `tree` cycles for the tree.
    ///
    /// # Panics
    /// If their sum does not fit `COUNT` bits.
    pub fn new(window: u64, tree: u64) -> Self {
        CoalescingWindow {
            start: Default::default(),
            may_close: Default::default(),
            count_q: Default::default(),
            count_d: Default::default(),
            in_window: Default::default(),
            waited: Default::default(),
            total: Constant::new((window + tree).into()),
            closing: Constant::new((tree + 1).into()),
            tree: Constant::new(tree.into()),
        }
    }
}

impl<const COUNT: usize> Logic for CoalescingWindow<COUNT> {
    #[hdl_gen]
    fn update(&mut self) {
        self.in_window.next = self.count_q.val() > self.tree.val();
        self.waited.next = self.count_q.val() == 0;
        if self.start.val() {
            self.count_d.next = self.total.val();
        } else if (self.count_q.val() == 0)
            | ((self.count_q.val() == self.closing.val()) & !self.may_close.val())
        {
            self.count_d.next = self.count_q.val();
        } else {
            self.count_d.next = self.count_q.val() - 1;
        }
    }
}

/// Outcome of a period for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Others may join in this period.
    pub in_window: bool,
    /// Nothing is left to wait for.
    pub waited: bool,
    /// The count of the next period.
    pub next: u32,
}

/// Counts a period of a request down: `tree` cycles follow its window. `start` is the count of a request that opens.
#[inline]
pub fn rule(count: u32, tree: u32, start: Option<u32>, may_close: bool) -> Wait {
    let stays = count == 0 || count == tree + 1 && !may_close;
    let next = start.unwrap_or(count - u32::from(!stays));
    Wait { in_window: count > tree, waited: count == 0, next }
}

/// Prints [`CoalescingWindow`].
pub fn coalescing_window() -> Result<Kernel, PrintError> {
    Kernel::print(
        "coalescing_window",
        "Counts a request's window and the building of its tree down to zero.",
        &CoalescingWindow::<5>::new(12, 4),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::mare::coalescing_window::*;

    #[test]
    fn every_count_has_the_next_one_that_the_rule_says() {
        for (window, tree) in [(0, 0), (0, 3), (5, 0), (5, 3), (1, 1), (12, 4)] {
            let mut uut = CoalescingWindow::<5>::new(window, tree);
            for (count, case) in (0..=window + tree).flat_map(|count| (0..4).map(move |case| (count, case))) {
                let [start, may_close] = [case & 1 != 0, case & 2 != 0];
                uut.start.next = start;
                uut.may_close.next = may_close;
                uut.count_q.next = count.into();
                assert!(simulate(&mut uut, 4));
                let total = start.then_some((window + tree) as u32);
                let wait = rule(count as u32, tree as u32, total, may_close);
                let case = format!("window {window} tree {tree} count {count} case {case:02b}");
                assert_eq!([uut.in_window.val(), uut.waited.val()], [wait.in_window, wait.waited], "{case}");
                assert_eq!(uut.count_d.val(), u64::from(wait.next), "{case}");
            }
        }
    }

    #[test]
    fn a_request_can_be_joined_for_the_window_and_waits_for_the_tree_after_it() {
        for (window, tree) in [(0, 0), (0, 3), (5, 0), (5, 3), (1, 1)] {
            for held in [0, 1, 4] {
                let mut uut = CoalescingWindow::<5>::new(window, tree);
                let mut count = 0;
                // Without a window there is nothing to hold open.
                let open = if window == 0 { 0 } else { window + held };
                for cycle in 0..=open + tree + 1 {
                    uut.start.next = cycle == 0;
                    uut.may_close.next = cycle >= window + held;
                    uut.count_q.next = Bits::<5>::from(count);
                    assert!(simulate(&mut uut, 4));
                    let case = format!("window {window} tree {tree} held {held} cycle {cycle}");
                    assert_eq!(uut.in_window.val(), (1..=open).contains(&cycle), "{case}");
                    assert_eq!(uut.waited.val(), cycle == 0 || cycle > open + tree, "{case}");
                    count = u64::from(uut.count_d.val());
                }
            }
        }
    }
}
