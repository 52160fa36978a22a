//! AXI4 write rules: requests on AW, data on W in the order of the requests, responses on B.

use super::burst;
use super::signals::{response_fault, Findings, Limits, Request, Wires, WriteBeat, WriteResponse};
use super::stable_until_ready::Held;
use crate::cosim::checks::violation::Violations;
use std::collections::{BTreeMap, VecDeque};

/// Checker of the write channels of one interface.
#[derive(Debug)]
pub struct WriteRules {
    interface: String,
    limits: Limits,
    request: Held<Request>,
    beat: Held<WriteBeat>,
    response: Held<WriteResponse>,
    /// Requests whose data is not complete.
    requests: VecDeque<Request>,
    /// Beats of bursts that were complete before their request.
    early: VecDeque<u32>,
    /// Beats so far of the current burst.
    begun: u32,
    /// Complete writes without a response, by ID.
    due: BTreeMap<u32, u32>,
    reset: u64,
}

impl WriteRules {
    /// A checker for an interface of this name, before its first period.
    pub fn new(interface: impl Into<String>, limits: Limits) -> WriteRules {
        WriteRules {
            interface: interface.into(),
            limits,
            request: Held::new("AW"),
            beat: Held::new("W"),
            response: Held::new("B"),
            requests: VecDeque::new(),
            early: VecDeque::new(),
            begun: 0,
            due: BTreeMap::new(),
            reset: 0,
        }
    }

    /// Number of requests with incomplete data, bursts without their request, and writes without a
    /// response.
    pub fn outstanding(&self) -> usize {
        let unanswered: u32 = self.due.values().sum();
        self.requests.len() + self.early.len() + usize::from(self.begun > 0) + unanswered as usize
    }

    /// Drops a write of this ID, which will never be answered.
    pub fn abandon(&mut self, id: u32) {
        self.count(id);
    }

    /// Judges a period in reset, with or without a request or data of the master. Afterwards
    /// nothing is outstanding.
    pub(in crate::cosim) fn in_reset(
        &mut self,
        cycle: u64,
        shown: (bool, bool),
        violations: &mut Violations,
    ) {
        let periods = self.reset + 1;
        let shown = [("AW", shown.0), ("W", shown.1)];
        Findings { cycle, interface: &self.interface, violations }.in_reset(periods, &shown);
        *self = WriteRules {
            reset: periods,
            ..WriteRules::new(std::mem::take(&mut self.interface), self.limits)
        };
    }

    /// Judges a period.
    pub(in crate::cosim) fn judge(
        &mut self,
        cycle: u64,
        request: &Wires<Request>,
        beat: &Wires<WriteBeat>,
        response: &Wires<WriteResponse>,
        violations: &mut Violations,
    ) {
        self.reset = 0;
        let mut found = Findings { cycle, interface: &self.interface, violations };
        if let Some(fresh) = self.response.judge(response.as_ref(), &mut found) {
            if !self.due.contains_key(&fresh.id) {
                let rule = "was given, and no write of that ID is complete (A3.3.1)";
                found.add("B", format_args!("a response of ID {:#x} {rule}", fresh.id));
            }
            response_fault(fresh.response).into_iter().for_each(|rule| found.add("B", rule));
        }
        if let Some(fresh) = self.request.judge(request.as_ref(), &mut found) {
            burst::faults(fresh, &self.limits).into_iter().for_each(|rule| found.add("AW", rule));
        }
        if let Some(taken) = request.taken() {
            let unanswered =
                self.requests.iter().any(|r| r.id == taken.id) || self.due.contains_key(&taken.id);
            if self.limits.unique_ids && unanswered {
                let rule = "is used for a second request before the first has ended";
                found.add("AW", format_args!("ID {:#x} {rule}", taken.id));
            }
            match self.early.pop_front() {
                None => self.requests.push_back(*taken),
                Some(beats) => {
                    length(beats, true, taken, &mut found);
                    *self.due.entry(taken.id).or_default() += 1;
                }
            }
        }
        let fresh = self.beat.judge(beat.as_ref(), &mut found);
        if let Some((of, fresh)) = self.requests.front().zip(fresh) {
            length(self.begun + 1, fresh.last, of, &mut found);
        }
        if let Some(taken) = beat.taken() {
            self.begun += 1;
            if taken.last {
                let beats = std::mem::take(&mut self.begun);
                match self.requests.pop_front() {
                    Some(of) => *self.due.entry(of.id).or_default() += 1,
                    None => self.early.push_back(beats),
                }
            }
        }
        if let Some(taken) = response.taken() {
            self.count(taken.id);
        }
    }

    /// Counts a response.
    fn count(&mut self, id: u32) {
        if let Some(due) = self.due.get_mut(&id) {
            *due -= 1;
            if *due == 0 {
                self.due.remove(&id);
            }
        }
    }
}

/// Judges the length of a burst at its beat of this number; `last` is WLAST.
fn length(number: u32, last: bool, of: &Request, found: &mut Findings) {
    if last != (number == of.len + 1) {
        let what = if last { "is" } else { "is not" };
        let beats = of.len + 1;
        found.add("W", format_args!("WLAST {what} set with beat {number} of {beats} (A3.4.1): {of:x?}"));
    }
}
