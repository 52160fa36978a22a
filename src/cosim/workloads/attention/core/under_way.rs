//! A job under way: how it is run, its inputs that the design has taken, and the outputs that have come back.

use crate::cosim::workloads::attention::job::Job;
use crate::cosim::workloads::attention::result::{AttentionResult, HeadSums};
use crate::cosim::workloads::shared::limit::Limit;
use crate::design::Descriptor;
use std::collections::BTreeMap;

/// How a job is run.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct RunOptions {
    /// Cycles of each tile that are recorded, from the first descriptor on.
    pub(in super::super) timeline: usize,
    /// Of 256 cycles, those in which a root's output is refused.
    pub(in super::super) stall: u8,
    /// Another job follows: the run ends when the design has settled. Counters are not read.
    pub(in super::super) goes_on: bool,
    /// The design has the queries of the job from one before.
    pub(in super::super) has_queries: bool,
}

/// A job under way: its inputs that the design has taken, and the outputs that have come back.
pub(super) struct UnderWay<'j> {
    pub(super) job: &'j Job<'j>,
    /// Its descriptors, and how many of them the design has taken.
    pub(super) options: RunOptions,
    pub(super) pending: Vec<Descriptor>,
    pub(super) next: usize,
    /// Period of the first descriptor, of this job and of all, and periods since the former.
    pub(super) begun: u64,
    pub(super) since: u64,
    pub(super) cycle: u64,
    /// End of the last period in which something moved.
    pub(super) moved: u64,
    /// Requests and beats of memory before the job.
    pub(super) moved_before: (u64, u64),
    /// Columns whose output is taken in this period.
    pub(super) takes: Vec<bool>,
    /// Elements of the output that comes from each column.
    pub(super) partial: Vec<Vec<u16>>,
    /// Rows whose partial results were merged, in order, and sums of outputs, by stream and head.
    pub(super) merged: BTreeMap<(u32, u32), Vec<u32>>,
    pub(super) computed: BTreeMap<(u32, u32), HeadSums>,
    /// End of the period of the last output.
    pub(super) end: Option<u64>,
    /// Its bound.
    pub(super) limit: Limit,
    pub(super) result: AttentionResult,
}

impl UnderWay<'_> {
    /// Periods from the first query to the end of this one.
    pub(super) fn passed(&self) -> u64 {
        self.result.query_cycles + self.cycle + 1
    }

    /// Periods of memory, which counts over all jobs.
    pub(super) fn of_memory(&self) -> u64 {
        self.begun + self.cycle - self.since
    }

    pub(super) fn moves(&mut self) {
        self.moved = self.begun + self.cycle + 1;
    }

    pub(super) fn violates(&mut self, what: String) {
        self.result.violations.push(format!("cycle {}: {what}", self.cycle));
    }
}
