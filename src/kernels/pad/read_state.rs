//! State machine of results: reads those of one context after the other, beside the next slices.
//!
//! Invariant: results are read only after the sums of the slice before are written, and those of a context only
//! after all of the context before have come.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// Registers and events that determine the next state.
#[derive(LogicBlock)]
pub struct ReadState {
    /// A job begins that reads results.
    pub closes: Signal<In, Bit>,
    /// The last sums of the slice before are written.
    pub settled: Signal<In, Bit>,
    /// The tile has results that are due.
    pub some_due: Signal<In, Bit>,
    /// The last sums of a context are requested.
    pub read_all: Signal<In, Bit>,
    /// They have come.
    pub got_all: Signal<In, Bit>,
    /// Results of another context are due.
    pub some_left: Signal<In, Bit>,
    /// State.
    pub read_state_q: Signal<In, Bits<2>>,
    /// Next `read_state_q`.
    pub read_state_d: Signal<Out, Bits<2>>,
    none: Constant<Bits<2>>,
    settle: Constant<Bits<2>>,
    read: Constant<Bits<2>>,
    wait: Constant<Bits<2>>,
}

impl ReadState {
    /// Returns a state machine whose states are numbered in their order.
    pub fn new() -> Self {
        let state = |number: u64| Constant::new(number.into());
        ReadState {
            closes: Default::default(),
            settled: Default::default(),
            some_due: Default::default(),
            read_all: Default::default(),
            got_all: Default::default(),
            some_left: Default::default(),
            read_state_q: Default::default(),
            read_state_d: Default::default(),
            none: state(0),
            settle: state(1),
            read: state(2),
            wait: state(3),
        }
    }
}

impl Default for ReadState {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for ReadState {
    #[hdl_gen]
    fn update(&mut self) {
        self.read_state_d.next = self.read_state_q.val();
        if self.read_state_q.val() == self.none.val() {
            if self.closes.val() {
                self.read_state_d.next = self.settle.val();
            }
        } else if self.read_state_q.val() == self.settle.val() {
            if self.settled.val() {
                if self.some_due.val() {
                    self.read_state_d.next = self.read.val();
                } else {
                    self.read_state_d.next = self.none.val();
                }
            }
        } else if self.read_state_q.val() == self.read.val() {
            if self.read_all.val() {
                self.read_state_d.next = self.wait.val();
            }
        } else if self.got_all.val() {
            if self.some_left.val() {
                self.read_state_d.next = self.read.val();
            } else {
                self.read_state_d.next = self.none.val();
            }
        }
    }
}

/// States of reading results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// Nothing is read.
    #[default]
    None,
    /// The last sums of the slice before are being written.
    Settle,
    /// Sums of a context are read.
    Read,
    /// The last sums are in flight.
    Wait,
}

impl State {
    /// All, in order of their numbers.
    pub const ALL: [State; 4] = [State::None, State::Settle, State::Read, State::Wait];
}

/// Events of a cycle; the signals of [`ReadState`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Events {
    /// A job begins that reads results.
    pub closes: bool,
    /// The last sums of the slice before are written.
    pub settled: bool,
    /// The tile has results that are due.
    pub some_due: bool,
    /// The last sums of a context are requested.
    pub read_all: bool,
    /// They have come.
    pub got_all: bool,
    /// Results of another context are due.
    pub some_left: bool,
}

/// Returns the next state.
#[inline]
pub fn rule(state: State, events: &Events) -> State {
    let reads = |more: bool| if more { State::Read } else { State::None };
    match state {
        State::None if events.closes => State::Settle,
        State::Settle if events.settled => reads(events.some_due),
        State::Read if events.read_all => State::Wait,
        State::Wait if events.got_all => reads(events.some_left),
        _ => state,
    }
}

/// Prints [`ReadState`].
pub fn read_state() -> Result<Kernel, PrintError> {
    Kernel::print("read_state", "Reads the results of one context after the other.", &ReadState::new())
}

#[cfg(test)]
mod tests {
    use crate::kernels::pad::read_state::*;

    #[test]
    fn every_state_has_the_successor_that_the_rule_says() {
        let mut uut = ReadState::new();
        for (number, case) in (0..4_usize).flat_map(|state| (0..64_u32).map(move |case| (state, case))) {
            let inputs = std::array::from_fn(|i| case >> i & 1 != 0);
            [
                uut.closes.next,
                uut.settled.next,
                uut.some_due.next,
                uut.read_all.next,
                uut.got_all.next,
                uut.some_left.next,
            ] = inputs;
            uut.read_state_q.next = (number as u64).into();
            assert!(simulate(&mut uut, 4));

            let [closes, settled, some_due, read_all, got_all, some_left] = inputs;
            let events = Events { closes, settled, some_due, read_all, got_all, some_left };
            let next = rule(State::ALL[number], &events);
            assert_eq!(uut.read_state_d.val(), next as u64, "number {number} {events:?}");
        }
    }
}
