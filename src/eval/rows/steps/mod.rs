//! Turns decode steps over growing caches into a [`StepsRow`].

pub(in crate::eval) mod batching;

use crate::cosim::workloads::steps::{Difference, Stepped};
use crate::eval::rows::compared::Compared;
use crate::eval::time::breakdown::{breakdown_of_step, sums, Part};
use crate::model::datapath::reference::Error;
use schemars::JsonSchema;
use serde::Serialize;

/// Values of all steps: the least, some quantiles, and the largest.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct Quantiles {
    /// The least.
    pub min: u64,
    /// The median.
    pub p50: u64,
    /// The value that 95 of 100 steps do not exceed.
    pub p95: u64,
    /// The largest.
    pub max: u64,
    /// The mean.
    pub mean: f64,
}

impl Quantiles {
    /// Those of some values; zeros if there are none.
    pub fn of(values: impl IntoIterator<Item = u64>) -> Quantiles {
        let mut all: Vec<u64> = values.into_iter().collect();
        all.sort_unstable();
        let Some([min, p50, p95, max]) = nearest_ranks(&all) else { return Quantiles::default() };
        Quantiles { min, p50, p95, max, mean: all.iter().sum::<u64>() as f64 / all.len() as f64 }
    }
}

/// The least, the median, the value that 95 of 100 do not exceed, and the largest, each a value of the sorted ones.
fn nearest_ranks<T: Copy>(sorted: &[T]) -> Option<[T; 4]> {
    let at = |percent: usize| sorted.get((sorted.len() * percent).div_ceil(100).max(1) - 1).copied();
    Some([at(0)?, at(50)?, at(95)?, at(100)?])
}

/// A decode step.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OneStep {
    /// Its number, from 0 on.
    pub step: u32,
    /// The streams of its batch.
    pub streams: Vec<u32>,
    /// Tokens that each of them attends to, the new one included.
    pub tokens: Vec<u32>,
    /// Cycles from its first query or new token to the last output.
    pub cycles: u64,
    /// Cycles from then until its new tokens are in memory and homes at their places.
    pub settle_cycles: u64,
    /// Parts of the step, one behind the other; their cycles add up to `cycles` and `settle_cycles`.
    pub breakdown: Vec<Part>,
    /// True if every output equals the model of the datapath, and so do the sums before it; null if no numbers were
    /// computed.
    pub bit_exact: Option<bool>,
    /// Largest error of an output against f64.
    #[schemars(with = "Option<f64>")]
    pub max_abs_error: f64,
    /// Root of the mean square error over its outputs.
    #[schemars(with = "Option<f64>")]
    pub rms_error: f64,
    /// Largest error of FlashAttention-2 style FP16 with FP32 accumulation; null if it is not finite.
    #[schemars(with = "Option<f64>")]
    pub fa2_max_abs_error: f64,
    /// Root of its mean square error; null if it is not finite.
    #[schemars(with = "Option<f64>")]
    pub fa2_rms_error: f64,
    /// Tiles, each (x, y), that exchanged their homes at the end of the step.
    pub swaps: Vec<[(u32, u32); 2]>,
}

/// Decode steps over growing caches, on one simulation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepsRow {
    /// Steps.
    pub steps: usize,
    /// True if every output of every step equals the model of the datapath, and so do the sums before it; null if no
    /// numbers were computed.
    pub bit_exact: Option<bool>,
    /// True if external memory is, in every byte, what a host would have written for the grown caches; null if no
    /// numbers were computed.
    pub memory_equal: Option<bool>,
    /// Bytes of external memory that were compared.
    pub memory_bytes: u64,
    /// Bytes that differ.
    pub memory_differing: u64,
    /// Slice of the first byte that differs, and the byte in it.
    pub memory_first: Option<(u64, u64)>,
    /// True if no error against f64 is above `bound`; null if no numbers were computed.
    pub within_bound: Option<bool>,
    /// The bound: the largest error of FlashAttention-2 in any step, or half of the distance of two FP16 numbers at the
    /// largest output, if that is more.
    #[schemars(with = "Option<f64>")]
    pub bound: f64,
    /// Largest error of an output against f64 in any step.
    #[schemars(with = "Option<f64>")]
    pub max_abs_error: f64,
    /// Largest RMS error of a step.
    #[schemars(with = "Option<f64>")]
    pub rms_error: f64,
    /// Largest error of FlashAttention-2 style FP16 in any step; null if one is not finite.
    #[schemars(with = "Option<f64>")]
    pub fa2_max_abs_error: f64,
    /// Tokens that were appended, over all streams.
    pub appended: u64,
    /// Pairs of homes that exchanged their places.
    pub swaps: usize,
    /// Cycles of all steps, from the first query to the end.
    pub cycles: u64,
    /// Parts of the steps, summed over all of them; their cycles add up to `cycles`.
    pub breakdown: Vec<Part>,
    /// Cycles of a step, from its first query to its last output.
    pub step_cycles: Quantiles,
    /// Cycles from the last output of a step to its end.
    pub settle_cycles: Quantiles,
    /// Tokens in each stream's cache at the end.
    pub lengths: Vec<u32>,
    /// All steps.
    pub by_step: Vec<OneStep>,
    /// Heads with a logit beyond the range of the datapath, each with its step.
    pub saturated: Vec<String>,
    /// Broken rules, each with its step.
    pub violations: Vec<String>,
}

