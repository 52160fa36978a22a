//! State machine of a run: selects the next of ten states and updates the flags of the run and its resets.
//!
//! Invariant: an error leaves every state of a run for RESET, and every state from RESET on is left
//! after a bounded time, so that a run always ends in OVER. A soft reset that cannot be obeyed is
//! kept for the next cycle in which it can.
//!
//! `run_q` is set from start to end of a run, `ends_q` once it has failed, `sick_q` while the core
//! could not be reset. The shell has the timer, the epoch and the dirty epochs; the kernel drives the
//! signals that clear and advance them.

use super::error::PrintError;
use super::kernel::Kernel;
use rust_hdl::prelude::*;

/// Registers and events that determine the next state.
#[derive(LogicBlock)]
pub struct RunState {
    /// The host starts a run.
    pub start: Signal<In, Bit>,
    /// The host writes a soft reset.
    pub soft_reset: Signal<In, Bit>,
    /// PaD was reset on its own.
    pub pe_down: Signal<In, Bit>,
    /// A run that is under way fails.
    pub breaks: Signal<In, Bit>,
    /// The run does not begin.
    pub refused: Signal<In, Bit>,
    /// The run begins.
    pub accepts: Signal<In, Bit>,
    /// The list of descriptors is to be read.
    pub lists: Signal<In, Bit>,
    /// It has been read.
    pub list_done: Signal<In, Bit>,
    /// The core has all queries, or knows that they come.
    pub query_done: Signal<In, Bit>,
    /// Descriptors of the run are left.
    pub queue_left: Signal<In, Bit>,
    /// All due outputs have been written for some cycles.
    pub calm: Signal<In, Bit>,
    /// The core is in reset.
    pub held: Signal<In, Bit>,
    /// The core is out of reset.
    pub released: Signal<In, Bit>,
    /// Memory still owes answers.
    pub owed: Signal<In, Bit>,
    /// The reset has lasted long enough for `owed` to be seen.
    pub rested: Signal<In, Bit>,
    /// The time-out has passed.
    pub waited: Signal<In, Bit>,
    /// State.
    pub state_q: Signal<In, Bits<4>>,
    /// A run has started and not ended.
    pub run_q: Signal<In, Bit>,
    /// The run has failed.
    pub ends_q: Signal<In, Bit>,
    /// The core could not be reset yet.
    pub sick_q: Signal<In, Bit>,
    /// A soft reset is pending.
    pub soft_q: Signal<In, Bit>,
    /// Next `state_q`.
    pub state_d: Signal<Out, Bits<4>>,
    /// Next `run_q`.
    pub run_d: Signal<Out, Bit>,
    /// Next `ends_q`.
    pub ends_d: Signal<Out, Bit>,
    /// Next `sick_q`.
    pub sick_d: Signal<Out, Bit>,
    /// Next `soft_q`.
    pub soft_d: Signal<Out, Bit>,
    /// The timer starts again.
    pub clears_timer: Signal<Out, Bit>,
    /// Memory owes nothing: all epochs are clean.
    pub cleans: Signal<Out, Bit>,
    /// The epoch ends while memory owes answers.
    pub soils: Signal<Out, Bit>,
    /// The next epoch begins.
    pub next_epoch: Signal<Out, Bit>,
    idle: Constant<Bits<4>>,
    arguments: Constant<Bits<4>>,
    queries: Constant<Bits<4>>,
    descriptors: Constant<Bits<4>>,
    outputs: Constant<Bits<4>>,
    over: Constant<Bits<4>>,
    reset: Constant<Bits<4>>,
    quiet: Constant<Bits<4>>,
    release: Constant<Bits<4>>,
    list: Constant<Bits<4>>,
}

