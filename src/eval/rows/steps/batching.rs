//! Turns the steps of a trace into a [`BatchingRow`].

use crate::cosim::workloads::requests::{Batching, Rules};
use crate::design::Design;
use crate::eval::rows::steps::{nearest_ranks, StepsRow};
use schemars::JsonSchema;
use serde::Serialize;

/// Values of steps or requests: the least, some quantiles, and the largest.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct Values {
    /// The least.
    pub min: f64,
    /// The median.
    pub p50: f64,
    /// The value that 95 of 100 do not exceed.
    pub p95: f64,
    /// The largest.
    pub max: f64,
    /// The mean.
    pub mean: f64,
}

impl Values {
    /// Those of some values; zeros if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Values {
        let mut all: Vec<f64> = values.into_iter().collect();
        all.sort_by(f64::total_cmp);
        let Some([min, p50, p95, max]) = nearest_ranks(&all) else { return Values::default() };
        Values { min, p50, p95, max, mean: all.iter().sum::<f64>() / all.len() as f64 }
    }
}

/// A step of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct BatchStep {
    /// Its number, from 0 on.
    pub step: u32,
    /// Seconds from the begin of the trace to its begin.
    pub begins_s: f64,
    /// Microseconds of attention in all layers.
    pub us: f64,
    /// True if it was simulated; others take as long a byte of KV as the last one that was.
    pub simulated: bool,
    /// Requests in the batch.
    pub streams: usize,
    /// Requests that wait.
    pub waiting: usize,
    /// Pages that are taken.
    pub pages: u32,
    /// Tokens in them, each once.
    pub live: u64,
    /// Bytes of K and V that all layers need; a common prefix counts once a run.
    pub kv_bytes: u64,
    /// Those bytes over the time, as a share of `memory.bandwidth_gbs`.
    pub share: f64,
}

/// A trace of requests, decoded with continuous batching. Prompts are in the cache when a request joins the batch: nothing
/// but attention takes time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BatchingRow {
    /// Requests of the trace.
    pub requests: usize,
    /// Those that have all their tokens.
    pub finished: usize,
    /// Steps.
    pub steps: usize,
    /// Those that were simulated.
    pub simulated: usize,
    /// Seconds from the begin of the trace to the end of the last step.
    pub seconds: f64,
    /// Tokens that were decoded.
    pub decoded: u64,
    /// Those over the seconds in which a step ran.
    pub tokens_a_second: f64,
    /// Microseconds of a step.
    pub step_us: Values,
    /// Share of `memory.bandwidth_gbs` that the KV of all steps took, over their time.
    pub share: f64,
    /// The same of each step.
    pub step_share: Values,
    /// Requests in the batch of a step.
    pub streams: Values,
    /// Streams that the same pages hold where each reserves `model.max_tokens`.
    pub reserved: u32,
    /// Pages of the pool.
    pub pool: u32,
    /// Pages that are taken, of a step.
    pub pages: Values,
    /// Steps in which a request waited for pages or a cache: the pool is full.
    pub full: usize,
    /// Tokens that live over the tokens that the taken pages hold: the mean of the steps in which the pool is full, or of
    /// all if it never is.
    pub live: f64,
    /// Requests in the batch of those steps, the mean.
    pub streams_when_full: f64,
    /// Pages that were copied: at most one where a request begins with a prefix.
    pub copied: u64,
    /// Requests that lost their pages to others and waited again, and the tokens that a prompt brought again.
    pub preempted: u64,
    /// Those tokens.
    pub again: u64,
    /// Seconds from the arrival of a request until it is in the batch.
    pub wait_s: Values,
    /// What the simulated runs gave, one behind the other.
    pub runs: StepsRow,
    /// All steps.
    pub by_step: Vec<BatchStep>,
}

/// Collects the steps.
#[derive(Debug, Default)]
pub struct BatchingLog {
    by_step: Vec<BatchStep>,
}

impl BatchingLog {
    /// Adds a step of `us` microseconds and so many bytes of KV before it is over.
    pub fn add(
        &mut self,
        design: &Design,
        batching: &Batching,
        streams: usize,
        (us, kv_bytes): (f64, u64),
        simulated: bool,
    ) {
        let (pages, live) = batching.taken();
        // Bytes over microseconds are megabytes a second.
        let share = kv_bytes as f64 / us / 1e3 / design.configuration().memory.bandwidth_gbs;
        let (step, begins_s, waiting) = (self.by_step.len() as u32, batching.now(), batching.waiting());
        self.by_step.push(BatchStep {
            step,
            begins_s,
            us,
            simulated,
            streams,
            waiting,
            pages,
            live,
            kv_bytes,
            share,
        });
    }

    /// The row of all steps, and of the simulated runs.
    pub fn row(self, requests: usize, batching: &Batching, rules: &Rules, runs: StepsRow) -> BatchingRow {
        let steps = &self.by_step;
        let sum = |of: fn(&BatchStep) -> f64| steps.iter().map(of).sum::<f64>();
        let values = |of: fn(&BatchStep) -> f64| Values::of(steps.iter().map(of));
        let (busy_us, counts) = (sum(|step| step.us), batching.counts());
        let waits = steps.iter().filter(|step| step.waiting > 0).count();
        let full = |step: &&BatchStep| waits == 0 || step.waiting > 0;
        let of_full = |of: &dyn Fn(&BatchStep) -> f64| Values::of(steps.iter().filter(full).map(of)).mean;
        let page_tokens = f64::from(rules.page_tokens);
        BatchingRow {
            requests,
            finished: counts.finished,
            steps: steps.len(),
            simulated: steps.iter().filter(|step| step.simulated).count(),
            seconds: batching.now(),
            decoded: counts.decoded,
            tokens_a_second: counts.decoded as f64 / busy_us * 1e6,
            step_us: values(|step| step.us),
            share: sum(|step| step.share * step.us) / busy_us,
            step_share: values(|step| step.share),
            streams: values(|step| step.streams as f64),
            reserved: rules.reserved(),
            pool: rules.pages,
            pages: values(|step| f64::from(step.pages)),
            full: waits,
            live: of_full(&|step| step.live as f64 / f64::from(step.pages) / page_tokens),
            streams_when_full: of_full(&|step| step.streams as f64),
            copied: counts.copied,
            preempted: counts.preempted,
            again: counts.again,
            wait_s: Values::of(batching.waits()),
            runs,
            by_step: self.by_step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_nearest_rank() {
        let all = Values::of((1..=100).rev().map(f64::from));
        assert_eq!(all, Values { min: 1.0, p50: 50.0, p95: 95.0, max: 100.0, mean: 50.5 });
        assert_eq!(Values::of([]), Values::default());
    }
}
