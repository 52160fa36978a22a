//! State machine of the swap unit: sums rows at the end of a step, and exchanges two homes at the end of an epoch.
//!
//! Invariant: controllers go on after every step, and homes move only while all of them wait.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// Registers and events that determine the next state.
#[derive(LogicBlock)]
pub struct SwapState {
    /// The last tile is at hand.
    pub ends: Signal<In, Bit>,
    /// All controllers wait, and all occupancies have come.
    pub all_there: Signal<In, Bit>,
    /// The step is the last of its epoch.
    pub epoch_ends: Signal<In, Bit>,
    /// The rows are known only in the next cycle.
    pub settles: Signal<In, Bit>,
    /// The homes exchange their places.
    pub swaps: Signal<In, Bit>,
    /// State.
    pub state_q: Signal<In, Bits<3>>,
    /// Next `state_q`.
    pub state_d: Signal<Out, Bits<3>>,
    reset: Constant<Bits<3>>,
    wait: Constant<Bits<3>>,
    row: Constant<Bits<3>>,
    home: Constant<Bits<3>>,
    decide: Constant<Bits<3>>,
    first: Constant<Bits<3>>,
    second: Constant<Bits<3>>,
    go: Constant<Bits<3>>,
}

impl SwapState {
    /// Returns a state machine whose states are numbered in their order.
    pub fn new() -> Self {
        let state = |number: u64| Constant::new(number.into());
        SwapState {
            ends: Default::default(),
            all_there: Default::default(),
            epoch_ends: Default::default(),
            settles: Default::default(),
            swaps: Default::default(),
            state_q: Default::default(),
            state_d: Default::default(),
            reset: state(0),
            wait: state(1),
            row: state(2),
            home: state(3),
            decide: state(4),
            first: state(5),
            second: state(6),
            go: state(7),
        }
    }
}

impl Default for SwapState {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for SwapState {
    #[hdl_gen]
    fn update(&mut self) {
        self.state_d.next = self.state_q.val();
        if self.state_q.val() == self.reset.val() {
            if self.ends.val() {
                self.state_d.next = self.wait.val();
            }
        } else if self.state_q.val() == self.wait.val() {
            if self.all_there.val() {
                self.state_d.next = self.row.val();
            }
        } else if self.state_q.val() == self.row.val() {
            if self.ends.val() {
                if self.epoch_ends.val() {
                    self.state_d.next = self.home.val();
                } else {
                    self.state_d.next = self.go.val();
                }
            }
        } else if self.state_q.val() == self.home.val() {
            if self.ends.val() & !self.settles.val() {
                self.state_d.next = self.decide.val();
            }
        } else if self.state_q.val() == self.decide.val() {
            if self.swaps.val() {
                self.state_d.next = self.first.val();
            } else {
                self.state_d.next = self.go.val();
            }
        } else if self.state_q.val() == self.first.val() {
            self.state_d.next = self.second.val();
        } else if self.state_q.val() == self.second.val() {
            self.state_d.next = self.go.val();
        } else {
            self.state_d.next = self.wait.val();
        }
    }
}

/// States of the unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// Homes get their first places.
    #[default]
    Reset,
    /// Controllers are at work.
    Wait,
    /// Rows are summed.
    Row,
    /// The heaviest home of the heaviest row is searched, and the lightest of the lightest.
    Home,
    /// The exchange is decided.
    Decide,
    /// The heavy home gets its place.
    First,
    /// The light home gets its place.
    Second,
    /// Controllers go on.
    Go,
}

impl State {
    /// All, in order of their numbers.
    pub const ALL: [State; 8] = [
        State::Reset,
        State::Wait,
        State::Row,
        State::Home,
        State::Decide,
        State::First,
        State::Second,
        State::Go,
    ];
}

/// Events of a cycle; the signals of [`SwapState`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Events {
    /// The last tile is at hand.
    pub ends: bool,
    /// All controllers wait, and all occupancies have come.
    pub all_there: bool,
    /// The step is the last of its epoch.
    pub epoch_ends: bool,
    /// The rows are known only in the next cycle.
    pub settles: bool,
    /// The homes exchange their places.
    pub swaps: bool,
}

/// Returns the next state.
#[inline]
pub fn rule(state: State, events: &Events) -> State {
    match state {
        State::Reset if events.ends => State::Wait,
        State::Wait if events.all_there => State::Row,
        State::Row if events.ends && events.epoch_ends => State::Home,
        State::Row if events.ends => State::Go,
        State::Home if events.ends && !events.settles => State::Decide,
        State::Decide if events.swaps => State::First,
        State::Decide | State::Second => State::Go,
        State::First => State::Second,
        State::Go => State::Wait,
        State::Reset | State::Wait | State::Row | State::Home => state,
    }
}

/// Prints [`SwapState`].
pub fn swap_state() -> Result<Kernel, PrintError> {
    Kernel::print(
        "swap_state",
        "Sums rows after a step, and exchanges two homes after an epoch.",
        &SwapState::new(),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::takv::swap_state::*;

    #[test]
    fn every_state_has_the_successor_that_the_rule_says() {
        let mut uut = SwapState::new();
        for (number, case) in (0..8_usize).flat_map(|state| (0..32_u32).map(move |case| (state, case))) {
            let inputs = std::array::from_fn(|i| case >> i & 1 != 0);
            [uut.ends.next, uut.all_there.next, uut.epoch_ends.next, uut.settles.next, uut.swaps.next] =
                inputs;
            uut.state_q.next = (number as u64).into();
            assert!(simulate(&mut uut, 4));

            let [ends, all_there, epoch_ends, settles, swaps] = inputs;
            let events = Events { ends, all_there, epoch_ends, settles, swaps };
            let next = rule(State::ALL[number], &events);
            assert_eq!(uut.state_d.val(), next as u64, "number {number} {events:?}");
        }
    }
}
