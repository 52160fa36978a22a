//! State machine of the descriptor checker: checks a field a cycle and stops at the first wrong one.
//!
//! Invariant: a descriptor is put into the queue only after every check has held, and every
//! descriptor ends in PUT or REFUSE. While the queue is emptied nothing is checked: what is
//! pushed or being checked is refused.
//!
//! The comparisons are wires of the shell, as are the causes and the counts.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// Registers and results of comparisons that determine the next state.
#[derive(LogicBlock)]
pub struct DescriptorCheck {
    /// A descriptor is written.
    pub push: Signal<In, Bit>,
    /// The queue is emptied.
    pub flush: Signal<In, Bit>,
    /// Layer, prefix and mapping exist, and the queue has room.
    pub place_good: Signal<In, Bit>,
    /// First, stride and count are within their bounds.
    pub sizes_good: Signal<In, Bit>,
    /// The product has its last bit.
    pub last_step: Signal<In, Bit>,
    /// The last segment and the rows exist.
    pub span_good: Signal<In, Bit>,
    /// Its streams exist.
    pub streams_good: Signal<In, Bit>,
    /// The current stream has been closed before.
    pub closed: Signal<In, Bit>,
    /// The current stream is the last.
    pub last_stream: Signal<In, Bit>,
    /// State.
    pub state_q: Signal<In, Bits<4>>,
    /// Next `state_q`.
    pub state_d: Signal<Out, Bits<4>>,
    idle: Constant<Bits<4>>,
    place: Constant<Bits<4>>,
    sizes: Constant<Bits<4>>,
    product: Constant<Bits<4>>,
    span: Constant<Bits<4>>,
    streams_of: Constant<Bits<4>>,
    open: Constant<Bits<4>>,
    take: Constant<Bits<4>>,
    put: Constant<Bits<4>>,
    refuse: Constant<Bits<4>>,
}

impl DescriptorCheck {
    /// Returns a checker whose states are numbered in their order.
    pub fn new() -> Self {
        let state = |number: u64| Constant::new(number.into());
        DescriptorCheck {
            push: Default::default(),
            flush: Default::default(),
            place_good: Default::default(),
            sizes_good: Default::default(),
            last_step: Default::default(),
            span_good: Default::default(),
            streams_good: Default::default(),
            closed: Default::default(),
            last_stream: Default::default(),
            state_q: Default::default(),
            state_d: Default::default(),
            idle: state(0),
            place: state(1),
            sizes: state(2),
            product: state(3),
            span: state(4),
            streams_of: state(5),
            open: state(6),
            take: state(7),
            put: state(8),
            refuse: state(9),
        }
    }
}

impl Default for DescriptorCheck {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for DescriptorCheck {
    #[hdl_gen]
    fn update(&mut self) {
        // A check that no branch finds good is refused; PUT, REFUSE and unused numbers go back to IDLE.
        self.state_d.next = self.refuse.val();
        if self.state_q.val() == self.idle.val() {
            if self.push.val() {
                self.state_d.next = self.place.val();
            } else {
                self.state_d.next = self.idle.val();
            }
        } else if self.state_q.val() == self.place.val() {
            if self.place_good.val() {
                self.state_d.next = self.sizes.val();
            }
        } else if self.state_q.val() == self.sizes.val() {
            if self.sizes_good.val() {
                self.state_d.next = self.product.val();
            }
        } else if self.state_q.val() == self.product.val() {
            if self.last_step.val() {
                self.state_d.next = self.span.val();
            } else {
                self.state_d.next = self.product.val();
            }
        } else if self.state_q.val() == self.span.val() {
            if self.span_good.val() {
                self.state_d.next = self.streams_of.val();
            }
        } else if self.state_q.val() == self.streams_of.val() {
            if self.streams_good.val() {
                self.state_d.next = self.open.val();
            }
        } else if self.state_q.val() == self.open.val() {
            if !self.closed.val() & self.last_stream.val() {
                self.state_d.next = self.take.val();
            } else if !self.closed.val() {
                self.state_d.next = self.open.val();
            }
        } else if self.state_q.val() == self.take.val() {
            if self.last_stream.val() {
                self.state_d.next = self.put.val();
            } else {
                self.state_d.next = self.take.val();
            }
        } else {
            self.state_d.next = self.idle.val();
        }
        if self.flush.val() {
            if self.push.val()
                | ((self.state_q.val() != self.idle.val()) & (self.state_q.val() != self.refuse.val()))
            {
                self.state_d.next = self.refuse.val();
            } else {
                self.state_d.next = self.idle.val();
            }
        }
    }
}

/// States by their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing is checked.
    Idle,
    /// Layer, prefix and mapping.
    Place,
    /// First, stride and count.
    Sizes,
    /// Multiplies the count by the stride.
    Product,
    /// The last segment and the rows.
    Span,
    /// The number of streams.
    StreamsOf,
    /// Whether any of its streams is closed, one after the other.
    Open,
    /// Closes its streams.
    Take,
    /// Puts the descriptor into the queue.
    Put,
    /// Refuses it.
    Refuse,
}

