//! Cycles of what a host waits for: starts, fetches, writes of outputs and ends of runs, seen at the
//! pins of a device.

mod doorbell;
mod host_model;
mod ringing;

pub use doorbell::{CallTimes, Doorbell, Record};
pub use host_model::{HostModel, HostModelError};

/// An event at the pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEvent {
    /// A write of CTRL with AP_START, or of DOORBELL, was taken: the later of its address and its data.
    Start,
    /// A memory port offered an address while none had done so since the last other event.
    Fetch,
    /// A beat of an output was taken.
    Write,
    /// The interrupt line rose.
    Done,
}

/// The events of a device so far, each with its cycle.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    events: Vec<(u64, CallEvent)>,
    interrupt: bool,
}

/// Cost of one call in cycles. A part is `None` if its events have not happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallCost {
    /// From the start, or from the end of the run before, to the first fetch.
    pub to_fetch: Option<u64>,
    /// From the last beat of outputs to the end.
    pub to_done: Option<u64>,
}

impl Calls {
    /// Takes the pins of a cycle.
    pub(in crate::cosim::workloads::device) fn see(
        &mut self,
        cycle: u64,
        [starts, fetches, writes, interrupt]: [bool; 4],
    ) {
        if starts {
            self.events.push((cycle, CallEvent::Start));
        }
        if writes {
            // Only the last beat counts.
            self.events.pop_if(|(_, last)| *last == CallEvent::Write);
            self.events.push((cycle, CallEvent::Write));
        }
        if fetches && self.events.last().is_some_and(|(_, last)| *last != CallEvent::Fetch) {
            self.events.push((cycle, CallEvent::Fetch));
        }
        if interrupt && !self.interrupt {
            self.events.push((cycle, CallEvent::Done));
        }
        self.interrupt = interrupt;
    }

    /// Costs of the call that begins with the `number`th event of this kind, from 0:
    /// [`CallEvent::Start`] for calls of a host, [`CallEvent::Done`] for runs that follow another.
    pub fn cost(&self, from: CallEvent, number: usize) -> CallCost {
        let at = self.events.iter().enumerate().filter(|(_, (_, event))| *event == from).nth(number);
        let rest = at.map_or(&[][..], |(at, _)| &self.events[at..]);
        let after = rest.get(1..).unwrap_or_default();
        let fetch = after.iter().find(|(_, event)| *event == CallEvent::Fetch);
        let done = after.iter().position(|(_, event)| *event == CallEvent::Done);
        let ended = done.and_then(|done| {
            let written = after[..done].iter().rfind(|(_, event)| *event == CallEvent::Write)?;
            Some(after[done].0 - written.0)
        });
        CallCost { to_fetch: fetch.zip(rest.first()).map(|(fetch, first)| fetch.0 - first.0), to_done: ended }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_those_of_the_first_fetch_and_the_last_write() {
        let mut calls = Calls::default();
        // Start, fetch, write, fetch, write; done; fetch, write; done.
        let [s, f, w] =
            [[true, false, false, false], [false, true, false, false], [false, false, true, false]];
        let (quiet, high) = ([false; 4], [false, false, false, true]);
        for (cycle, pins) in
            [(1, s), (5, f), (6, f), (9, w), (10, f), (12, w), (13, w), (17, high), (18, high), (20, quiet)]
        {
            calls.see(cycle, pins);
        }
        for (cycle, pins) in [(27, f), (30, w), (33, high)] {
            calls.see(cycle, pins);
        }
        let first = calls.cost(CallEvent::Start, 0);
        assert_eq!(first, CallCost { to_fetch: Some(4), to_done: Some(4) });
        let next = calls.cost(CallEvent::Done, 0);
        assert_eq!(next, CallCost { to_fetch: Some(10), to_done: Some(3) });
        assert_eq!(calls.cost(CallEvent::Done, 1), CallCost { to_fetch: None, to_done: None });
        assert_eq!(calls.cost(CallEvent::Start, 1), CallCost { to_fetch: None, to_done: None });
    }
}
