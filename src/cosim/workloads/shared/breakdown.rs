//! Breakdown of a run: the events that it passes one after the other, and the cycles between them.

use crate::cosim::memory::Memory;

/// An event of a run. They stand in the order in which one stream passes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A device offered the first address of queries, new tokens or descriptors.
    Asked,
    /// The last query and the last new token before the first descriptor were in; of a device, before its first
    /// address of KV.
    QueriesIn,
    /// The first descriptor was taken.
    Descriptor,
    /// A memory port took the first address of KV.
    Address,
    /// The first beat of KV came from memory.
    Beat,
    /// The first flit of KV waited at an array, or passed it.
    Arrived,
    /// The last flit of KV passed an array.
    LastPass,
    /// An array read a result, for the first time since.
    Reading,
    /// The last result was read.
    Read,
    /// A root began with the last partial result.
    Merging,
    /// The core returned the first flit of the last output.
    Output,
    /// A device wrote the last beat of outputs.
    Written,
}

/// Events, each with the name of the part of a run that ends with it.
const PARTS: [(Event, &str); 12] = [
    (Event::Asked, "start"),
    (Event::QueriesIn, "queries"),
    (Event::Descriptor, "descriptor"),
    (Event::Address, "address"),
    (Event::Beat, "memory"),
    (Event::Arrived, "filling"),
    (Event::LastPass, "kv"),
    (Event::Reading, "closing"),
    (Event::Read, "results"),
    (Event::Merging, "parts"),
    (Event::Output, "root"),
    (Event::Written, "outputs"),
];

/// The part behind the last event, of a core and of a device.
const LAST: [&str; 2] = ["output", "done"];

/// Cycles from the start of a run to its events. One that did not happen is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Passed {
    at: [Option<u64>; PARTS.len()],
}

impl Passed {
    /// Notes an event that counts the first time.
    pub(crate) fn first(&mut self, event: Event, cycle: u64) {
        self.at[event as usize].get_or_insert(cycle);
    }

    /// Notes an event that counts the last time.
    pub(crate) fn last(&mut self, event: Event, cycle: u64) {
        self.at[event as usize] = Some(cycle);
    }

    /// True if an event was noted.
    pub(in crate::cosim) fn has(&self, event: Event) -> bool {
        self.at[event as usize].is_some()
    }

    /// Notes the first request and the first beat of a memory that had so many of them before.
    pub(in crate::cosim) fn memory(&mut self, cycle: u64, before: (u64, u64), memory: &Memory) {
        if self.has(Event::Beat) {
            return;
        }
        let (requests, beats) = memory.moved();
        if requests > before.0 {
            self.first(Event::Address, cycle);
        }
        if beats > before.1 {
            self.first(Event::Beat, cycle);
        }
    }

    /// Notes what the arrays do in a cycle: a flit waits at one, passes one, or a result is read.
    pub(crate) fn arrays(&mut self, cycle: u64, [waits, passes, reads]: [bool; 3]) {
        if waits || passes {
            self.first(Event::Arrived, cycle);
        }
        if passes {
            self.last(Event::LastPass, cycle);
            self.at[Event::Reading as usize] = None;
        }
        if reads {
            self.first(Event::Reading, cycle);
            self.last(Event::Read, cycle);
        }
    }

    /// The parts of a run of so many cycles, which add up to it. A part whose event came before the one above it lay
    /// beside others and has none of its own.
    pub fn parts(&self, cycles: u64) -> Vec<(&'static str, u64)> {
        let mut now = 0;
        let events = PARTS.iter().filter_map(|(event, name)| Some((*name, self.at[*event as usize]?)));
        let last = LAST[usize::from(self.has(Event::Written))];
        let part = |(name, at): (&'static str, u64)| {
            let before = now;
            now = at.min(cycles).max(before);
            (name, now - before)
        };
        events.chain([(last, cycles)]).map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::cosim::workloads::shared::breakdown::*;

    #[test]
    fn parts_add_up_whatever_the_order_of_the_events() {
        let mut passed = Passed::default();
        for (event, cycle) in [(Event::QueriesIn, 10), (Event::Descriptor, 12), (Event::Address, 8)] {
            passed.first(event, cycle);
            passed.first(event, cycle + 5);
        }
        passed.arrays(20, [true, false, false]);
        passed.arrays(21, [true, true, false]);
        passed.arrays(30, [false, false, true]);
        passed.arrays(40, [false, true, true]);
        passed.arrays(43, [false, false, true]);
        passed.last(Event::Output, 50);
        let parts = passed.parts(55);
        let expected = [
            ("queries", 10),
            ("descriptor", 2),
            ("address", 0),
            ("filling", 8),
            ("kv", 20),
            ("closing", 0),
            ("results", 3),
            ("root", 7),
            ("output", 5),
        ];
        assert_eq!(parts, expected);
        assert_eq!(parts.iter().map(|part| part.1).sum::<u64>(), 55);
        assert_eq!(Passed::default().parts(7), [("output", 7)]);
        passed.last(Event::Written, 52);
        assert_eq!(passed.parts(55)[8..], [("outputs", 2), ("done", 3)]);
        // An event behind the end, as of a run that was cut off, ends with it.
        assert_eq!(passed.parts(30).iter().map(|part| part.1).sum::<u64>(), 30);
    }
}
