//! State machine of the weight loader: loads the weights of one block after the other.
//!
//! Invariant: the contexts of a block start only once its logits are present and a buffer is free, and the next block
//! waits until the weights of the last context have arrived. A slice that begins comes before everything else.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// Registers and events that determine the next state.
#[derive(LogicBlock)]
pub struct LoadState {
    /// A slice begins.
    pub starts: Signal<In, Bit>,
    /// Logits and a buffer are there for the block.
    pub begins: Signal<In, Bit>,
    /// A context starts.
    pub loads: Signal<In, Bit>,
    /// It is the last one.
    pub last: Signal<In, Bit>,
    /// The weights of the last context have arrived.
    pub over: Signal<In, Bit>,
    /// The block is the last of its slice.
    pub ends: Signal<In, Bit>,
    /// State.
    pub state_q: Signal<In, Bits<2>>,
    /// Next `state_q`.
    pub state_d: Signal<Out, Bits<2>>,
    idle: Constant<Bits<2>>,
    wait: Constant<Bits<2>>,
    load: Constant<Bits<2>>,
    rest: Constant<Bits<2>>,
}

impl LoadState {
    /// Returns a state machine whose states are numbered in their order.
    pub fn new() -> Self {
        let state = |number: u64| Constant::new(number.into());
        LoadState {
            starts: Default::default(),
            begins: Default::default(),
            loads: Default::default(),
            last: Default::default(),
            over: Default::default(),
            ends: Default::default(),
            state_q: Default::default(),
            state_d: Default::default(),
            idle: state(0),
            wait: state(1),
            load: state(2),
            rest: state(3),
        }
    }
}

impl Default for LoadState {
    fn default() -> Self {
        Self::new()
    }
}

// A state has one branch, and its events are decided within.
#[allow(clippy::collapsible_if)]
impl Logic for LoadState {
    #[hdl_gen]
    fn update(&mut self) {
        self.state_d.next = self.state_q.val();
        if self.starts.val() {
            self.state_d.next = self.wait.val();
        } else if self.state_q.val() == self.wait.val() {
            if self.begins.val() {
                self.state_d.next = self.load.val();
            }
        } else if self.state_q.val() == self.load.val() {
            if self.loads.val() & self.last.val() {
                self.state_d.next = self.rest.val();
            }
        } else if self.state_q.val() == self.rest.val() {
            if self.over.val() {
                if self.ends.val() {
                    self.state_d.next = self.idle.val();
                } else {
                    self.state_d.next = self.wait.val();
                }
            }
        }
    }
}

/// States of the loader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// No block is left.
    #[default]
    Idle,
    /// Logits or a buffer are missing.
    Wait,
    /// Contexts start.
    Load,
    /// The weights of the last context are in flight.
    Rest,
}

impl State {
    /// All, in order of their numbers.
    pub const ALL: [State; 4] = [State::Idle, State::Wait, State::Load, State::Rest];
}

/// Events of a cycle; the signals of [`LoadState`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Events {
    /// A slice begins.
    pub starts: bool,
    /// Logits and a buffer are there for the block.
    pub begins: bool,
    /// A context starts.
    pub loads: bool,
    /// It is the last one.
    pub last: bool,
    /// The weights of the last context have arrived.
    pub over: bool,
    /// The block is the last of its slice.
    pub ends: bool,
}

/// Returns the next state.
#[inline]
pub fn rule(state: State, events: &Events) -> State {
    match state {
        _ if events.starts => State::Wait,
        State::Wait if events.begins => State::Load,
        State::Load if events.loads && events.last => State::Rest,
        State::Rest if events.over && events.ends => State::Idle,
        State::Rest if events.over => State::Wait,
        _ => state,
    }
}

/// Prints [`LoadState`].
pub fn load_state() -> Result<Kernel, PrintError> {
    Kernel::print("load_state", "Loads the weights of one block after the other.", &LoadState::new())
}

#[cfg(test)]
mod tests {
    use crate::kernels::pad::load_state::*;

    #[test]
    fn every_state_has_the_successor_that_the_rule_says() {
        let mut uut = LoadState::new();
        for (number, case) in (0..4_usize).flat_map(|state| (0..64_u32).map(move |case| (state, case))) {
            let inputs = std::array::from_fn(|i| case >> i & 1 != 0);
            [uut.starts.next, uut.begins.next, uut.loads.next, uut.last.next, uut.over.next, uut.ends.next] =
                inputs;
            uut.state_q.next = (number as u64).into();
            assert!(simulate(&mut uut, 4));

            let [starts, begins, loads, last, over, ends] = inputs;
            let events = Events { starts, begins, loads, last, over, ends };
            let next = rule(State::ALL[number], &events);
            assert_eq!(uut.state_d.val(), next as u64, "number {number} {events:?}");
        }
    }
}
