//! Phases of a reduce root's next packet: prepared while the numbers of the present one are added.
//!
//! Invariant: a packet starts only after the state of its head has been read and compared.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// Registers and events that determine the next phase.
#[derive(LogicBlock)]
pub struct RootPhase {
    /// The last head is cleared.
    pub cleared: Signal<In, Bit>,
    /// A packet waits.
    pub header_valid: Signal<In, Bit>,
    /// The state of its head is read.
    pub looks: Signal<In, Bit>,
    /// The packet starts.
    pub start: Signal<In, Bit>,
    /// Phase.
    pub phase_q: Signal<In, Bits<3>>,
    /// Next `phase_q`.
    pub phase_d: Signal<Out, Bits<3>>,
    clear: Constant<Bits<3>>,
    wait: Constant<Bits<3>>,
    look: Constant<Bits<3>>,
    compare: Constant<Bits<3>>,
    prepare: Constant<Bits<3>>,
}

impl RootPhase {
    /// Returns phases that are numbered in their order.
    pub fn new() -> Self {
        let state = |number: u64| Constant::new(number.into());
        RootPhase {
            cleared: Default::default(),
            header_valid: Default::default(),
            looks: Default::default(),
            start: Default::default(),
            phase_q: Default::default(),
            phase_d: Default::default(),
            clear: state(0),
            wait: state(1),
            look: state(2),
            compare: state(3),
            prepare: state(4),
        }
    }
}

impl Default for RootPhase {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for RootPhase {
    #[hdl_gen]
    fn update(&mut self) {
        self.phase_d.next = self.phase_q.val();
        if self.phase_q.val() == self.clear.val() {
            if self.cleared.val() {
                self.phase_d.next = self.wait.val();
            }
        } else if self.phase_q.val() == self.wait.val() {
            if self.header_valid.val() {
                self.phase_d.next = self.look.val();
            }
        } else if self.phase_q.val() == self.look.val() {
            if self.looks.val() {
                self.phase_d.next = self.compare.val();
            }
        } else if self.phase_q.val() == self.compare.val() {
            self.phase_d.next = self.prepare.val();
        } else if self.start.val() {
            self.phase_d.next = self.wait.val();
        }
    }
}

/// Phases of the next packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Phase {
    /// Heads are cleared after reset.
    #[default]
    Clear,
    /// No packet.
    Wait,
    /// The state of its head is looked up.
    Look,
    /// Maxima are compared.
    Compare,
    /// The packet is ready to start.
    Prepare,
}

impl Phase {
    /// All, in order of their numbers.
    pub const ALL: [Phase; 5] = [Phase::Clear, Phase::Wait, Phase::Look, Phase::Compare, Phase::Prepare];
}

/// Events of a cycle; the signals of [`RootPhase`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Events {
    /// The last head is cleared.
    pub cleared: bool,
    /// A packet waits.
    pub header_valid: bool,
    /// The state of its head is read.
    pub looks: bool,
    /// The packet starts.
    pub start: bool,
}

/// Returns the next phase.
#[inline]
pub fn rule(phase: Phase, events: &Events) -> Phase {
    match phase {
        Phase::Clear if events.cleared => Phase::Wait,
        Phase::Wait if events.header_valid => Phase::Look,
        Phase::Look if events.looks => Phase::Compare,
        Phase::Compare => Phase::Prepare,
        Phase::Prepare if events.start => Phase::Wait,
        Phase::Clear | Phase::Wait | Phase::Look | Phase::Prepare => phase,
    }
}

/// Prints [`RootPhase`].
pub fn root_phase() -> Result<Kernel, PrintError> {
    Kernel::print("root_phase", "Prepares the next packet while the present one is added.", &RootPhase::new())
}

#[cfg(test)]
mod tests {
    use crate::kernels::reduce::root_phase::*;

    #[test]
    fn every_phase_has_the_successor_that_the_rule_says() {
        let mut uut = RootPhase::new();
        for (number, case) in (0..8_usize).flat_map(|state| (0..16_u32).map(move |case| (state, case))) {
            let inputs = std::array::from_fn(|i| case >> i & 1 != 0);
            [uut.cleared.next, uut.header_valid.next, uut.looks.next, uut.start.next] = inputs;
            uut.phase_q.next = (number as u64).into();
            assert!(simulate(&mut uut, 4));

            let [cleared, header_valid, looks, start] = inputs;
            let events = Events { cleared, header_valid, looks, start };
            // An unused number waits as PREPARE does.
            let next = match Phase::ALL.get(number) {
                Some(&phase) => rule(phase, &events) as u64,
                None if start => Phase::Wait as u64,
                None => number as u64,
            };
            assert_eq!(uut.phase_d.val(), next, "number {number} {events:?}");
        }
    }
}