impl State {
    /// All states, in order of their numbers.
    pub const ALL: [State; 10] = [
        State::Idle,
        State::Place,
        State::Sizes,
        State::Product,
        State::Span,
        State::StreamsOf,
        State::Open,
        State::Take,
        State::Put,
        State::Refuse,
    ];
}

/// Events and results of comparisons; the signals of [`DescriptorCheck`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checks {
    /// A descriptor is written.
    pub push: bool,
    /// The queue is emptied.
    pub flush: bool,
    /// Layer, prefix and mapping exist, and the queue has room.
    pub place: bool,
    /// First, stride and count are within their bounds.
    pub sizes: bool,
    /// The product has its last bit.
    pub last_step: bool,
    /// The last segment and the rows exist.
    pub span: bool,
    /// Its streams exist.
    pub streams: bool,
    /// The current stream has been closed before.
    pub closed: bool,
    /// The current stream is the last.
    pub last_stream: bool,
}

/// Returns the next state. `None` is a number of no state.
pub fn rule(state: Option<State>, checks: &Checks) -> State {
    use State::*;
    let rests = matches!(state, Some(Idle | Refuse));
    if checks.flush {
        // Without the state's number nothing says that there is no descriptor.
        return if checks.push || !rests { Refuse } else { Idle };
    }
    let unless = |good: bool, next: State| if good { next } else { Refuse };
    match state {
        Some(Idle) if checks.push => Place,
        Some(Place) => unless(checks.place, Sizes),
        Some(Sizes) => unless(checks.sizes, Product),
        Some(Product) if checks.last_step => Span,
        Some(Product) => Product,
        Some(Span) => unless(checks.span, StreamsOf),
        Some(StreamsOf) => unless(checks.streams, Open),
        Some(Open) => unless(!checks.closed, if checks.last_stream { Take } else { Open }),
        Some(Take) if checks.last_stream => Put,
        Some(Take) => Take,
        Some(Idle | Put | Refuse) | None => Idle,
    }
}

/// Prints [`DescriptorCheck`].
pub fn descriptor_check() -> Result<Kernel, PrintError> {
    Kernel::print(
        "descriptor_check",
        "Looks at a descriptor step by step and puts it into the queue or refuses it.",
        &DescriptorCheck::new(),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::device::descriptor_check::*;

    /// Sets the inputs of a case, nine bits from `push` on, and returns the next state.
    fn step(uut: &mut DescriptorCheck, state: usize, case: u32) -> (Checks, State) {
        let inputs = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|i| case >> i & 1 != 0);
        [
            uut.push.next,
            uut.flush.next,
            uut.place_good.next,
            uut.sizes_good.next,
            uut.last_step.next,
            uut.span_good.next,
            uut.streams_good.next,
            uut.closed.next,
            uut.last_stream.next,
        ] = inputs;
        uut.state_q.next = (state as u64).into();
        assert!(simulate(uut, 4));
        let [push, flush, place, sizes, last_step, span, streams, closed, last_stream] = inputs;
        let checks = Checks { push, flush, place, sizes, last_step, span, streams, closed, last_stream };
        (checks, State::ALL[u64::from(uut.state_d.val()) as usize])
    }

    #[test]
    fn every_state_has_the_successor_that_its_check_says() {
        let mut uut = DescriptorCheck::new();
        for (state, case) in (0..16).flat_map(|state| (0..512).map(move |case| (state, case))) {
            let (checks, next) = step(&mut uut, state, case);
            assert_eq!(next, rule(State::ALL.get(state).copied(), &checks), "state {state} case {case:09b}");
        }
    }

    #[test]
    fn only_checks_that_all_hold_lead_into_the_queue() {
        let mut uut = DescriptorCheck::new();
        // All checks hold, the last step and the last stream come at once; then one input is turned over.
        let (good, checks) = (0b1_0111_1100_u32, [2, 3, 5, 6, 7]);
        let mut end_of = |case: u32| {
            let mut state = State::Place;
            for _ in 0..8 {
                if matches!(state, State::Put | State::Refuse) {
                    break;
                }
                (_, state) = step(&mut uut, state as usize, case);
            }
            state
        };
        assert_eq!(end_of(good), State::Put);
        for check in checks {
            assert_eq!(end_of(good ^ 1 << check), State::Refuse, "check {check}");
        }
    }
}