impl RunState {
    /// Returns a state machine whose states are numbered in their order.
    pub fn new() -> Self {
        let state = |number: u64| Constant::new(number.into());
        RunState {
            start: Default::default(),
            soft_reset: Default::default(),
            pe_down: Default::default(),
            breaks: Default::default(),
            refused: Default::default(),
            accepts: Default::default(),
            lists: Default::default(),
            list_done: Default::default(),
            query_done: Default::default(),
            queue_left: Default::default(),
            calm: Default::default(),
            held: Default::default(),
            released: Default::default(),
            owed: Default::default(),
            rested: Default::default(),
            waited: Default::default(),
            state_q: Default::default(),
            run_q: Default::default(),
            ends_q: Default::default(),
            sick_q: Default::default(),
            soft_q: Default::default(),
            state_d: Default::default(),
            run_d: Default::default(),
            ends_d: Default::default(),
            sick_d: Default::default(),
            soft_d: Default::default(),
            clears_timer: Default::default(),
            cleans: Default::default(),
            soils: Default::default(),
            next_epoch: Default::default(),
            idle: state(0),
            arguments: state(1),
            queries: state(2),
            descriptors: state(3),
            outputs: state(4),
            over: state(5),
            reset: state(6),
            quiet: state(7),
            release: state(8),
            list: state(9),
        }
    }
}

impl Default for RunState {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for RunState {
    #[hdl_gen]
    fn update(&mut self) {
        self.state_d.next = self.state_q.val();
        self.run_d.next = self.run_q.val();
        self.ends_d.next = self.ends_q.val();
        self.sick_d.next = self.sick_q.val();
        self.soft_d.next = self.soft_reset.val()
            | (self.soft_q.val()
                & ((self.state_q.val() == self.over.val())
                    | ((self.state_q.val() == self.idle.val()) & self.start.val())));
        self.clears_timer.next = false;
        self.cleans.next = false;
        self.soils.next = false;
        self.next_epoch.next = false;
        if self.breaks.val() {
            self.state_d.next = self.reset.val();
            self.ends_d.next = true;
            self.clears_timer.next = true;
        } else if self.state_q.val() == self.idle.val() {
            self.ends_d.next = false;
            self.clears_timer.next = true;
            self.cleans.next = !self.owed.val();
            if self.start.val() {
                self.run_d.next = true;
                if self.sick_q.val() {
                    self.state_d.next = self.reset.val();
                } else {
                    self.state_d.next = self.arguments.val();
                }
            } else if self.soft_q.val() | self.pe_down.val() | (self.sick_q.val() & self.held.val()) {
                self.state_d.next = self.reset.val();
            }
        } else if self.state_q.val() == self.arguments.val() {
            if self.refused.val() {
                self.state_d.next = self.over.val();
            } else if self.accepts.val() {
                self.state_d.next = self.queries.val();
            } else if self.lists.val() {
                self.state_d.next = self.list.val();
            }
        } else if self.state_q.val() == self.list.val() {
            if self.list_done.val() {
                self.state_d.next = self.arguments.val();
            }
        } else if self.state_q.val() == self.queries.val() {
            if self.query_done.val() {
                self.state_d.next = self.descriptors.val();
            }
        } else if self.state_q.val() == self.descriptors.val() {
            if !self.queue_left.val() {
                self.state_d.next = self.outputs.val();
            }
        } else if self.state_q.val() == self.outputs.val() {
            if self.calm.val() {
                self.state_d.next = self.over.val();
            }
        } else if self.state_q.val() == self.over.val() {
            self.run_d.next = false;
            self.state_d.next = self.idle.val();
        } else if self.state_q.val() == self.quiet.val() {
            if (!self.owed.val() & self.rested.val()) | self.waited.val() {
                self.cleans.next = !self.owed.val() & self.rested.val();
                self.soils.next = self.owed.val() | !self.rested.val();
                self.next_epoch.next = true;
                self.clears_timer.next = true;
                self.sick_d.next = false;
                self.state_d.next = self.release.val();
            }
        } else if (self.state_q.val() == self.reset.val()) & self.held.val() {
            self.clears_timer.next = true;
            self.state_d.next = self.quiet.val();
        } else if (self.state_q.val() == self.release.val()) & self.released.val() {
            if self.ends_q.val() {
                self.state_d.next = self.over.val();
            } else if self.run_q.val() {
                self.state_d.next = self.arguments.val();
            } else {
                self.state_d.next = self.idle.val();
            }
        } else if (self.state_q.val() == self.reset.val()) | (self.state_q.val() == self.release.val()) {
            // The core's other clock does not run: the run is over all the same.
            if self.waited.val() {
                self.sick_d.next = true;
                if self.run_q.val() {
                    self.state_d.next = self.over.val();
                } else {
                    self.state_d.next = self.idle.val();
                }
            }
        } else {
            self.state_d.next = self.reset.val();
        }
    }
}

/// Prints [`RunState`].
pub fn run_state() -> Result<Kernel, PrintError> {
    Kernel::print(
        "run_state",
        "Next state of a run, and what is kept of it and of its resets.",
        &RunState::new(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 10] = [
        "IDLE",
        "ARGUMENTS",
        "QUERIES",
        "DESCRIPTORS",
        "OUTPUTS",
        "OVER",
        "RESET",
        "QUIET",
        "RELEASE",
        "LIST",
    ];

    /// Registers of the kernel: run, ends, sick, soft.
    type Kept = [bool; 4];

    fn name(state: usize) -> &'static str {
        NAMES.get(state).copied().unwrap_or("unused")
    }

    /// The inputs of a state that its successor depends on, as numbers of bits of a case.
    fn read_in(state: &str) -> &'static [u32] {
        match state {
            "IDLE" => &[0, 1, 2, 3, 10, 12],
            "ARGUMENTS" => &[3, 4, 5, 15],
            "LIST" => &[3, 9],
            "QUERIES" => &[3, 6],
            "DESCRIPTORS" => &[3, 7],
            "OUTPUTS" => &[3, 8],
            "RESET" => &[3, 10, 14],
            "QUIET" => &[3, 12, 13, 14],
            "RELEASE" => &[3, 11, 14],
            _ => &[3],
        }
    }

