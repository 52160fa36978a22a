//! Record of a run on a device: the probes of its core, and the events that it passes.

use super::platform::Slaves;
use crate::cosim::dut::pins::Pins;
use crate::cosim::workloads::attention::{AttentionResult, Probes};
use crate::cosim::workloads::Event;

/// A run that is recorded.
pub(super) struct Watched {
    pub(super) result: AttentionResult,
    /// Cycle from which others count: that of the start, once it was taken.
    since: u64,
    /// Cycles of the stages that are kept.
    timeline: usize,
    /// Requests and beats before, of external memory and of queries, new tokens and descriptors.
    hbm: (u64, u64),
    inputs: (u64, u64),
    /// Beats of outputs so far.
    written: u64,
}

impl Watched {
    pub(super) fn new(result: AttentionResult, timeline: usize, cycle: u64, slaves: &Slaves) -> Watched {
        let (hbm, inputs, written) = (slaves.hbm.moved(), slaves.queries.moved(), slaves.outputs.beats());
        Watched { result, since: cycle, timeline, hbm, inputs, written }
    }

    /// Takes a period: whether the device took a start or began with a partial result in it, and what its memory and
    /// probes show.
    pub(super) fn see(
        &mut self,
        cycle: u64,
        [starts, merges]: [bool; 2],
        (pins, probes, slaves): (&Pins, &Probes, &Slaves),
    ) {
        if starts {
            self.since = cycle;
        }
        let at = cycle - self.since + 1;
        let (passed, inputs) = (&mut self.result.passed, slaves.queries.moved());
        if inputs.0 > self.inputs.0 {
            passed.first(Event::Asked, at);
        }
        if inputs.1 > self.inputs.1 && !passed.has(Event::Address) {
            passed.last(Event::QueriesIn, at);
            self.inputs.1 = inputs.1;
        }
        passed.memory(at, self.hbm, &slaves.hbm);
        if merges {
            passed.last(Event::Merging, at);
        }
        let written = slaves.outputs.beats();
        if std::mem::replace(&mut self.written, written) != written {
            passed.last(Event::Written, at);
        }
        probes.look(pins, &mut self.result, cycle - self.since, self.timeline);
    }
}
