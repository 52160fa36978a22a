//! Breakdown of a run for print and JSON: parts of it, one behind the other, which add up to all of its cycles.

use crate::cosim::workloads::attention::AttentionResult;
use schemars::JsonSchema;
use serde::Serialize;

/// A part of a run, from the end of the one above it to its own event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Part {
    /// Name of the part.
    pub name: &'static str,
    /// Its cycles; 0 where it lies beside those above it.
    pub cycles: u64,
}

/// What happens in each part. Parts of a core, of a device and of steps are not all the same.
const MEANINGS: [(&str, &str); 15] = [
    ("start", "to the first address of queries, new tokens or descriptors"),
    ("queries", "queries and new tokens go in"),
    ("descriptor", "to the first descriptor that is taken"),
    ("address", "controllers and fillers, to the first address of KV that memory takes"),
    ("memory", "to the first beat of KV from memory"),
    ("filling", "the first slice is filled, fetched and sent, to the first flit at an array"),
    ("kv", "to the last flit of KV that passes an array"),
    ("closing", "to the first result that an array reads behind it"),
    ("results", "to the last result that is read"),
    ("parts", "to the last partial result that a root begins to merge"),
    ("root", "it is merged and divided, to the first flit of the last output"),
    ("output", "to the last flit of it"),
    ("outputs", "it is merged, divided and written, to the last beat of outputs"),
    ("done", "to ap_done"),
    ("settle", "new tokens are written, and homes exchange their places"),
];

/// The parts of a run.
pub(in crate::eval) fn breakdown(done: &AttentionResult) -> Vec<Part> {
    let parts = done.passed.parts(done.query_cycles + done.cycles);
    parts.into_iter().map(|(name, cycles)| Part { name, cycles }).collect()
}

/// The parts of a step, to the end of all that follows from it.
pub(in crate::eval) fn breakdown_of_step(done: &AttentionResult) -> Vec<Part> {
    let settle = Part { name: "settle", cycles: done.settle_cycles };
    breakdown(done).into_iter().chain((done.settle_cycles > 0).then_some(settle)).collect()
}

/// The sums of each part over several runs.
pub(in crate::eval) fn sums<'p>(runs: impl Iterator<Item = &'p Vec<Part>>) -> Vec<Part> {
    let all: Vec<_> = runs.flatten().collect();
    let sum = |name: &str| all.iter().filter(|part| part.name == name).map(|part| part.cycles).sum();
    let there = MEANINGS.iter().filter(|(name, _)| all.iter().any(|part| part.name == *name));
    there.map(|&(name, _)| Part { name, cycles: sum(name) }).collect()
}

impl Part {
    /// What happens in it, in a few words.
    pub fn meaning(&self) -> &'static str {
        MEANINGS.iter().find(|(name, _)| *name == self.name).map_or("", |(_, meaning)| meaning)
    }
}

#[cfg(test)]
mod tests {
    use crate::cosim::workloads::{Event, Passed};
    use crate::eval::time::breakdown::*;

    #[test]
    fn every_part_has_a_meaning_and_its_place_in_the_order() {
        let mut passed = Passed::default();
        let mut names = |cycles| -> Vec<_> {
            passed.arrays(1, [true, true, true]);
            for event in [Event::Asked, Event::QueriesIn, Event::Descriptor, Event::Address, Event::Beat] {
                passed.first(event, 1);
            }
            for event in [Event::Merging, Event::Output] {
                passed.last(event, 1);
            }
            let of_core = passed.parts(cycles);
            passed.last(Event::Written, 1);
            let of_device = passed.parts(cycles);
            assert_eq!((of_core.last().unwrap().0, of_device.last().unwrap().0), ("output", "done"));
            of_core.into_iter().chain(of_device).map(|(name, cycles)| Part { name, cycles }).collect()
        };
        let all = names(9);
        assert!(all.iter().all(|part| !part.meaning().is_empty()), "{all:?}");
        let sums = sums([all.clone()].iter());
        assert_eq!(sums.iter().map(|part| part.cycles).sum::<u64>(), 2 * 9);
        let order: Vec<_> = MEANINGS.iter().map(|(name, _)| *name).filter(|name| *name != "settle").collect();
        assert_eq!(sums.iter().map(|part| part.name).collect::<Vec<_>>(), order);
    }
}
