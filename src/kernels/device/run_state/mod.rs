//! State machine of a run: selects the next of eleven states and updates the flags of the run and its resets.
//!
//! Invariant: an error leaves every state of a run for RESET, and every state from RESET on is left
//! after a bounded time, so that a run always ends in OVER. A soft reset that cannot be obeyed is
//! kept for the next cycle in which it can.
//!
//! `run_q` is set from start to end of a run, `ends_q` once it has failed, `reset_failed_q` while the core
//! could not be reset. The shell has the timer, the epoch and the dirty epochs; the kernel drives the
//! signals that clear and advance them.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
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
    /// The record of the run is to be written.
    pub records: Signal<In, Bit>,
    /// It is in memory.
    pub recorded: Signal<In, Bit>,
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
    pub reset_failed_q: Signal<In, Bit>,
    /// A soft reset is pending.
    pub soft_q: Signal<In, Bit>,
    /// Next `state_q`.
    pub state_d: Signal<Out, Bits<4>>,
    /// Next `run_q`.
    pub run_d: Signal<Out, Bit>,
    /// Next `ends_q`.
    pub ends_d: Signal<Out, Bit>,
    /// Next `reset_failed_q`.
    pub reset_failed_d: Signal<Out, Bit>,
    /// Next `soft_q`.
    pub soft_d: Signal<Out, Bit>,
    /// The timer starts again.
    pub clears_timer: Signal<Out, Bit>,
    /// Memory owes nothing: all epochs are clean.
    pub clears_dirty: Signal<Out, Bit>,
    /// The epoch ends while memory owes answers.
    pub sets_dirty: Signal<Out, Bit>,
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
    record: Constant<Bits<4>>,
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
            records: Default::default(),
            recorded: Default::default(),
            held: Default::default(),
            released: Default::default(),
            owed: Default::default(),
            rested: Default::default(),
            waited: Default::default(),
            state_q: Default::default(),
            run_q: Default::default(),
            ends_q: Default::default(),
            reset_failed_q: Default::default(),
            soft_q: Default::default(),
            state_d: Default::default(),
            run_d: Default::default(),
            ends_d: Default::default(),
            reset_failed_d: Default::default(),
            soft_d: Default::default(),
            clears_timer: Default::default(),
            clears_dirty: Default::default(),
            sets_dirty: Default::default(),
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
            record: state(10),
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
        self.reset_failed_d.next = self.reset_failed_q.val();
        // A reset of PaD that comes while a failed run writes its record is made up for.
        self.soft_d.next = self.soft_reset.val()
            | ((self.state_q.val() == self.record.val()) & self.ends_q.val() & self.pe_down.val())
            | (self.soft_q.val()
                & ((self.state_q.val() == self.over.val())
                    | ((self.state_q.val() == self.record.val()) & self.ends_q.val())
                    | ((self.state_q.val() == self.idle.val()) & self.start.val())));
        self.clears_timer.next = false;
        self.clears_dirty.next = false;
        self.sets_dirty.next = false;
        self.next_epoch.next = false;
        if self.breaks.val() {
            self.state_d.next = self.reset.val();
            self.ends_d.next = true;
            self.clears_timer.next = true;
        } else if self.state_q.val() == self.idle.val() {
            self.ends_d.next = false;
            self.clears_timer.next = true;
            self.clears_dirty.next = !self.owed.val();
            if self.start.val() {
                self.run_d.next = true;
                if self.reset_failed_q.val() {
                    self.state_d.next = self.reset.val();
                } else {
                    self.state_d.next = self.arguments.val();
                }
            } else if self.soft_q.val() | self.pe_down.val() | (self.reset_failed_q.val() & self.held.val()) {
                self.state_d.next = self.reset.val();
            }
        } else if self.state_q.val() == self.arguments.val() {
            if self.refused.val() {
                self.ends_d.next = true;
                self.clears_timer.next = true;
                if self.records.val() {
                    self.state_d.next = self.record.val();
                } else {
                    self.state_d.next = self.over.val();
                }
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
                if self.records.val() {
                    self.state_d.next = self.record.val();
                } else {
                    self.state_d.next = self.over.val();
                }
            }
        } else if self.state_q.val() == self.record.val() {
            // A run that has failed breaks no more: its record may wait for as long as an answer may take, and is given up.
            if self.recorded.val() {
                self.state_d.next = self.over.val();
            } else if self.ends_q.val() & self.waited.val() {
                self.clears_timer.next = true;
                self.state_d.next = self.reset.val();
            }
        } else if self.state_q.val() == self.over.val() {
            self.run_d.next = false;
            self.state_d.next = self.idle.val();
        } else if self.state_q.val() == self.quiet.val() {
            if (!self.owed.val() & self.rested.val()) | self.waited.val() {
                self.clears_dirty.next = !self.owed.val() & self.rested.val();
                self.sets_dirty.next = self.owed.val() | !self.rested.val();
                self.next_epoch.next = true;
                self.clears_timer.next = true;
                self.reset_failed_d.next = false;
                self.state_d.next = self.release.val();
            }
        } else if (self.state_q.val() == self.reset.val()) & self.held.val() {
            self.clears_timer.next = true;
            self.state_d.next = self.quiet.val();
        } else if (self.state_q.val() == self.release.val()) & self.released.val() {
            if self.ends_q.val() {
                self.clears_timer.next = true;
                if self.records.val() {
                    self.state_d.next = self.record.val();
                } else {
                    self.state_d.next = self.over.val();
                }
            } else if self.run_q.val() {
                self.state_d.next = self.arguments.val();
            } else {
                self.state_d.next = self.idle.val();
            }
        } else if (self.state_q.val() == self.reset.val()) | (self.state_q.val() == self.release.val()) {
            // The core's other clock does not run: the run is over all the same.
            if self.waited.val() {
                self.reset_failed_d.next = true;
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

/// States by their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// No run.
    Idle,
    /// Arguments are checked.
    Arguments,
    /// Queries are read.
    Queries,
    /// Descriptors of the run are left.
    Descriptors,
    /// Outputs are due.
    Outputs,
    /// The run ends.
    Over,
    /// The core goes into reset.
    Reset,
    /// It waits until memory owes nothing.
    Quiet,
    /// It comes out of reset.
    Release,
    /// The list of descriptors is read.
    List,
    /// The record of the run is written.
    Record,
}

impl State {
    /// All states, in order of their numbers.
    pub const ALL: [State; 11] = [
        State::Idle,
        State::Arguments,
        State::Queries,
        State::Descriptors,
        State::Outputs,
        State::Over,
        State::Reset,
        State::Quiet,
        State::Release,
        State::List,
        State::Record,
    ];
}

/// Events of a cycle; the signals of [`RunState`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Events {
    /// The host starts a run.
    pub start: bool,
    /// The host writes a soft reset.
    pub soft_reset: bool,
    /// PaD was reset on its own.
    pub pe_down: bool,
    /// A run that is under way fails.
    pub breaks: bool,
    /// The run does not begin.
    pub refused: bool,
    /// The run begins.
    pub accepts: bool,
    /// The list of descriptors is to be read.
    pub lists: bool,
    /// It has been read.
    pub list_done: bool,
    /// The core has all queries, or knows that they come.
    pub query_done: bool,
    /// Descriptors of the run are left.
    pub queue_left: bool,
    /// All due outputs have been written for some cycles.
    pub calm: bool,
    /// The record of the run is to be written.
    pub records: bool,
    /// It is in memory.
    pub recorded: bool,
    /// The core is in reset.
    pub held: bool,
    /// The core is out of reset.
    pub released: bool,
    /// Memory still owes answers.
    pub owed: bool,
    /// The reset has lasted long enough for `owed` to be seen.
    pub rested: bool,
    /// The time-out has passed.
    pub waited: bool,
}