    fn set(uut: &mut RunState, state: usize, inputs: u32, [run, ends, sick, soft]: Kept) {
        let bit = |i: u32| inputs >> i & 1 != 0;
        uut.start.next = bit(0);
        uut.soft_reset.next = bit(1);
        uut.pe_down.next = bit(2);
        uut.breaks.next = bit(3);
        uut.refused.next = bit(4);
        uut.accepts.next = bit(5);
        uut.query_done.next = bit(6);
        uut.queue_left.next = bit(7);
        uut.calm.next = bit(8);
        uut.list_done.next = bit(9);
        uut.held.next = bit(10);
        uut.released.next = bit(11);
        uut.owed.next = bit(12);
        uut.rested.next = bit(13);
        uut.waited.next = bit(14);
        uut.lists.next = bit(15);
        uut.state_q.next = (state as u64).into();
        uut.run_q.next = run;
        uut.ends_q.next = ends;
        uut.sick_q.next = sick;
        uut.soft_q.next = soft;
        assert!(simulate(uut, 4));
    }

    /// The plain statement: next state and flags, and the signals to the shell.
    fn rule(state: usize, inputs: u32, [run, ends, sick, soft]: Kept) -> (&'static str, Kept, [bool; 4]) {
        let bit = |i: u32| inputs >> i & 1 != 0;
        let [start, breaks, held, released, owed, rested, waited] = [0, 3, 10, 11, 12, 13, 14].map(bit);
        let now = name(state);
        let soft_next = bit(1) || (soft && (now == "OVER" || (now == "IDLE" && start)));
        if breaks {
            return ("RESET", [run, true, sick, soft_next], [true, false, false, false]);
        }
        let over_or_idle = if run { "OVER" } else { "IDLE" };
        let nothing = [false; 4];
        let keep = [run, ends, sick, soft_next];
        match now {
            "IDLE" => {
                let next = match start {
                    true if sick => "RESET",
                    true => "ARGUMENTS",
                    false if soft || bit(2) || (sick && held) => "RESET",
                    false => "IDLE",
                };
                (next, [run || start, false, sick, soft_next], [true, !owed, false, false])
            }
            "ARGUMENTS" if bit(4) => ("OVER", keep, nothing),
            "ARGUMENTS" if bit(5) => ("QUERIES", keep, nothing),
            "ARGUMENTS" if bit(15) => ("LIST", keep, nothing),
            "LIST" if bit(9) => ("ARGUMENTS", keep, nothing),
            "QUERIES" if bit(6) => ("DESCRIPTORS", keep, nothing),
            "DESCRIPTORS" if !bit(7) => ("OUTPUTS", keep, nothing),
            "OUTPUTS" if bit(8) => ("OVER", keep, nothing),
            "OVER" => ("IDLE", [false, ends, sick, soft_next], nothing),
            "RESET" if held => ("QUIET", keep, [true, false, false, false]),
            "RESET" | "RELEASE" if waited && !(now == "RELEASE" && released) => {
                (over_or_idle, [run, ends, true, soft_next], nothing)
            }
            "QUIET" if !owed && rested => {
                ("RELEASE", [run, ends, false, soft_next], [true, true, false, true])
            }
            "QUIET" if waited => ("RELEASE", [run, ends, false, soft_next], [true, false, true, true]),
            "RELEASE" if released && ends => ("OVER", keep, nothing),
            "RELEASE" if released && run => ("ARGUMENTS", keep, nothing),
            "RELEASE" if released => ("IDLE", keep, nothing),
            "unused" => ("RESET", keep, nothing),
            _ => (now, keep, nothing),
        }
    }

