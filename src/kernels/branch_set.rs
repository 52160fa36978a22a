//! Asynchronous replication of the head flit of one VC: which outputs are still owed a copy.
//!
//! A multicast flit leaves by each branch as that output becomes free and is released when the
//! last branch has left, so that it never holds one output while it waits for another.
//!
//! Invariant: an output is granted a copy once; `last_copy` is raised in the cycle of the last copy
//! and never while nothing is owed. A grant for an output that is not owed is ignored.

use super::{Kernel, PrintError};
use rust_hdl::prelude::*;

/// One bit an output in every vector.
#[derive(LogicBlock, Default)]
pub struct BranchSet<const OUTPUTS: usize> {
    /// Outputs still owed a copy.
    pub owed_q: Signal<In, Bits<OUTPUTS>>,
    /// Outputs that take a copy in this cycle.
    pub granted: Signal<In, Bits<OUTPUTS>>,
    /// Outputs owed after this cycle.
    pub owed_d: Signal<Out, Bits<OUTPUTS>>,
    /// The last owed copies leave now: the head can be popped.
    pub last_copy: Signal<Out, Bit>,
}

impl<const OUTPUTS: usize> Logic for BranchSet<OUTPUTS> {
    #[hdl_gen]
    fn update(&mut self) {
        self.owed_d.next = self.owed_q.val() & !self.granted.val();
        self.last_copy.next = self.owed_q.val().any() & !(self.owed_q.val() & !self.granted.val()).any();
    }
}

/// Prints [`BranchSet`].
pub fn branch_set() -> Result<Kernel, PrintError> {
    Kernel::print(
        "branch_set",
        "Outputs that the head flit still owes a copy; last_copy when none stays owed.",
        &BranchSet::<4>::default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn set(bits: u64) -> BTreeSet<u64> {
        (0..4).filter(|i| bits >> i & 1 != 0).collect()
    }

    #[test]
    fn each_owed_output_is_crossed_off_once_and_the_last_one_says_done() {
        let mut uut = BranchSet::<4>::default();
        for case in 0..1 << 8_u64 {
            let (pending, granted) = (case & 15, case >> 4 & 15);
            uut.owed_q.next = pending.into();
            uut.granted.next = granted.into();
            assert!(simulate(&mut uut, 4));

            let owed: BTreeSet<_> = set(pending).difference(&set(granted)).copied().collect();
            assert_eq!(set(uut.owed_d.val().into()), owed, "case {case}");
            assert_eq!(uut.last_copy.val(), pending != 0 && owed.is_empty(), "case {case}");
        }
    }
}
