//! State machine of a column controller: takes a descriptor through its rounds to the end of its step.
//!
//! Invariant: a descriptor ends in IDLE after the pipeline has run empty, after its streams are closed and its step has
//! ended, as far as the descriptor does either. AFTER_SAMPLE is BARRIER where homes swap, and IDLE elsewhere.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// Registers and events that determine the next state.
#[derive(LogicBlock)]
pub struct DescriptorState {
    /// A descriptor begins.
    pub start: Signal<In, Bit>,
    /// The row of the last stream is found.
    pub found: Signal<In, Bit>,
    /// The last slice enters the pipeline, or the last of a round that is closed before the next begins.
    pub issued: Signal<In, Bit>,
    /// The pipeline is empty.
    pub over: Signal<In, Bit>,
    /// The pipeline advances.
    pub advance: Signal<In, Bit>,
    /// The descriptor closes its streams.
    pub closes: Signal<In, Bit>,
    /// No round is left.
    pub ends_all: Signal<In, Bit>,
    /// A step ends with the descriptor.
    pub ends_step: Signal<In, Bit>,
    /// Homes are at their places.
    pub go: Signal<In, Bit>,
    /// State.
    pub state_q: Signal<In, Bits<3>>,
    /// Next `state_q`.
    pub state_d: Signal<Out, Bits<3>>,
    idle: Constant<Bits<3>>,
    spread: Constant<Bits<3>>,
    run: Constant<Bits<3>>,
    drain: Constant<Bits<3>>,
    close: Constant<Bits<3>>,
    sample: Constant<Bits<3>>,
    barrier: Constant<Bits<3>>,
    after_sample: Constant<Bits<3>>,
}

impl DescriptorState {
    /// Returns a state machine whose states are numbered in their order. `swaps`: homes swap at the end of a step.
    pub fn new(swaps: bool) -> Self {
        let state = |number: u64| Constant::new(number.into());
        DescriptorState {
            start: Default::default(),
            found: Default::default(),
            issued: Default::default(),
            over: Default::default(),
            advance: Default::default(),
            closes: Default::default(),
            ends_all: Default::default(),
            ends_step: Default::default(),
            go: Default::default(),
            state_q: Default::default(),
            state_d: Default::default(),
            idle: state(0),
            spread: state(1),
            run: state(2),
            drain: state(3),
            close: state(4),
            sample: state(5),
            barrier: state(6),
            after_sample: state(if swaps { 6 } else { 0 }),
        }
    }
}

impl Logic for DescriptorState {
    #[hdl_gen]
    fn update(&mut self) {
        self.state_d.next = self.state_q.val();
        if self.state_q.val() == self.idle.val() {
            if self.start.val() {
                self.state_d.next = self.spread.val();
            }
        } else if self.state_q.val() == self.spread.val() {
            if self.found.val() {
                self.state_d.next = self.run.val();
            }
        } else if self.state_q.val() == self.run.val() {
            if self.issued.val() {
                self.state_d.next = self.drain.val();
            }
        } else if ((self.state_q.val() == self.drain.val()) & self.over.val() & !self.closes.val())
            | ((self.state_q.val() == self.close.val()) & self.advance.val() & self.ends_all.val())
        {
            if self.ends_step.val() {
                self.state_d.next = self.sample.val();
            } else {
                self.state_d.next = self.idle.val();
            }
        } else if self.state_q.val() == self.drain.val() {
            if self.over.val() {
                self.state_d.next = self.close.val();
            }
        } else if self.state_q.val() == self.close.val() {
            if self.advance.val() {
                self.state_d.next = self.run.val();
            }
        } else if self.state_q.val() == self.sample.val() {
            if self.advance.val() {
                self.state_d.next = self.after_sample.val();
            }
        } else if (self.state_q.val() != self.barrier.val()) | self.go.val() {
            self.state_d.next = self.idle.val();
        }
    }
}

/// States of the descriptor at the front.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// No descriptor.
    #[default]
    Idle,
    /// Rows of its streams are found.
    Spread,
    /// Slices are issued.
    Run,
    /// The pipeline runs empty.
    Drain,
    /// The end of streams is announced.
    Close,
    /// The end of the step is announced.
    Sample,
    /// Homes may swap.
    Barrier,
}

impl State {
    /// All, in order of their numbers.
    pub const ALL: [State; 7] =
        [State::Idle, State::Spread, State::Run, State::Drain, State::Close, State::Sample, State::Barrier];
}

/// Events of a cycle; the signals of [`DescriptorState`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Events {
    /// A descriptor begins.
    pub start: bool,
    /// The row of the last stream is found.
    pub found: bool,
    /// The last slice enters the pipeline, or the last of a round that is closed before the next begins.
    pub issued: bool,
    /// The pipeline is empty.
    pub over: bool,
    /// The pipeline advances.
    pub advance: bool,
    /// The descriptor closes its streams.
    pub closes: bool,
    /// No round is left.
    pub ends_all: bool,
    /// A step ends with the descriptor.
    pub ends_step: bool,
    /// Homes are at their places.
    pub go: bool,
}

/// Returns the next state. `swaps`: homes swap at the end of a step.
#[inline]
pub fn rule(state: State, events: &Events, swaps: bool) -> State {
    let end = if events.ends_step { State::Sample } else { State::Idle };
    match state {
        State::Idle if events.start => State::Spread,
        State::Spread if events.found => State::Run,
        State::Run if events.issued => State::Drain,
        State::Drain if events.over && events.closes => State::Close,
        State::Drain if events.over => end,
        State::Close if events.advance && !events.ends_all => State::Run,
        State::Close if events.advance => end,
        State::Sample if events.advance && swaps => State::Barrier,
        State::Sample if events.advance => State::Idle,
        State::Barrier if events.go => State::Idle,
        _ => state,
    }
}

/// Prints [`DescriptorState`].
pub fn descriptor_state() -> Result<Kernel, PrintError> {
    Kernel::print(
        "descriptor_state",
        "Takes a descriptor through its rounds to the end of its step.",
        &DescriptorState::new(true),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::takv::descriptor_state::*;

    #[test]
    fn every_state_has_the_successor_that_the_rule_says() {
        for swaps in [false, true] {
            let mut uut = DescriptorState::new(swaps);
            for (number, case) in (0..8_usize).flat_map(|state| (0..512_u32).map(move |case| (state, case))) {
                let inputs = std::array::from_fn(|i| case >> i & 1 != 0);
                [
                    uut.start.next,
                    uut.found.next,
                    uut.issued.next,
                    uut.over.next,
                    uut.advance.next,
                    uut.closes.next,
                    uut.ends_all.next,
                    uut.ends_step.next,
                    uut.go.next,
                ] = inputs;
                uut.state_q.next = (number as u64).into();
                assert!(simulate(&mut uut, 4));

                let [start, found, issued, over, advance, closes, ends_all, ends_step, go] = inputs;
                let events = Events { start, found, issued, over, advance, closes, ends_all, ends_step, go };
                let next = State::ALL.get(number).map_or(State::Idle, |&state| rule(state, &events, swaps));
                assert_eq!(uut.state_d.val(), next as u64, "number {number} {events:?}");
            }
        }
    }
}
