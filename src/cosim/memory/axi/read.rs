//! AXI4 read rules: requests on AR, beats on R.

use super::burst;
use super::signals::{response_fault, Beat, Findings, Limits, Request, Wires};
use super::stable_until_ready::Held;
use crate::cosim::checks::violation::Violations;
use std::collections::{BTreeMap, VecDeque};

/// Checker of the read channels of one interface.
#[derive(Debug)]
pub struct ReadRules {
    interface: String,
    limits: Limits,
    request: Held<Request>,
    beat: Held<Beat>,
    /// Beats to come, by ID: one number for each request, in order.
    due: BTreeMap<u32, VecDeque<u32>>,
    reset: u64,
}

impl ReadRules {
    /// A checker for an interface of this name, before its first period.
    pub fn new(interface: impl Into<String>, limits: Limits) -> ReadRules {
        ReadRules {
            interface: interface.into(),
            limits,
            request: Held::new("AR"),
            beat: Held::new("R"),
            due: BTreeMap::new(),
            reset: 0,
        }
    }

    /// Name of the interface.
    pub fn interface(&self) -> &str {
        &self.interface
    }

    /// Requests that wait for their last beat.
    pub fn outstanding(&self) -> usize {
        self.due.values().map(VecDeque::len).sum()
    }

    /// Drops the newest request of an ID, which will never be answered. The ID is then free for the
    /// slave, as it must be for the master.
    pub fn abandon(&mut self, id: u32) {
        if let Some(bursts) = self.due.get_mut(&id) {
            bursts.pop_back();
            if bursts.is_empty() {
                self.due.remove(&id);
            }
        }
    }

    /// Judges a period in reset, with or without a request of the master. Afterwards nothing is
    /// outstanding.
    pub(in crate::cosim) fn in_reset(&mut self, cycle: u64, shown: bool, violations: &mut Violations) {
        let periods = self.reset + 1;
        Findings { cycle, interface: &self.interface, violations }.in_reset(periods, &[("AR", shown)]);
        *self =
            ReadRules { reset: periods, ..ReadRules::new(std::mem::take(&mut self.interface), self.limits) };
    }

    /// Judges a period.
    pub(in crate::cosim) fn judge(
        &mut self,
        cycle: u64,
        request: &Wires<Request>,
        beat: &Wires<&Beat>,
        violations: &mut Violations,
    ) {
        self.reset = 0;
        let mut found = Findings { cycle, interface: &self.interface, violations };
        // An answer follows the handshake of its request, so beats are judged first.
        if let Some(fresh) = self.beat.judge(*beat, &mut found) {
            match self.due.get(&fresh.id).and_then(VecDeque::front) {
                None => found.add("R", format_args!("nothing was asked with ID {:#x} (A5.3)", fresh.id)),
                Some(&due) if fresh.last != (due == 1) => {
                    let what = if fresh.last { "too early" } else { "missing" };
                    let id = fresh.id;
                    found.add(
                        "R",
                        format_args!("RLAST is {what}: ID {id:#x} has {due} beats to come (A3.4.1)"),
                    );
                }
                Some(_) => {}
            }
            response_fault(fresh.response).into_iter().for_each(|rule| found.add("R", rule));
        }
        if let Some(taken) = beat.taken() {
            count(&mut self.due, taken.id);
        }
        if let Some(fresh) = self.request.judge(request.as_ref(), &mut found) {
            burst::faults(fresh, &self.limits).into_iter().for_each(|rule| found.add("AR", rule));
        }
        let Some(taken) = request.taken() else { return };
        let of_id = self.due.entry(taken.id).or_default();
        if self.limits.unique_ids && !of_id.is_empty() {
            let rule = "is used for a second request before the first has ended";
            found.add("AR", format_args!("ID {:#x} {rule}", taken.id));
        }
        of_id.push_back(taken.len + 1);
    }
}

/// Counts a beat that was taken. The request gives the number of beats, wherever RLAST was set.
fn count(due: &mut BTreeMap<u32, VecDeque<u32>>, id: u32) {
    let Some(bursts) = due.get_mut(&id) else { return };
    match bursts.front_mut() {
        Some(beats) if *beats > 1 => *beats -= 1,
        _ => drop(bursts.pop_front()),
    }
    if bursts.is_empty() {
        due.remove(&id);
    }
}
