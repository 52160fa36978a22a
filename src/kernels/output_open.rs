//! Open output: may an input that has won other outputs in this cycle still take this one?
//!
//! Invariant: all outputs that an input takes in one cycle send copies of the same flit. So an
//! input that has won nothing is open to any output, and one that has won is open only if this
//! output and all that it has won get copies.

use super::error::PrintError;
use super::kernel::Kernel;
use rust_hdl::prelude::*;

/// One input and one output; the number of outputs decided before is the shell's.
#[derive(LogicBlock)]
pub struct OutputOpen<const BEFORE: usize> {
    /// The input asks for this output.
    pub request: Signal<In, Bit>,
    /// It offers this output a copy.
    pub copy: Signal<In, Bit>,
    /// Outputs decided before that it has won.
    pub won: Signal<In, Bits<BEFORE>>,
    /// Those of them that it offers a copy.
    pub copies: Signal<In, Bits<BEFORE>>,
    /// The input may take the output.
    pub open: Signal<Out, Bit>,
}

impl<const BEFORE: usize> OutputOpen<BEFORE> {
    /// Returns a block; it has no constants.
    pub fn new() -> Self {
        OutputOpen {
            request: Default::default(),
            copy: Default::default(),
            won: Default::default(),
            copies: Default::default(),
            open: Default::default(),
        }
    }
}

impl<const BEFORE: usize> Default for OutputOpen<BEFORE> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const BEFORE: usize> Logic for OutputOpen<BEFORE> {
    #[hdl_gen]
    fn update(&mut self) {
        self.open.next = self.request.val()
            & (self.copy.val() | !self.won.val().any())
            & !(self.won.val() & !self.copies.val()).any();
    }
}

/// Prints [`OutputOpen`].
pub fn output_open() -> Result<Kernel, PrintError> {
    Kernel::print(
        "output_open",
        "Lets an input that has won other outputs take this one too if all get copies of one flit.",
        &OutputOpen::<3>::new(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_takes_several_outputs_only_with_copies_for_all_of_them() {
        let mut uut = OutputOpen::<3>::new();
        for case in 0..256_u64 {
            let (request, copy) = (case & 1 != 0, case & 2 != 0);
            let (won, copies) = (case >> 2 & 7, case >> 5);
            uut.request.next = request;
            uut.copy.next = copy;
            uut.won.next = won.into();
            uut.copies.next = copies.into();
            assert!(simulate(&mut uut, 4));

            let compatible = |output: u32| copy && copies >> output & 1 != 0;
            let open = request && (0..3).all(|output| won >> output & 1 == 0 || compatible(output));
            assert_eq!(
                uut.open.val(),
                open,
                "request {request} copy {copy} won {won:03b} copies {copies:03b}"
            );
        }
    }
}
