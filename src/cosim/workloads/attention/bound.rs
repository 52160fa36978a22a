//! The bound of a job's cycles.

use super::job::Job;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::memory::Behaviour;
use crate::cosim::workloads::decode::flits_of_step;
use crate::cosim::workloads::shared::bound::Pace;
use crate::cosim::workloads::Bound;

impl Job<'_> {
    /// The bound of its cycles with this memory. A root's output is refused in `stall` of 256 cycles.
    ///
    /// # Panics
    /// If the design cannot have the job, which its making has checked.
    pub fn bound(&self, behaviour: &Behaviour, stall: u8, clocks: Clocks) -> Bound {
        let descriptors = self.descriptors().expect("the job was checked");
        let flits = flits_of_step(self.design, &descriptors);
        Bound::of_descriptors(
            self.design,
            &descriptors,
            flits,
            behaviour,
            Pace { flit_cycles: 1, stall, clocks },
        )
    }
}
