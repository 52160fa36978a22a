//! State machine of the host's accesses to the control registers: one at a time, write or read.
//!
//! Invariant: every access ends with its response, and a write of a descriptor only after that is checked.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// Registers and events that determine the next state.
#[derive(LogicBlock)]
pub struct AccessState {
    /// A write is chosen.
    pub to_write: Signal<In, Bit>,
    /// A read waits, and may begin if no write is chosen.
    pub to_read: Signal<In, Bit>,
    /// The write pushes a descriptor.
    pub push: Signal<In, Bit>,
    /// The descriptor has been checked.
    pub checked: Signal<In, Bit>,
    /// The word is read in this cycle.
    pub looks: Signal<In, Bit>,
    /// State.
    pub state_q: Signal<In, Bits<3>>,
    /// Next `state_q`.
    pub state_d: Signal<Out, Bits<3>>,
    idle: Constant<Bits<3>>,
    write: Constant<Bits<3>>,
    check: Constant<Bits<3>>,
    answer: Constant<Bits<3>>,
    look: Constant<Bits<3>>,
    give: Constant<Bits<3>>,
}

impl AccessState {
    /// Returns a state machine whose states are numbered in their order.
    pub fn new() -> Self {
        let state = |number: u64| Constant::new(number.into());
        AccessState {
            to_write: Default::default(),
            to_read: Default::default(),
            push: Default::default(),
            checked: Default::default(),
            looks: Default::default(),
            state_q: Default::default(),
            state_d: Default::default(),
            idle: state(0),
            write: state(1),
            check: state(2),
            answer: state(3),
            look: state(4),
            give: state(5),
        }
    }
}

impl Default for AccessState {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for AccessState {
    #[hdl_gen]
    fn update(&mut self) {
        // ANSWER, GIVE and unused numbers go back to IDLE.
        self.state_d.next = self.idle.val();
        if self.state_q.val() == self.idle.val() {
            if self.to_write.val() {
                self.state_d.next = self.write.val();
            } else if self.to_read.val() {
                self.state_d.next = self.look.val();
            }
        } else if self.state_q.val() == self.write.val() {
            if self.push.val() {
                self.state_d.next = self.check.val();
            } else {
                self.state_d.next = self.answer.val();
            }
        } else if self.state_q.val() == self.check.val() {
            if self.checked.val() {
                self.state_d.next = self.answer.val();
            } else {
                self.state_d.next = self.check.val();
            }
        } else if self.state_q.val() == self.look.val() {
            if self.looks.val() {
                self.state_d.next = self.give.val();
            } else {
                self.state_d.next = self.look.val();
            }
        }
    }
}

/// States of an access.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// No access.
    #[default]
    Idle,
    /// The word is written.
    Write,
    /// The descriptor is checked.
    Check,
    /// The write is answered.
    Answer,
    /// The word is looked up.
    Look,
    /// The word is returned.
    Give,
}

impl State {
    /// All, in order of their numbers.
    pub const ALL: [State; 6] =
        [State::Idle, State::Write, State::Check, State::Answer, State::Look, State::Give];
}

/// Events of a cycle; the signals of [`AccessState`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Events {
    /// A write is chosen.
    pub to_write: bool,
    /// A read waits, and may begin if no write is chosen.
    pub to_read: bool,
    /// The write pushes a descriptor.
    pub push: bool,
    /// The descriptor has been checked.
    pub checked: bool,
    /// The word is read in this cycle.
    pub looks: bool,
}

/// Returns the next state.
pub fn rule(state: State, events: &Events) -> State {
    match state {
        State::Idle if events.to_write => State::Write,
        State::Idle if events.to_read => State::Look,
        State::Write if events.push => State::Check,
        State::Write => State::Answer,
        State::Check if events.checked => State::Answer,
        State::Look if events.looks => State::Give,
        State::Idle | State::Check | State::Look => state,
        State::Answer | State::Give => State::Idle,
    }
}

/// Prints [`AccessState`].
pub fn access_state() -> Result<Kernel, PrintError> {
    Kernel::print("access_state", "Serves one access of the host after the other.", &AccessState::new())
}

#[cfg(test)]
mod tests {
    use crate::kernels::device::access_state::*;

    #[test]
    fn every_state_has_the_successor_that_the_rule_says() {
        let mut uut = AccessState::new();
        for (number, case) in (0..8_usize).flat_map(|state| (0..32_u32).map(move |case| (state, case))) {
            let inputs = std::array::from_fn(|i| case >> i & 1 != 0);
            [uut.to_write.next, uut.to_read.next, uut.push.next, uut.checked.next, uut.looks.next] = inputs;
            uut.state_q.next = (number as u64).into();
            assert!(simulate(&mut uut, 4));

            let [to_write, to_read, push, checked, looks] = inputs;
            let events = Events { to_write, to_read, push, checked, looks };
            let next = State::ALL.get(number).map_or(State::Idle, |&state| rule(state, &events));
            assert_eq!(uut.state_d.val(), next as u64, "number {number} {events:?}");
        }
    }
}
