//! Round robin over two requests.
//!
//! Invariant: one grant if anybody asks, none otherwise; the preferred input wins a tie. The shell
//! moves the pointer past the winner, so that nobody waits for more than one grant of the other.

use crate::kernels::cells::round_robin::first;
use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// Two requests, one pointer bit.
#[derive(LogicBlock, Default)]
pub struct Arbiter2 {
    /// Input 0 asks.
    pub r0: Signal<In, Bit>,
    /// Input 1 asks.
    pub r1: Signal<In, Bit>,
    /// The input that wins a tie.
    pub ptr_q: Signal<In, Bit>,
    /// Input 0 is granted.
    pub g0: Signal<Out, Bit>,
    /// Input 1 is granted.
    pub g1: Signal<Out, Bit>,
}

impl Logic for Arbiter2 {
    #[hdl_gen]
    fn update(&mut self) {
        self.g0.next = self.r0.val() & (!self.ptr_q.val() | !self.r1.val());
        self.g1.next = self.r1.val() & (self.ptr_q.val() | !self.r0.val());
    }
}

/// Returns the request that is granted, of two bits of which at least one is set.
#[inline]
pub fn rule(requests: u8, ptr: u8) -> u8 {
    first::<2>(requests, ptr)
}

/// Prints [`Arbiter2`].
pub fn arbiter2() -> Result<Kernel, PrintError> {
    Kernel::print("arbiter2", "Round robin over two requests; ptr_q wins a tie.", &Arbiter2::default())
}

#[cfg(test)]
mod tests {
    use crate::kernels::cells::arbiter2::*;

    #[test]
    fn the_first_request_from_the_pointer_on_is_granted() {
        let mut uut = Arbiter2::default();
        for case in 0..8_u8 {
            let (requests, ptr) = (case & 3, case >> 2);
            uut.r0.next = requests & 1 != 0;
            uut.r1.next = requests & 2 != 0;
            uut.ptr_q.next = ptr != 0;
            assert!(simulate(&mut uut, 4));

            let winner = (requests != 0).then(|| rule(requests, ptr));
            assert_eq!([uut.g0.val(), uut.g1.val()], [0, 1].map(|i| winner == Some(i)), "case {case}");
        }
    }
}
