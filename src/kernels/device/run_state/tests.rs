//! Tests of the states of a run against their rule.

use crate::kernels::device::run_state::*;

/// The inputs of a state that its successor depends on, as numbers of bits of a case.
fn read_in(state: Option<State>) -> &'static [u32] {
    match state {
        Some(State::Idle) => &[0, 1, 2, 3, 10, 12],
        Some(State::Arguments) => &[3, 4, 5, 15, 16],
        Some(State::List) => &[3, 9],
        Some(State::Queries) => &[3, 6],
        Some(State::Descriptors) => &[3, 7],
        Some(State::Outputs) => &[3, 8, 16],
        Some(State::Record) => &[2, 3, 14, 17],
        Some(State::Reset) => &[3, 10, 14],
        Some(State::Quiet) => &[3, 12, 13, 14],
        Some(State::Release) => &[3, 11, 14, 16],
        Some(State::Over) | None => &[3],
    }
}

/// Events of a case, a bit each.
fn events(case: u32) -> Events {
    let bit = |i: u32| case >> i & 1 != 0;
    Events {
        start: bit(0),
        soft_reset: bit(1),
        pe_down: bit(2),
        breaks: bit(3),
        refused: bit(4),
        accepts: bit(5),
        query_done: bit(6),
        queue_left: bit(7),
        calm: bit(8),
        list_done: bit(9),
        held: bit(10),
        released: bit(11),
        owed: bit(12),
        rested: bit(13),
        waited: bit(14),
        lists: bit(15),
        records: bit(16),
        recorded: bit(17),
    }
}

/// Runs the kernel for a cycle.
fn step(uut: &mut RunState, state: usize, events: &Events, flags: Flags) -> (State, Flags, Orders) {
    uut.start.next = events.start;
    uut.soft_reset.next = events.soft_reset;
    uut.pe_down.next = events.pe_down;
    uut.breaks.next = events.breaks;
    uut.refused.next = events.refused;
    uut.accepts.next = events.accepts;
    uut.query_done.next = events.query_done;
    uut.queue_left.next = events.queue_left;
    uut.calm.next = events.calm;
    uut.list_done.next = events.list_done;
    uut.held.next = events.held;
    uut.released.next = events.released;
    uut.owed.next = events.owed;
    uut.rested.next = events.rested;
    uut.waited.next = events.waited;
    uut.lists.next = events.lists;
    uut.records.next = events.records;
    uut.recorded.next = events.recorded;
    uut.state_q.next = (state as u64).into();
    [uut.run_q.next, uut.ends_q.next, uut.reset_failed_q.next, uut.soft_q.next] =
        [flags.run, flags.ends, flags.reset_failed, flags.soft];
    assert!(simulate(uut, 4));
    let flags = Flags {
        run: uut.run_d.val(),
        ends: uut.ends_d.val(),
        reset_failed: uut.reset_failed_d.val(),
        soft: uut.soft_d.val(),
    };
    let orders = Orders {
        clears_timer: uut.clears_timer.val(),
        clears_dirty: uut.clears_dirty.val(),
        sets_dirty: uut.sets_dirty.val(),
        next_epoch: uut.next_epoch.val(),
    };
    (State::ALL[u64::from(uut.state_d.val()) as usize], flags, orders)
}

#[test]
fn every_state_follows_its_rule_whatever_the_inputs_it_reads() {
    let mut uut = RunState::new();
    for (number, kept) in (0..16).flat_map(|state| (0..16).map(move |kept| (state, kept))) {
        let state = State::ALL.get(number).copied();
        let [run, ends, reset_failed, soft] = [0, 1, 2, 3].map(|i| kept >> i & 1 != 0);
        let flags = Flags { run, ends, reset_failed, soft };
        // All values of what the state reads, with all else low and with all else high.
        let read = read_in(state);
        let mask: u32 = read.iter().map(|i| 1 << i).sum();
        for case in 0..1_u32 << read.len() {
            let low: u32 = read.iter().enumerate().map(|(at, i)| (case >> at & 1) << i).sum();
            for events in [low, low | (0x3_ffff & !mask)].map(events) {
                let expected = rule(state, &events, flags);
                assert_eq!(
                    step(&mut uut, number, &events, flags),
                    expected,
                    "{state:?} {events:?} {flags:?}"
                );
            }
        }
    }
}

#[test]
fn a_run_ends_from_every_state_once_nothing_is_awaited_any_longer() {
    let mut uut = RunState::new();
    for first in 0..16 {
        // It fails where it can, the core is never held or released, and all waiting is over.
        let (mut number, mut flags) = (first, Flags { run: true, ..Flags::default() });
        let mut cycles = 0;
        while number != State::Idle as usize {
            let works = number == State::List as usize || (number == State::Record as usize && !flags.ends);
            let breaks = (1..=4).contains(&number) || works;
            let events = Events { waited: true, breaks, ..Events::default() };
            let (next, kept, _) = step(&mut uut, number, &events, flags);
            (number, flags) = (next as usize, kept);
            cycles += 1;
            assert!(cycles <= 4, "state {first}");
        }
    }
}