    fn check(uut: &mut RunState, state: usize, inputs: u32, kept: Kept) {
        set(uut, state, inputs, kept);
        let (next, registers, events) = rule(state, inputs, kept);
        let case = format!("{} inputs {inputs:016b} kept {kept:?}", name(state));
        assert_eq!(name(u64::from(uut.state_d.val()) as usize), next, "{case}");
        let found = [uut.run_d.val(), uut.ends_d.val(), uut.sick_d.val(), uut.soft_d.val()];
        assert_eq!(found, registers, "{case}");
        let found = [uut.clears_timer.val(), uut.cleans.val(), uut.soils.val(), uut.next_epoch.val()];
        assert_eq!(found, events, "{case}");
    }

    #[test]
    fn every_state_follows_its_rule_whatever_the_inputs_it_reads() {
        let mut uut = RunState::new();
        for (state, kept) in (0..16).flat_map(|state| (0..16).map(move |kept| (state, kept))) {
            let kept = [0, 1, 2, 3].map(|i| kept >> i & 1 != 0);
            // All values of what the state reads, with all else low and with all else high.
            let read = read_in(name(state));
            let mask: u32 = read.iter().map(|i| 1 << i).sum();
            for case in 0..1_u32 << read.len() {
                let inputs: u32 = read.iter().enumerate().map(|(at, i)| (case >> at & 1) << i).sum();
                check(&mut uut, state, inputs, kept);
                check(&mut uut, state, inputs | (0xffff & !mask), kept);
            }
        }
    }

    #[test]
    fn a_run_ends_from_every_state_once_nothing_is_awaited_any_longer() {
        let mut uut = RunState::new();
        for state in 0..16 {
            // It fails where it can, the core is never held or released, and all waiting is over.
            let (mut state, mut kept) = (state, [true, false, false, false]);
            let mut cycles = 0;
            while name(state) != "IDLE" {
                let works = (1..=4).contains(&state) || name(state) == "LIST";
                set(&mut uut, state, 1 << 14 | u32::from(works) << 3, kept);
                state = u64::from(uut.state_d.val()) as usize;
                kept = [uut.run_d.val(), uut.ends_d.val(), uut.sick_d.val(), uut.soft_d.val()];
                cycles += 1;
                assert!(cycles <= 4, "state {state}");
            }
        }
    }
}
