//! Round robin over four requests, one LUT6 a grant.
//!
//! Invariant: one grant if anybody asks, none otherwise; the winner is the first request from the
//! pointer on, upwards and around. The shell moves the pointer past the winner, so that nobody
//! waits for more than three grants of others.
//!
//! The pointer is two single bits and there is no arithmetic: each grant is a function of six
//! bits, which is exactly one LUT of the device.

use crate::kernels::cells::round_robin::first;
use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// Four requests, a pointer of two bits.
#[derive(LogicBlock, Default)]
pub struct Arbiter4 {
    /// Input 0 asks.
    pub r0: Signal<In, Bit>,
    /// Input 1 asks.
    pub r1: Signal<In, Bit>,
    /// Input 2 asks.
    pub r2: Signal<In, Bit>,
    /// Input 3 asks.
    pub r3: Signal<In, Bit>,
    /// Upper bit of the input that comes first.
    pub ptr1_q: Signal<In, Bit>,
    /// Lower bit of the input that comes first.
    pub ptr0_q: Signal<In, Bit>,
    /// Input 0 is granted.
    pub g0: Signal<Out, Bit>,
    /// Input 1 is granted.
    pub g1: Signal<Out, Bit>,
    /// Input 2 is granted.
    pub g2: Signal<Out, Bit>,
    /// Input 3 is granted.
    pub g3: Signal<Out, Bit>,
}

impl Logic for Arbiter4 {
    // An input wins if it is preferred, or if the input before it does not ask and is preferred, or
    // does not ask and the one before that does not, and so around.
    #[hdl_gen]
    fn update(&mut self) {
        self.g0.next = self.r0.val()
            & ((!self.ptr1_q.val() & !self.ptr0_q.val())
                | (!self.r3.val()
                    & ((self.ptr1_q.val() & self.ptr0_q.val())
                        | (!self.r2.val() & ((self.ptr1_q.val() & !self.ptr0_q.val()) | !self.r1.val())))));
        self.g1.next = self.r1.val()
            & ((!self.ptr1_q.val() & self.ptr0_q.val())
                | (!self.r0.val()
                    & ((!self.ptr1_q.val() & !self.ptr0_q.val())
                        | (!self.r3.val() & ((self.ptr1_q.val() & self.ptr0_q.val()) | !self.r2.val())))));
        self.g2.next = self.r2.val()
            & ((self.ptr1_q.val() & !self.ptr0_q.val())
                | (!self.r1.val()
                    & ((!self.ptr1_q.val() & self.ptr0_q.val())
                        | (!self.r0.val() & ((!self.ptr1_q.val() & !self.ptr0_q.val()) | !self.r3.val())))));
        self.g3.next = self.r3.val()
            & ((self.ptr1_q.val() & self.ptr0_q.val())
                | (!self.r2.val()
                    & ((self.ptr1_q.val() & !self.ptr0_q.val())
                        | (!self.r1.val() & ((!self.ptr1_q.val() & self.ptr0_q.val()) | !self.r0.val())))));
    }
}

/// Returns the request that is granted, of four bits of which at least one is set.
#[inline]
pub fn rule(requests: u8, ptr: u8) -> u8 {
    first::<4>(requests, ptr)
}

/// Prints [`Arbiter4`].
pub fn arbiter4() -> Result<Kernel, PrintError> {
    Kernel::print(
        "arbiter4",
        "Round robin over four requests from {ptr1_q, ptr0_q} on; one LUT6 a grant.",
        &Arbiter4::default(),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::cells::arbiter4::*;

    #[test]
    fn the_first_request_from_the_pointer_on_is_granted() {
        let mut uut = Arbiter4::default();
        for case in 0..64_u8 {
            let (requests, ptr) = (case & 15, case >> 4);
            uut.r0.next = requests & 1 != 0;
            uut.r1.next = requests & 2 != 0;
            uut.r2.next = requests & 4 != 0;
            uut.r3.next = requests & 8 != 0;
            uut.ptr0_q.next = ptr & 1 != 0;
            uut.ptr1_q.next = ptr & 2 != 0;
            assert!(simulate(&mut uut, 4));

            let winner = (requests != 0).then(|| rule(requests, ptr));
            let grants = [uut.g0.val(), uut.g1.val(), uut.g2.val(), uut.g3.val()];
            assert_eq!(grants, [0, 1, 2, 3].map(|i| winner == Some(i)), "case {case}");
        }
    }
}
