//! Open output: may an input that has won other outputs in this cycle still take this one?
//!
//! Invariant: all outputs that an input takes in one cycle send copies of the same flit. So an
//! input that has won nothing is open to any output. One that has won with a copy of KV_DATA is
//! open only to further copies, and one that has won with another flit is closed.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// One input, its wins at the outputs decided before.
#[derive(LogicBlock, Default)]
pub struct OutputOpen {
    /// It has won an output with a flit that has one destination.
    pub won_single: Signal<In, Bit>,
    /// It has won an output with a copy of KV_DATA.
    pub won_copy: Signal<In, Bit>,
    /// Flits with one destination may still take an output.
    pub open_single: Signal<Out, Bit>,
    /// A copy of KV_DATA may still take an output.
    pub open_copy: Signal<Out, Bit>,
}

impl Logic for OutputOpen {
    #[hdl_gen]
    fn update(&mut self) {
        self.open_single.next = !(self.won_single.val() | self.won_copy.val());
        self.open_copy.next = !self.won_single.val();
    }
}

/// Returns the inputs that are open to flits with one destination, and those that are open to copies of KV_DATA. Every
/// bit of the words is an input.
#[inline(always)]
pub fn rule(won_single: u64, won_copy: u64) -> [u64; 2] {
    [!(won_single | won_copy), !won_single]
}

/// Prints [`OutputOpen`].
pub fn output_open() -> Result<Kernel, PrintError> {
    Kernel::print(
        "output_open",
        "Lets an input that has won an output take another one only with a copy of the same flit.",
        &OutputOpen::default(),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::network::output_open::*;

    #[test]
    fn an_input_takes_several_outputs_only_with_copies_of_one_flit() {
        let mut uut = OutputOpen::default();
        for (single, copy) in [(false, false), (false, true), (true, false), (true, true)] {
            uut.won_single.next = single;
            uut.won_copy.next = copy;
            assert!(simulate(&mut uut, 4));
            let open = [uut.open_single.val(), uut.open_copy.val()];
            // The same in every bit of a word.
            let word = |bit: bool| u64::from(bit).wrapping_neg();
            assert_eq!(rule(word(single), word(copy)), open.map(word), "single {single} copy {copy}");
        }
    }
}