/// Collects the steps.
#[derive(Debug, Default)]
pub struct StepsLog {
    by_step: Vec<OneStep>,
    appended: u64,
    rounding: f64,
    saturated: Vec<String>,
    violations: Vec<String>,
}

impl StepsLog {
    /// Adds a step that is over.
    pub fn add(&mut self, stepped: &Stepped) {
        let (step, job, done) = (stepped.step, stepped.job, stepped.done);
        let mut all = Compared::default();
        for (&of, output) in done.outputs.iter().filter(|_| done.numbers) {
            all.add(job, of, output);
        }
        let (ours, fa2) = match done.numbers {
            true => (all.ours(), all.theirs()),
            false => [Error { max: f64::NAN, rms: f64::NAN }; 2].into(),
        };
        self.rounding = self.rounding.max(all.rounding());
        self.appended += job.own.iter().flatten().filter(|own| own.append).count() as u64;
        let lines =
            |what: &mut dyn Iterator<Item = String>| what.map(|one| format!("step {step}: {one}")).collect();
        let saturated: Vec<String> = lines(&mut done.saturated.iter().map(ToString::to_string));
        let violations: Vec<String> = lines(&mut done.violations.iter().cloned());
        self.saturated.extend(saturated);
        self.violations.extend(violations);
        self.by_step.push(OneStep {
            step,
            streams: stepped.batch.to_vec(),
            tokens: (0..job.streams).map(|stream| job.attended(stream).len() as u32).collect(),
            cycles: done.query_cycles + done.cycles,
            settle_cycles: done.settle_cycles,
            breakdown: breakdown_of_step(done),
            bit_exact: done.numbers.then(|| done.bit_exact()),
            max_abs_error: ours.max,
            rms_error: ours.rms,
            fa2_max_abs_error: fa2.max,
            fa2_rms_error: fa2.rms,
            swaps: done.swaps.clone(),
        });
    }

    /// The row of all steps; `lengths` of the caches and `memory` as they are in the end. No memory if no numbers were
    /// computed.
    pub fn row(self, lengths: &[u32], memory: Option<&Difference>) -> StepsRow {
        let steps = &self.by_step;
        let numbers = memory.is_some();
        let memory = memory.copied().unwrap_or_default();
        let most = |of: fn(&OneStep) -> f64| steps.iter().map(of).fold(0.0, larger);
        let (max, fa2) = (most(|step| step.max_abs_error), most(|step| step.fa2_max_abs_error));
        let bound = if fa2.is_finite() { fa2.max(self.rounding) } else { f64::INFINITY };
        StepsRow {
            steps: steps.len(),
            bit_exact: numbers.then(|| steps.iter().all(|step| step.bit_exact == Some(true))),
            memory_equal: numbers.then_some(memory.differing == 0),
            memory_bytes: memory.bytes,
            memory_differing: memory.differing,
            memory_first: memory.first,
            within_bound: numbers.then(|| Error { max, rms: 0.0 }.within(&Error { max: bound, rms: 0.0 })),
            bound: if numbers { bound } else { f64::NAN },
            max_abs_error: max,
            rms_error: most(|step| step.rms_error),
            fa2_max_abs_error: fa2,
            appended: self.appended,
            swaps: steps.iter().map(|step| step.swaps.len()).sum(),
            cycles: steps.iter().map(|step| step.cycles + step.settle_cycles).sum(),
            breakdown: sums(steps.iter().map(|step| &step.breakdown)),
            step_cycles: Quantiles::of(steps.iter().map(|step| step.cycles)),
            settle_cycles: Quantiles::of(steps.iter().map(|step| step.settle_cycles)),
            lengths: lengths.to_vec(),
            by_step: self.by_step,
            saturated: self.saturated,
            violations: self.violations,
        }
    }
}

impl StepsRow {
    /// True if all checks hold.
    pub fn is_good(&self) -> bool {
        let wrong = [self.bit_exact, self.memory_equal, self.within_bound].contains(&Some(false));
        !wrong && self.saturated.is_empty() && self.violations.is_empty()
    }
}

/// The larger of two, NaN if either is.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b {
        a
    } else {
        b
    }
}

#[cfg(test)]
mod tests {
    use crate::eval::rows::steps::*;

    #[test]
    fn quantiles_are_values_of_steps() {
        let all = Quantiles::of((1..=100).rev());
        assert_eq!(all, Quantiles { min: 1, p50: 50, p95: 95, max: 100, mean: 50.5 });
        assert_eq!(Quantiles::of([7]), Quantiles { min: 7, p50: 7, p95: 7, max: 7, mean: 7.0 });
        assert_eq!(Quantiles::of([]), Quantiles::default());
    }
}