/// Flags that a run and its resets keep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags {
    /// A run has started and not ended.
    pub run: bool,
    /// The run has failed.
    pub ends: bool,
    /// The core could not be reset yet.
    pub reset_failed: bool,
    /// A soft reset is pending.
    pub soft: bool,
}

/// Actions of the shell on timer and epochs in a cycle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Orders {
    /// The timer starts again.
    pub clears_timer: bool,
    /// Memory owes nothing: all epochs are clean.
    pub clears_dirty: bool,
    /// The epoch ends while memory owes answers.
    pub sets_dirty: bool,
    /// The next epoch begins.
    pub next_epoch: bool,
}

/// Returns the next state and flags, and what the shell does. `None` is a number of no state.
pub fn rule(state: Option<State>, events: &Events, flags: Flags) -> (State, Flags, Orders) {
    use State::*;
    let Flags { run, reset_failed, .. } = flags;
    let ends = flags.ends;
    let waits = match state {
        Some(Over) => true,
        Some(Record) => ends,
        Some(Idle) => events.start,
        _ => false,
    };
    let asked = flags.soft && waits;
    // A reset of PaD that comes while a failed run writes its record is made up for.
    let missed = state == Some(Record) && ends && events.pe_down;
    let keep = Flags { soft: events.soft_reset || missed || asked, ..flags };
    let (nothing, restart) = (Orders::default(), Orders { clears_timer: true, ..Orders::default() });
    let Some(state) = state.filter(|_| !events.breaks) else {
        let (ends, orders) = if events.breaks { (true, restart) } else { (keep.ends, nothing) };
        return (Reset, Flags { ends, ..keep }, orders);
    };
    let stays = (state, keep, nothing);
    let goes = |to: State, when: bool| if when { (to, keep, nothing) } else { stays };
    // What follows a run that has ended.
    let end = if events.records { Record } else { Over };
    match state {
        Idle => {
            let resets = flags.soft || events.pe_down || (reset_failed && events.held);
            let next = match (events.start, resets) {
                (true, _) if !reset_failed => Arguments,
                (false, false) => Idle,
                _ => Reset,
            };
            let flags = Flags { run: run || events.start, ends: false, ..keep };
            (next, flags, Orders { clears_dirty: !events.owed, ..restart })
        }
        Arguments if events.refused => (end, Flags { ends: true, ..keep }, restart),
        Arguments if events.accepts => goes(Queries, true),
        Arguments => goes(List, events.lists),
        List => goes(Arguments, events.list_done),
        Queries => goes(Descriptors, events.query_done),
        Descriptors => goes(Outputs, !events.queue_left),
        Outputs => goes(end, events.calm),
        Record if events.recorded => goes(Over, true),
        Record if ends && events.waited => (Reset, keep, restart),
        Record => stays,
        Over => (Idle, Flags { run: false, ..keep }, nothing),
        Reset if events.held => (Quiet, keep, restart),
        Release if events.released && ends => (end, keep, restart),
        Release if events.released => goes(if run { Arguments } else { Idle }, true),
        // The core's other clock does not run: the run is over all the same.
        Reset | Release if events.waited => {
            (if run { Over } else { Idle }, Flags { reset_failed: true, ..keep }, nothing)
        }
        Reset | Release => stays,
        Quiet => {
            let clean = !events.owed && events.rested;
            let orders = Orders { clears_dirty: clean, sets_dirty: !clean, next_epoch: true, ..restart };
            let leaves = (Release, Flags { reset_failed: false, ..keep }, orders);
            if clean || events.waited {
                leaves
            } else {
                stays
            }
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
mod tests;
