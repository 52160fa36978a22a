//! Lock of an output VC by a packet: wormhole switching of VN0.
//!
//! Invariant: from the grant of a packet's first flit to the grant of its last one the VC is
//! locked, and a flit that is both locks nothing. The shell registers the input that holds it.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// The lock of one output VC.
#[derive(LogicBlock, Default)]
pub struct PacketLock {
    /// A packet has begun and not ended.
    pub locked_q: Signal<In, Bit>,
    /// A flit is granted this VC.
    pub grant: Signal<In, Bit>,
    /// That flit is the last of its packet.
    pub last: Signal<In, Bit>,
    /// Next `locked_q`.
    pub locked_d: Signal<Out, Bit>,
}

impl Logic for PacketLock {
    #[hdl_gen]
    fn update(&mut self) {
        if self.grant.val() {
            self.locked_d.next = !self.last.val();
        } else {
            self.locked_d.next = self.locked_q.val();
        }
    }
}

/// Returns whether the VC is locked after a cycle. `granted`: a flit is granted it, and whether it ends its packet.
#[inline(always)]
pub fn rule(locked: bool, granted: Option<bool>) -> bool {
    match granted {
        Some(last) => !last,
        None => locked,
    }
}

/// Prints [`PacketLock`].
pub fn packet_lock() -> Result<Kernel, PrintError> {
    Kernel::print(
        "packet_lock",
        "Holds an output VC from the first to the last flit of a packet.",
        &PacketLock::default(),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::network::packet_lock::*;

    #[test]
    fn only_a_granted_flit_moves_the_lock() {
        let mut uut = PacketLock::default();
        for case in 0..8_u32 {
            let [locked, grant, last] = [1, 2, 4].map(|bit| case & bit != 0);
            uut.locked_q.next = locked;
            uut.grant.next = grant;
            uut.last.next = last;
            assert!(simulate(&mut uut, 4));
            let next = rule(locked, grant.then_some(last));
            assert_eq!(uut.locked_d.val(), next, "locked {locked} grant {grant} last {last}");
        }
    }
}
