//! Control decisions of the fabric, written once as rust-hdl blocks and printed for Verilog shells.
//!
//! A kernel is purely combinational: from the registers (`_q`) and events of one cycle it decides
//! the next registers (`_d`) and the outputs. It says nothing about widths, clocks or reset. The
//! shell (a template of `emit`) declares the signals at whatever width its parameters give,
//! registers signals that end in `_d`, resets them, and puts [`Kernel::body`] inside its `always @(*)`.
//!
//! Beside each kernel is its `rule`: the same decision as a function on numbers, which the cycle model
//! calls. `cargo test` simulates the kernel against it. Yosys proves the printed text equal to
//! rust-hdl's own Verilog (`tests/kernels/equivalence.rs`).
//!
//! This module must not know the configuration or the design: a kernel is the same text for all.

pub mod cells;
pub mod device;
pub mod mare;
pub mod network;
pub mod pad;
mod printing;
pub mod reduce;
mod rules;
pub mod takv;

pub use cells::arbiter2::{arbiter2, Arbiter2};
pub use cells::arbiter4::{arbiter4, Arbiter4};
pub use cells::credit_counter::{credit_counter, CreditCounter};
pub use cells::credit_pointers::{credit_pointers, CreditPointers};
pub use cells::eager_fork::{eager_fork, EagerFork};
pub use device::access_state::{access_state, AccessState};
pub use device::descriptor_check::{descriptor_check, DescriptorCheck};
pub use device::run_failure::{run_failure, RunFailure};
pub use device::run_state::{run_state, RunState};
pub use mare::coalescing_window::{coalescing_window, CoalescingWindow};
pub use network::class_turn::{class_turn, ClassTurn};
pub use network::credit_claim::{credit_claim, CreditClaim};
pub use network::output_open::{output_open, OutputOpen};
pub use network::packet_lock::{packet_lock, PacketLock};
pub use network::starvation_guard::{starvation_guard, StarvationGuard};
pub use network::wrr_sides::{wrr_sides, WrrSides};
pub use network::wrr_straight::{wrr_straight, WrrStraight};
pub use pad::load_state::{load_state, LoadState};
pub use pad::read_state::{read_state, ReadState};
pub use printing::error::PrintError;
pub use printing::kernel::Kernel;
pub use printing::print::body;
pub use printing::symbols::{signals, Dir, Signal};
pub use reduce::root_phase::{root_phase, RootPhase};
pub use takv::descriptor_state::{descriptor_state, DescriptorState};
pub use takv::k_then_v::{k_then_v, scales_then_kv, KThenV, ScalesThenKv};
pub use takv::swap_decision::{swap_decision, SwapDecision};
pub use takv::swap_state::{swap_state, SwapState};

/// Every kernel, by name.
pub fn all() -> Result<Vec<Kernel>, PrintError> {
    Ok(vec![
        access_state()?,
        arbiter2()?,
        arbiter4()?,
        class_turn()?,
        coalescing_window()?,
        credit_claim()?,
        credit_counter()?,
        credit_pointers()?,
        descriptor_check()?,
        descriptor_state()?,
        eager_fork()?,
        k_then_v()?,
        load_state()?,
        output_open()?,
        packet_lock()?,
        read_state()?,
        root_phase()?,
        run_failure()?,
        run_state()?,
        scales_then_kv()?,
        starvation_guard()?,
        swap_decision()?,
        swap_state()?,
        wrr_sides()?,
        wrr_straight()?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn kernels_are_listed_once_each_in_order_of_name() {
        let names: Vec<_> = all().unwrap().iter().map(|k| k.name).collect();
        let sorted: Vec<_> = names.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        assert_eq!(names, sorted);
    }

    #[test]
    fn printed_text_does_not_depend_on_the_widths_of_the_block() {
        assert_eq!(body(&StarvationGuard::<2>::new(3)), body(&StarvationGuard::<8>::new(200)));
    }

    #[test]
    fn a_kernel_that_decides_registers_decides_all_that_it_reads() {
        // The arbiters decide none: their shells move the pointer when a grant is used.
        let decides = |kernel: &Kernel| kernel.outputs.iter().any(|name| name.ends_with("_d"));
        for kernel in all().unwrap().into_iter().filter(decides) {
            for state in kernel.inputs.iter().filter_map(|name| name.strip_suffix("_q")) {
                assert!(kernel.outputs.contains(&format!("{state}_d")), "{}: {state}", kernel.name);
            }
        }
    }
}
